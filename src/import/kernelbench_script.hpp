#pragma once
// The text of kernelbench.py, which becomes part of the library when it is built.

#include <string_view>

namespace kevo {

std::string_view kernelbench_script();

}  // namespace kevo
