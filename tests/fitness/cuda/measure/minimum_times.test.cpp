// Floors of a device, against numbers that were worked by hand from datasheets.

#include "fitness/cuda/measure/minimum_times.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace kevo::cuda;

namespace {

/// One H100 SXM: 132 multiprocessors, 1.98 GHz, 3.35 TB/s, 50 MiB of cache.
device_peaks h100() {
  return {rates_of(9, 0), 132, 1.98e9, 3.35e12, 50.0 * 1048576};
}

arithmetic real(double roundoff) {
  return {false, roundoff};
}

}  // namespace

TEST_CASE("rates times multiprocessors times clock are those of datasheets") {
  const auto tera = [](int major, int minor, double multiprocessors, double ghz,
                       double multiprocessor_rates::*of) {
    return 1e-3 * (*rates_of(major, minor)).*of * multiprocessors * ghz;
  };
  CHECK(tera(7, 0, 80, 1.53, &multiprocessor_rates::fp16) == doctest::Approx(125).epsilon(0.01));
  CHECK(tera(8, 0, 108, 1.41, &multiprocessor_rates::tf32) == doctest::Approx(156).epsilon(0.01));
  CHECK(tera(8, 0, 108, 1.41, &multiprocessor_rates::fp64_matrix) == doctest::Approx(19.5).epsilon(0.01));
  CHECK(tera(8, 9, 142, 2.52, &multiprocessor_rates::fp8) == doctest::Approx(733).epsilon(0.01));
  CHECK(tera(9, 0, 132, 1.83, &multiprocessor_rates::fp16) == doctest::Approx(989.4).epsilon(0.01));
  CHECK(tera(9, 0, 132, 1.98, &multiprocessor_rates::fp32) == doctest::Approx(66.9).epsilon(0.01));
  CHECK(tera(10, 0, 148, 1.85, &multiprocessor_rates::fp16) == doctest::Approx(2250).epsilon(0.01));
  CHECK_FALSE(rates_of(13, 0));
}

TEST_CASE("the best honest way to an accuracy: cores, tensor cores, or there in parts") {
  const auto rates = *rates_of(9, 0);
  CHECK(best_rate(rates, real(std::exp2(-4))) == 8192);        // fp8
  CHECK(best_rate(rates, real(std::exp2(-11))) == 4096);       // fp16
  CHECK(best_rate(rates, real(std::exp2(-16))) == 4096. / 3);  // three products of halves
  CHECK(best_rate(rates, real(std::exp2(-22))) == 4096. / 3);
  CHECK(best_rate(rates, real(std::exp2(-24))) == 4096. / 6);  // six of three bf16 parts, above 256 on cores
  CHECK(best_rate(rates, real(std::exp2(-53))) == 256);        // fp64 on tensor cores
  CHECK(best_rate(rates, {true, 1}) == 8192);                  // integers
  // Quantized matrices with scales in float32: the products are of integers.
  CHECK(best_rate(rates, {false, std::exp2(-24), true}) == 8192);
  // A consumer's card has almost no float64: slices of int8 are faster.
  CHECK(best_rate(*rates_of(8, 9), real(std::exp2(-53))) == doctest::Approx(2048. / 36));
  // Without tensor cores for it, cores.
  CHECK(best_rate(*rates_of(7, 5), real(std::exp2(-24))) == doctest::Approx(1024. / 6));
}

TEST_CASE("a tolerance of sums leaves more to products, the more summands there are") {
  // 4 u sqrt(K) with u = 2^-24 and K = 64: 2^-19 of the sum of sizes; products may err by 2^-19 * 8 / 2.9.
  CHECK(roundoff_allowed(4 * std::exp2(-24) * 8, 64) == doctest::Approx(std::exp2(-16) / 2.9));
  // K = 4096: 2^-16 of the sum, products by 2^-10 / 2.9: fp16 and tf32 (2^-11) do not do, halves of them do.
  CHECK(roundoff_allowed(4 * std::exp2(-24) * 64, 4096) < std::exp2(-11));
  CHECK(best_rate(*rates_of(9, 0), real(roundoff_allowed(4 * std::exp2(-24) * 64, 4096))) == 4096. / 3);
  // K = 16384: 2^-8 / 2.9, which they keep.
  CHECK(best_rate(*rates_of(9, 0), real(roundoff_allowed(4 * std::exp2(-24) * 128, 16384))) == 4096);
  CHECK(roundoff_allowed(0.5, 0) == doctest::Approx(0.5 / 2.9));
}

TEST_CASE(
    "the shortest possible time of a product of matrices of 4096 in full float32 accuracy on one H100") {
  const double n = 4096;
  compulsory_work work{2 * n * n * n, real(std::exp2(-22)), 2 * 4 * n * n, 4 * n * n, true};
  const auto least = least_times_of(work, h100());
  // 137.4e9 operations over 1365.3 * 132 * 1.98e9 = 356.8e12 a second: 385.2 us, less a tenth.
  CHECK(least.arithmetic_ns == doctest::Approx(0.9 * 385.2e3).epsilon(0.001));
  // 134.2 MB are read; of 67.1 MB that are written 52.4 stay in the cache: 148.9 MB over 3.35 TB/s: 44.4 us.
  CHECK(least.memory_ns == doctest::Approx(0.9 * 44.45e3).epsilon(0.002));
  // 134.2 MB through ports of 64 * 132 * 1.98e9 = 16.73e12 bytes a second: 8.02 us.
  CHECK(least.cache_ns == doctest::Approx(0.9 * 8.024e3).epsilon(0.002));
  CHECK(least.longest() == least.arithmetic_ns);
  work.needed = real(std::exp2(-24));
  CHECK(least_times_of(work, h100()).arithmetic_ns == doctest::Approx(2 * 0.9 * 385.2e3).epsilon(0.001));
}

TEST_CASE("what is warm and fits the cache is bound by its ports, what is cold by the memory") {
  // 16 MiB are read, 16 KiB are written: sums of rows.
  compulsory_work work{0, real(std::exp2(-24)), 16777216, 16384, false};
  CHECK(least_times_of(work, h100()).memory_ns == 0);
  CHECK(least_times_of(work, h100()).longest() == doctest::Approx(0.9 * 1002.9).epsilon(0.002));
  work.cold = true;
  CHECK(least_times_of(work, h100()).longest() == doctest::Approx(0.9 * 5008.1).epsilon(0.002));
  // Warm and four times the cache: three quarters come from memory.
  work = {0, real(std::exp2(-24)), 4 * 50.0 * 1048576, 0, false};
  CHECK(least_times_of(work, h100()).memory_ns == doctest::Approx(0.9 * 46.95e3).epsilon(0.002));
  // Nothing is known of the device: no shortest time.
  CHECK(least_times_of(work, {}).longest() == 0);
}

TEST_CASE("a figure below the clock's resolution is too short, not impossible") {
  CHECK(judge_time(1000, 900, 0) == plausibility::possible);
  CHECK(judge_time(899, 900, 0) == plausibility::impossible);
  // Three resolutions of 50 ns: 151 ns below the shortest time is beyond what the clock can be wrong by.
  CHECK(judge_time(749, 900, 50) == plausibility::impossible);
  CHECK(judge_time(760, 900, 50) == plausibility::too_short);
  CHECK(judge_time(910, 900, 50) == plausibility::possible);
  // No shortest time is known, and the clock cannot tell it from nothing.
  CHECK(judge_time(20, 0, 50) == plausibility::too_short);
}
