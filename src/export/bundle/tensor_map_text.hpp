#pragma once
// A tensor map of launch lines as C++.

#include <string>

#include "fitness/cuda/launch/launch_lines.hpp"

namespace kevo::bundle {

/// A call of tensor_map() of launch_runtime.hpp. @param dtype of the elements of its buffer
std::string tensor_map_text(const cuda::tensor_map_line& map, const std::string& dtype);

}  // namespace kevo::bundle
