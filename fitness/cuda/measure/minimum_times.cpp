#include "fitness/cuda/measure/minimum_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kevo::cuda {
namespace {

struct generation {
  int major;
  int minor;
  multiprocessor_rates rates;  // fp64, fp64_matrix, fp32, tf32, fp16, fp8, int8
};

// Each row is checked against a datasheet: rate * multiprocessors * clock. Where products of one generation
// differ, the fastest.
constexpr std::array generations = {
    // V100 whitepaper: 80 multiprocessors, 1.53 GHz: 7.8 fp64, 15.7 fp32, 125 fp16 TFLOPS; int8 by dot
    // products of four on cores.
    generation{7, 0, {64, 0, 128, 0, 1024, 0, 512}},
    // T4 datasheet: 40, 1.59 GHz: 8.1 fp32, 65 fp16, 130 int8 T(FL)OPS.
    generation{7, 5, {4, 0, 128, 0, 1024, 0, 2048}},
    // A100 whitepaper: 108, 1.41 GHz: 9.7 fp64, 19.5 fp64 matrix, 19.5 fp32, 156 tf32, 312 fp16, 624 int8.
    generation{8, 0, {64, 128, 128, 1024, 2048, 0, 4096}},
    // A40 datasheet: 84, 1.74 GHz: 37.4 fp32, 74.8 tf32, 149.7 fp16, 299.3 int8.
    generation{8, 6, {4, 0, 256, 512, 1024, 0, 2048}},
    // L40S datasheet: 142, 2.52 GHz: 91.6 fp32, 183 tf32, 362 fp16, 733 fp8, 733 int8.
    generation{8, 9, {4, 0, 256, 512, 1024, 2048, 2048}},
    // H100 SXM whitepaper: 132, 1.98 GHz on cores, 1.83 GHz on tensor cores: 33.5 fp64, 66.9 fp64
    // matrix, 66.9
    // fp32, 494.7 tf32, 989.4 fp16, 1978.9 fp8, 1978.9 int8.
    generation{9, 0, {128, 256, 256, 2048, 4096, 8192, 8192}},
    // HGX B200 datasheet: 148, 1.85 GHz: 37 fp64, 75 fp32, 1100 tf32, 2250 fp16, 4500 fp8, 4500 int8.
    generation{10, 0, {128, 256, 256, 4096, 8192, 16384, 16384}},
    // B300: the same or less of each.
    generation{10, 3, {128, 256, 256, 4096, 8192, 16384, 16384}},
    // RTX PRO 6000 Blackwell datasheet: 188, 2.6 GHz: 125 fp32; tensor cores as those of 8.9, clock for
    // clock.
    generation{12, 0, {4, 0, 256, 512, 1024, 2048, 2048}},
};

// A port of a multiprocessor takes so much from the second-level cache in a cycle, and gives it as much (CUDA
// C++ best practices and microbenchmarks since compute capability 7: 64 bytes either way).
constexpr double port_bytes_per_cycle = 64;

// Datasheets round, and a clock may be a little above what the driver says.
constexpr double margin = 0.9;

}  // namespace

std::optional<multiprocessor_rates> rates_of(int major, int minor) {
  for (const auto& one : generations) {
    if (one.major == major && one.minor == minor) return one.rates;
  }
  return std::nullopt;
}

double best_rate(const multiprocessor_rates& rates, const arithmetic& needed) {
  if (needed.integers) return std::max({rates.int8, rates.fp32, rates.fp64});
  struct way {
    double rate;
    double roundoff;
    double products;
  };
  const std::array ways = {
      way{rates.fp8, std::exp2(-4), 1},    way{rates.int8, std::exp2(-8), 1},
      way{rates.fp16, std::exp2(-11), 1},  way{rates.tf32, std::exp2(-11), 1},
      way{rates.fp16, std::exp2(-22), 3},  way{rates.tf32, std::exp2(-22), 3},
      way{rates.fp32, std::exp2(-24), 1},  way{rates.fp16, std::exp2(-24), 6},
      way{rates.fp64, std::exp2(-53), 1},  way{rates.fp64_matrix, std::exp2(-53), 1},
      way{rates.int8, std::exp2(-53), 36},
  };
  double best = needed.narrow_integers ? rates.int8 : 0;
  for (const auto& one : ways) {
    if (one.roundoff <= needed.roundoff) best = std::max(best, one.rate / one.products);
  }
  return best;
}

double roundoff_allowed(double allowed, double summands) {
  constexpr double largest_of_many = 2.9;
  return allowed * std::sqrt(std::max(summands, 1.0)) / largest_of_many;
}

double least_times::longest() const {
  return std::max({arithmetic_ns, memory_ns, cache_ns});
}

least_times least_times_of(const compulsory_work& work, const device_peaks& device) {
  least_times least;
  const double cycles_per_s = device.multiprocessors * device.cycles_per_s;
  if (device.rates && cycles_per_s > 0) {
    const double rate = best_rate(*device.rates, work.needed);
    if (rate > 0) least.arithmetic_ns = margin * 1e9 * work.operations / (rate * cycles_per_s);
  }
  // What is written may stay in the cache, and go to memory when the call is over; what is read may lie there
  // unless it was flushed.
  const double written = std::max(work.written_bytes - device.l2_bytes, 0.0);
  const double read = work.cold ? work.read_bytes : std::max(work.read_bytes - device.l2_bytes, 0.0);
  if (device.bytes_per_s > 0) least.memory_ns = margin * 1e9 * (read + written) / device.bytes_per_s;
  if (cycles_per_s > 0)
    least.cache_ns =
        margin * 1e9 * std::max(work.read_bytes, work.written_bytes) / (port_bytes_per_cycle * cycles_per_s);
  return least;
}

plausibility judge_time(double time_ns, double minimum_ns, double resolution_ns) {
  const double uncertain_ns = resolutions_apart * resolution_ns;
  if (time_ns + uncertain_ns < minimum_ns) return plausibility::impossible;
  return time_ns < std::max(minimum_ns, uncertain_ns) ? plausibility::too_short : plausibility::possible;
}

}  // namespace kevo::cuda
