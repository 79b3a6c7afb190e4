#pragma once
// 128-bit content ids: SHA-256 (FIPS 180-4) truncated to its first 128 bits. The hash must be cryptographic
// because candidates choose their own text: if collisions could be constructed, a candidate could get the
// cached result of another one.

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kevo {

/// A 128-bit id; prints as 32 lower-case hex digits.
struct content_id {
  std::uint64_t high = 0;  ///< first 64 bits
  std::uint64_t low = 0;   ///< last 64 bits
  // NOLINTNEXTLINE(modernize-use-nullptr): what the compiler writes here has a zero, no pointer
  friend auto operator<=>(const content_id&, const content_id&) = default;
};

/// Incremental hash. `bytes` hashes only the given bytes; `text` also hashes the length before them, and
/// `number` hashes 8 bytes, so that the boundaries between fields count.
class content_hasher {
 public:
  /// Adds the bytes of `data`. O(size of the data). Returns this hasher, as the other functions do.
  content_hasher& bytes(std::string_view data) {
    for (const char c : data) {
      block_[fill_++] = static_cast<std::uint8_t>(c);
      if (fill_ == block_.size()) compress();
    }
    length_ += data.size();
    return *this;
  }

  /// Adds the 8 bytes of `value`, lowest byte first.
  content_hasher& number(std::uint64_t value) {
    std::array<char, 8> raw{};
    for (unsigned i = 0; i < 8; ++i) raw[i] = static_cast<char>(value >> (8U * i));
    return bytes({raw.data(), raw.size()});
  }

  /// Adds the length of `value`, then its bytes.
  content_hasher& text(std::string_view value) { return number(value.size()).bytes(value); }

  /// The id of all data that was given so far. The hasher must not be used afterwards.
  content_id finish() {
    const std::uint64_t bits = length_ * 8;
    bytes("\x80");
    while (fill_ != 56) bytes(std::string_view("\0", 1));
    for (unsigned i = 0; i < 8; ++i) {
      const char byte = static_cast<char>(bits >> (56U - 8U * i));
      bytes({&byte, 1});
    }
    const auto pair = [this](unsigned i) { return (std::uint64_t{state_[i]} << 32U) | state_[i + 1]; };
    return {pair(0), pair(2)};
  }

 private:
  static constexpr std::uint32_t rotate(std::uint32_t x, unsigned n) { return (x >> n) | (x << (32U - n)); }

  void compress() {
    static constexpr std::array<std::uint32_t, 64> constants = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i) {
      w[i] = (std::uint32_t{block_[4 * i]} << 24U) | (std::uint32_t{block_[4 * i + 1]} << 16U) |
             (std::uint32_t{block_[4 * i + 2]} << 8U) | std::uint32_t{block_[4 * i + 3]};
    }
    for (unsigned i = 16; i < 64; ++i) {
      const std::uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3U);
      const std::uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10U);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (unsigned i = 0; i < 64; ++i) {
      const std::uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i];
      const std::uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> sum = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < 8; ++i) state_[i] += sum[i];
    fill_ = 0;
  }

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::size_t fill_ = 0;
  std::uint64_t length_ = 0;
};

/// The id as 32 lower-case hex digits.
inline std::string to_string(const content_id& id) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text(32, '0');
  for (unsigned i = 0; i < 16; ++i) {
    text[15 - i] = digits[(id.high >> (4U * i)) & 15U];
    text[31 - i] = digits[(id.low >> (4U * i)) & 15U];
  }
  return text;
}

/// The inverse of `to_string`; nothing if `text` is not 32 lower-case hex digits.
inline std::optional<content_id> parse_content_id(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  content_id id;
  for (std::size_t i = 0; i < 32; ++i) {
    const char c = text[i];
    std::uint64_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = 10 + static_cast<std::uint64_t>(c - 'a');
    } else {
      return std::nullopt;
    }
    auto& half = i < 16 ? id.high : id.low;
    half = (half << 4U) | digit;
  }
  return id;
}

}  // namespace kevo

/// @cond
template <>
struct std::hash<kevo::content_id> {
  std::size_t operator()(const kevo::content_id& id) const noexcept {
    return static_cast<std::size_t>(id.high ^ (id.low * 0x9e3779b97f4a7c15ULL));
  }
};
/// @endcond
