#include "fitness/cuda/launch/device_facts.hpp"

#include <algorithm>
#include <array>

namespace kevo::cuda {
namespace {

struct architecture_limits {
  std::string_view name;  // without a suffix letter
  std::int64_t sms;
  std::uint32_t threads_per_sm, blocks_per_sm, shared_per_sm, cluster_blocks;
};

// CUDA C++ programming guide, technical specifications by compute capability.
constexpr std::array<architecture_limits, 10> limits = {{
    {"sm_70", 80, 2048, 32, 98304, 1},
    {"sm_75", 72, 1024, 16, 65536, 1},
    {"sm_80", 108, 2048, 32, 167936, 1},
    {"sm_86", 84, 1536, 16, 102400, 1},
    {"sm_87", 16, 1536, 16, 167936, 1},
    {"sm_89", 128, 1536, 24, 102400, 1},
    {"sm_90", 132, 2048, 32, 233472, 16},
    {"sm_100", 148, 2048, 32, 233472, 16},
    {"sm_103", 160, 2048, 32, 233472, 16},
    {"sm_120", 188, 1536, 24, 102400, 8},
}};

std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::optional<device_facts> known_device(std::string_view architecture) {
  std::string_view plain = architecture;
  if (plain.ends_with('a') || plain.ends_with('f')) plain.remove_suffix(1);
  const auto* found =
      std::find_if(limits.begin(), limits.end(), [&](const auto& entry) { return entry.name == plain; });
  if (found == limits.end()) return std::nullopt;
  device_facts facts;
  facts.architecture = architecture;
  facts.sms = found->sms;
  facts.threads_per_sm = found->threads_per_sm;
  facts.blocks_per_sm = found->blocks_per_sm;
  facts.shared_per_sm = found->shared_per_sm;
  facts.cluster_blocks = found->cluster_blocks;
  // Until Ampere nothing is reserved.
  const bool reserves = plain != "sm_70" && plain != "sm_75";
  facts.reserved_shared_per_block = reserves ? 1024 : 0;
  facts.shared_per_block = found->shared_per_sm - facts.reserved_shared_per_block;
  return facts;
}

std::int64_t estimated_occupancy(const device_facts& facts, const compiled_kernel& kernel,
                                 std::uint32_t threads, std::uint32_t dynamic_shared_bytes) {
  if (threads == 0 || threads > facts.threads_per_block) return 0;
  if (kernel.max_threads > 0 && threads > kernel.max_threads) return 0;
  const std::uint64_t shared = std::uint64_t{kernel.static_shared_bytes} + dynamic_shared_bytes;
  if (shared > facts.shared_per_block) return 0;
  const std::uint32_t warps = (threads + 31) / 32;
  std::uint32_t blocks = std::min(facts.blocks_per_sm, facts.threads_per_sm / (warps * 32));
  if (kernel.registers > 0) {
    const std::uint32_t per_warp = round_up(kernel.registers * 32, 256);
    const std::uint32_t warp_slots = facts.registers_per_sm / 4 / per_warp * 4;  // four partitions
    blocks = std::min(blocks, warp_slots / warps);
  }
  const std::uint32_t held =
      round_up(static_cast<std::uint32_t>(shared) + facts.reserved_shared_per_block, 128);
  if (held > 0) blocks = std::min(blocks, facts.shared_per_sm / held);
  return blocks;
}

std::int64_t blocks_per_sm(const device_facts& facts, const compiled_kernel& kernel, std::uint32_t threads,
                           std::uint32_t dynamic_shared_bytes) {
  if (facts.occupancy) {
    if (const auto answer = facts.occupancy(kernel, threads, dynamic_shared_bytes)) return *answer;
  }
  return estimated_occupancy(facts, kernel, threads, dynamic_shared_bytes);
}

}  // namespace kevo::cuda
