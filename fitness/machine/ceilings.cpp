#include "fitness/machine/ceilings.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/exact_parse.hpp"

namespace kevo {
namespace {

using clock = std::chrono::steady_clock;

double seconds_of(auto&& work) {
  const auto start = clock::now();
  work();
  return std::chrono::duration<double>(clock::now() - start).count();
}

#if defined(__x86_64__)
// Ten independent chains hide the latency of the multiply-add. The loops are written as instructions, so that
// they are the same in a build without optimization, and so that no function needs a target attribute, which
// compilers refuse to inline. Both functions return the number of operations.
#define KEVO_PEAK_LOOP(r, lanes)                                                                       \
  long left = rounds;                                                                                  \
  asm volatile(                                                                                        \
      "vzeroall\n"                                                                                     \
      "1:\n"                                                                                           \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "1\n"                                                                                            \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "2\n"                                                                                            \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "3\n"                                                                                            \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "4\n"                                                                                            \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "5\n"                                                                                            \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "6\n"                                                                                            \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "7\n"                                                                                            \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "8\n"                                                                                            \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "9\n"                                                                                            \
      "vfmadd231ps %%" r "0, %%" r "0, %%" r                                                           \
      "10\n"                                                                                           \
      "subq $1, %0\n"                                                                                  \
      "jnz 1b\n"                                                                                       \
      "vzeroupper\n"                                                                                   \
      : "+r"(left)                                                                                     \
      :                                                                                                \
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                                                  \
  return static_cast<double>(rounds) * 10 * 2 * (lanes)

double peak_avx512(long rounds) {
  KEVO_PEAK_LOOP("zmm", 16);
}
double peak_avx2(long rounds) {
  KEVO_PEAK_LOOP("ymm", 8);
}
#undef KEVO_PEAK_LOOP
#endif

double peak_generic(long rounds) {
  float sums[16] = {};
  for (long n = 0; n < rounds; ++n) {
    for (float& s : sums) s = s * 0.5F + 1.0F;
    asm volatile("" : : "r"(sums) : "memory");
  }
  return static_cast<double>(rounds) * 16 * 2;
}

double peak(long rounds) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return peak_avx512(rounds);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return peak_avx2(rounds);
#endif
  return peak_generic(rounds);
}

double copy_bandwidth(std::size_t bytes, std::byte* from, std::byte* to) {
  const std::size_t half = bytes / 2;
  const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{8} << 20U) / half);
  double best = 0;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const double seconds = seconds_of([&] {
      for (std::size_t i = 0; i < repeats; ++i) {
        std::memcpy(to, from, half);
        asm volatile("" : : "r"(to), "r"(from) : "memory");
      }
    });
    best = std::max(best, 2 * static_cast<double>(half * repeats) / seconds);
  }
  return best;
}

}  // namespace

double ceilings::bandwidth_at(double bytes) const {
  for (const auto& point : bandwidths) {
    if (static_cast<double>(point.bytes) >= bytes) return point.bytes_per_s;
  }
  return memory_bandwidth();
}

double ceilings::fastest_bandwidth() const {
  double best = 0;
  for (const auto& point : bandwidths) best = std::max(best, point.bytes_per_s);
  return best;
}

std::string ceilings::text() const {
  std::string text = fmt::format("{:.3g} GFLOP/s in float32; copies:", 1e-9 * float32_flops_per_s);
  for (const auto& point : bandwidths) {
    const double kib = static_cast<double>(point.bytes) / 1024;
    text += fmt::format("{} {:.3g} GB/s in {:g} {}", &point == bandwidths.data() ? "" : ",",
                        1e-9 * point.bytes_per_s, kib < 1024 ? kib : kib / 1024, kib < 1024 ? "KiB" : "MiB");
  }
  return text;
}

ceilings measure_ceilings() {
  ceilings result;
  static_cast<void>(peak(100000));
  for (int attempt = 0; attempt < 6; ++attempt) {
    double operations = 0;
    const double seconds = seconds_of([&] { operations = peak(1000000); });
    result.float32_flops_per_s = std::max(result.float32_flops_per_s, operations / seconds);
  }
  const std::size_t largest = std::size_t{64} << 20U;
  const auto memory = std::make_unique<std::byte[]>(largest + 4096);
  std::memset(memory.get(), 1, largest + 4096);
  for (const std::size_t size :
       {std::size_t{24} << 10U, std::size_t{512} << 10U, std::size_t{4} << 20U, largest}) {
    result.bandwidths.push_back({size, copy_bandwidth(size, memory.get(), memory.get() + size / 2)});
  }
  return result;
}

ceilings ceilings_of(const std::string& device, const std::string& folder) {
  namespace json = boost::json;
  const std::string path = folder + "/ceilings.json";
  if (!folder.empty()) {
    try {
      std::ifstream file(path);
      std::stringstream text;
      text << file.rdbuf();
      const auto document = parse_json_exactly(text.str());
      const auto& o = document.as_object();
      if (o.at("device").as_string() == device && o.at("version").to_number<int>() == 1) {
        ceilings kept;
        kept.float32_flops_per_s = o.at("float32_flops_per_s").to_number<double>();
        for (const auto& point : o.at("bandwidths").as_array()) {
          kept.bandwidths.push_back({point.at(0).to_number<std::size_t>(), point.at(1).to_number<double>()});
        }
        if (kept.known()) return kept;
      }
    } catch (const std::exception&) {  // no such file, or one that is not ours: measure
    }
  }
  auto measured = measure_ceilings();
  if (!folder.empty()) {
    json::array points;
    for (const auto& point : measured.bandwidths)
      points.push_back(json::array{point.bytes, point.bytes_per_s});
    const json::object o{{"version", 1},
                         {"device", device},
                         {"float32_flops_per_s", measured.float32_flops_per_s},
                         {"bandwidths", points}};
    std::ofstream(path) << json::serialize(o) << '\n';
  }
  return measured;
}

}  // namespace kevo
