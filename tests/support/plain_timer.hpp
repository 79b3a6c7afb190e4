#pragma once
// A plain timer as a witness: how much the time of a piece of work varies on this machine where nothing of
// kevo's takes part. Processors that a machine shares with others, as virtual ones do, can take twice as long
// for a while without telling the guest.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace kevo_test {

/// Times a piece of work in this process, at changing places and on inputs that were just written, as a
/// candidate finds them.
class plain_timer {
 public:
  using work = void (*)(const float* x, float* y, std::int64_t n);

  plain_timer(work measured, std::int64_t n)
      : measured_(measured), n_(static_cast<std::size_t>(n)), x_(8 * n_ + 1024), y_(x_.size()) {}

  /// Takes readings for so many seconds. A reading is the median of eight calls.
  void read_for(double seconds) {
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    do {
      std::vector<double> calls;
      for (int i = 0; i < 8; ++i) calls.push_back(one_call());
      std::nth_element(calls.begin(), calls.begin() + 4, calls.end());
      readings_.push_back(calls[4]);
    } while (clock::now() < end);
  }

  /// The 95th percentile of the readings divided by the 5th: 1 on a machine that is perfectly steady.
  double spread() const {
    std::vector<double> sorted = readings_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t cut = sorted.size() / 20;
    return sorted.empty() ? 1 : sorted[sorted.size() - 1 - cut] / sorted[cut];
  }

 private:
  using clock = std::chrono::steady_clock;

  double one_call() {
    std::uniform_int_distribution<std::size_t> place(0, (x_.size() - n_) / 16);
    float* const x = x_.data() + 16 * place(random_);
    float* const y = y_.data() + 16 * place(random_);
    for (std::size_t i = 0; i < n_; ++i) x[i] = static_cast<float>(random_() & 255U);
    const auto begin = clock::now();
    measured_(x, y, static_cast<std::int64_t>(n_));
    return std::chrono::duration<double>(clock::now() - begin).count();
  }

  work measured_;
  std::size_t n_;
  std::vector<float> x_, y_;
  std::mt19937 random_{1};
  std::vector<double> readings_;
};

}  // namespace kevo_test
