#pragma once
// The texts of kernelbench.py and of suite_calls.py with its other parts, which become part of the library
// when it is built.

#include <string_view>

namespace kevo {

std::string_view kernelbench_script();
std::string_view suite_script();

}  // namespace kevo
