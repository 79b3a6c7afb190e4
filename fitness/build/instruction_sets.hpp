#pragma once
// Which vector instructions the flags of a compiler allow.

#include <string>
#include <string_view>

namespace kevo {

/// Names of the vector extensions in a compiler's list of predefined macros (-dM -E), the most telling ones:
/// "AVX2, FMA, AVX-512F, AVX-512BW". What a newer extension implies is left out. Empty if there is none.
std::string instruction_sets_in(std::string_view macros);

}  // namespace kevo
