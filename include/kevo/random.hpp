#pragma once
// Splittable, counter-based random numbers (Philox4x32-10: Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011) and kevo's own distributions. The distributions of std:: differ between standard
// libraries, but a replay must draw the same numbers.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <kevo/detail/fnv.hpp>

namespace kevo {

/// A stream of random numbers: a value type of 40 bytes, cheap to copy. Equal states give equal numbers on
/// every machine (see `normal` for an exception). Not thread-safe.
class rng {
 public:
  using result_type = std::uint64_t;

  /// A stream whose numbers are determined by `seed`.
  explicit constexpr rng(std::uint64_t seed = 0) : key_(mix(seed ^ 0x6b65766f72616e64ULL)) {}

  /// Returns an independent stream with the number `stream`. This stream does not advance. The result depends
  /// on the key of this stream and on `stream` only, not on the numbers drawn so far.
  [[nodiscard]] constexpr rng split(std::uint64_t stream) const {
    rng child;
    child.key_ = mix(key_ ^ mix(stream + 0x9e3779b97f4a7c15ULL));
    return child;
  }

  /// Returns an independent stream for a name, e.g. `root.split("tune")`.
  [[nodiscard]] constexpr rng split(std::string_view name) const { return split(detail::fnv1a(name)); }

  /// The next 64 uniformly distributed bits.
  constexpr std::uint64_t operator()() {
    if (have_ == 0) {
      block_ = philox(counter_++, key_);
      have_ = 2;
    }
    return block_[--have_];
  }
  /// The bounds of operator(), as the concept std::uniform_random_bit_generator requires them.
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

  /// Uniform in [0, 1), with 53 random bits.
  constexpr double uniform() { return static_cast<double>((*this)() >> 11U) * 0x1.0p-53; }
  /// Uniform in [low, high).
  constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Uniform in [0, n), without bias (Lemire 2019); 0 if n is 0.
  constexpr std::uint64_t below(std::uint64_t n) {
    if (n == 0) return 0;
    unsigned __int128 product = static_cast<unsigned __int128>((*this)()) * n;
    if (static_cast<std::uint64_t>(product) < n) {
      const std::uint64_t threshold = (0 - n) % n;
      while (static_cast<std::uint64_t>(product) < threshold)
        product = static_cast<unsigned __int128>((*this)()) * n;
    }
    return static_cast<std::uint64_t>(product >> 64U);
  }

  /// Uniform in [low, high], both ends included.
  constexpr std::int64_t integer(std::int64_t low, std::int64_t high) {
    const auto width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    const std::uint64_t offset = width == 0 ? (*this)() : below(width);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }

  /// True with probability `p`.
  constexpr bool chance(double p) { return uniform() < p; }

  /// Standard normal (Box-Muller, only one number of the pair is used). Uses log and cos of the math library,
  /// whose last bits may differ between libraries.
  double normal() {
    const double u = 1.0 - uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * uniform());
  }

  /// Draws an index with probability proportional to its weight. Negative weights count as 0. Returns
  /// `weights.size()` if no weight is positive.
  std::size_t weighted(std::span<const double> weights) {
    double total = 0;
    for (const double w : weights) total += w > 0 ? w : 0;
    if (!(total > 0)) return weights.size();
    double rest = uniform() * total;
    std::size_t last = weights.size();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!(weights[i] > 0)) continue;
      last = i;
      rest -= weights[i];
      if (rest < 0) return i;
    }
    return last;
  }

  /// Shuffles in place; all orders have the same probability (Fisher-Yates).
  template <class T>
  constexpr void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  friend bool operator==(const rng&, const rng&) = default;

 private:
  static constexpr std::uint64_t mix(std::uint64_t x) {  // the finalizer of SplitMix64
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
  }

  static constexpr std::array<std::uint64_t, 2> philox(std::uint64_t counter, std::uint64_t key) {
    std::array<std::uint32_t, 4> x = {static_cast<std::uint32_t>(counter),
                                      static_cast<std::uint32_t>(counter >> 32U), 0, 0};
    auto k0 = static_cast<std::uint32_t>(key);
    auto k1 = static_cast<std::uint32_t>(key >> 32U);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53} * x[0];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * x[2];
      x = {static_cast<std::uint32_t>(p1 >> 32U) ^ x[1] ^ k0, static_cast<std::uint32_t>(p1),
           static_cast<std::uint32_t>(p0 >> 32U) ^ x[3] ^ k1, static_cast<std::uint32_t>(p0)};
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    return {x[0] | (std::uint64_t{x[1]} << 32U), x[2] | (std::uint64_t{x[3]} << 32U)};
  }

  std::uint64_t key_;
  std::uint64_t counter_ = 0;
  std::array<std::uint64_t, 2> block_{};
  unsigned have_ = 0;
};

}  // namespace kevo
