// The bandwidth and arithmetic throughput that a device reaches with kevo's own kernels.

#include <algorithm>
#include <cstdint>

#include "fitness/cuda/device/engine.hpp"

namespace kevo::cuda {

device_ceilings engine::calibrate() {
  device_ceilings found;
  const auto facts = gpu_.facts();
  const std::uint64_t bytes =
      std::min<std::uint64_t>(std::max<std::uint64_t>(2ULL << 30U, 16 * facts.l2_bytes),
                              facts.free_bytes / 4) /
      4096 * 4096;
  private_memory from(gpu_.api(), bytes);
  private_memory to(gpu_.api(), bytes);
  const auto begin = gpu_.new_event();
  const auto end = gpu_.new_event();
  gpu_.over("kevo_flush_write", bytes / 16, from.at(), bytes / 16, 12345U);
  const auto best = [&](auto&& work) {
    double least = 1e300;
    for (int i = 0; i < 12; ++i) {
      gpu_.api().event_record(begin, gpu_.main());
      work();
      gpu_.api().event_record(end, gpu_.main());
      least = std::min(least, gpu_.elapsed_ns(begin, end));
    }
    return least;
  };
  const auto items = bytes / 16;
  const double own = best([&] { gpu_.over("kevo_copy", items, to.at(), from.at(), items); });
  const double engine_copy = best([&] { gpu_.copy_on(to.at(), from.at(), bytes); });
  found.copy_bytes_per_s = 2e9 * static_cast<double>(bytes) / std::min(own, engine_copy);
  found.read_bytes_per_s = 1e9 * static_cast<double>(bytes) /
                           best([&] { gpu_.over("kevo_flush_read", items, from.at(), items, found_.at()); });
  const int rounds = 20000;
  const std::uint64_t threads = std::uint64_t{16} * 256 * static_cast<std::uint64_t>(facts.multiprocessors);
  const double ns = best([&] { gpu_.over("kevo_multiply_add", threads, to.at(), 0.999F, 0.001F, rounds); });
  found.float32_flops_per_s = 1e9 * 2.0 * 16 * rounds * static_cast<double>(threads) / ns;
  found.launch_overhead_ns = best([&] { gpu_.over("kevo_clock", 1, found_.at(), std::uint64_t{0}); });
  return found;
}

}  // namespace kevo::cuda
