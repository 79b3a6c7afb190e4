#pragma once
// Counts with their noun, in the plural unless the count is 1.

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/text/format.hpp"

namespace kevo::format {

/// The noun of a count: "confirmation" of 1, else "confirmations". @param one a noun whose plural ends in s
inline std::string noun(std::uint64_t count, std::string_view one) {
  return std::string(one) + (count == 1 ? "" : "s");
}

/// "1 confirmation", "12,345 confirmations".
inline std::string counted(std::uint64_t n, std::string_view one) {
  return count(n) + ' ' + noun(n, one);
}

}  // namespace kevo::format
