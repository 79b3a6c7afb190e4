#include "fitness/machine/memory_watch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include <kevo/evaluate/statistics.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kevo {
namespace {

constexpr std::size_t probe_bytes = std::size_t{1} << 20U;
constexpr std::size_t cache_line = 64;
constexpr std::size_t kept = 256;   // readings
constexpr std::size_t enough = 8;   // readings, to know what is usual
constexpr double slow_share = 0.7;  // of the usual
constexpr int most_tries = 6;
constexpr auto between_tries = std::chrono::milliseconds(2);
constexpr double worth_telling = 0.1;  // of the waits

}  // namespace

std::optional<double> read_bandwidth(const std::byte* memory, std::size_t bytes) {
#if defined(__x86_64__)
  double best = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    _mm_mfence();
    for (std::size_t i = 0; i < bytes; i += cache_line) _mm_clflush(memory + i);
    _mm_mfence();
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + cache_line <= bytes; i += cache_line) {
      std::uint64_t word = 0;
      std::memcpy(&word, memory + i, sizeof word);
      sum += word;
    }
    asm volatile("" : : "r"(sum) : "memory");
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(bytes) / std::max(passed.count(), 1e-9));
  }
  return best;
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
  return std::nullopt;
#endif
}

double memory_watch::usual() const {
  return readings_.size() < enough ? 0 : quantile(readings_, 0.75);
}

bool memory_watch::note(double bytes_per_s) {
  if (readings_.size() == kept) readings_.erase(readings_.begin());
  readings_.push_back(bytes_per_s);
  return bytes_per_s >= slow_share * usual();
}

bool memory_watch::look() {
  if (!memory_) {
    memory_ = std::make_unique<std::byte[]>(probe_bytes);  // filled with zeros: its pages are there
  }
  const auto reading = read_bandwidth(memory_.get(), probe_bytes);
  return !reading || note(*reading);
}

void memory_watch::await_quiet() {
  ++awaited_;
  for (int tries = 0; tries < most_tries; ++tries) {
    if (look()) return;
    std::this_thread::sleep_for(between_tries);
  }
  ++given_up_;
  slowest_ = std::min(slowest_, readings_.back() / usual());
}

std::string memory_watch::disturbance() const {
  if (given_up_ == 0 || given_up_ < worth_telling * awaited_) return "";
  return fmt::format(
      "other programs used the memory: it was read at {:.0f} % of the usual {:.1f} GB/s, before {} of {} "
      "pairs",
      100 * slowest_, usual() / 1e9, given_up_, awaited_);
}

}  // namespace kevo
