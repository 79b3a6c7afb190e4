#pragma once
// FNV-1a: the hash for short names and tokens, with the same value on every machine. Programs are identified
// by content_id.hpp instead.

#include <cstdint>
#include <string_view>

namespace kevo::detail {

/// The hash of an empty text.
inline constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325ULL;

/// The hash after one more byte; 64-bit FNV-1a (Fowler, Noll & Vo; IETF draft-eastlake-fnv).
constexpr std::uint64_t fnv_step(std::uint64_t hash, unsigned char byte) {
  return (hash ^ byte) * 0x100000001b3ULL;
}

/// The hash of a text. If `hash` is given, it is the hash of a preceding text, and the result is that of both
/// together.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = fnv_offset) {
  for (const char c : text) hash = fnv_step(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace kevo::detail
