#pragma once
// Expressions of launch lines as C++, in the words of launch_runtime.hpp, which every bundle contains.

#include <string>
#include <string_view>

#include <kevo/expression.hpp>

#include "fitness/cuda/launch/real_expression.hpp"

namespace kevo::bundle {

/// The variable that holds the value of a name: "v_M", "v_device_sms"; "occupancy_f()" for occupancy(f).
std::string variable(std::string_view name);

/// An integer expression: `(M + 1) / 2` becomes `(v_M + whole(1)) / whole(2)`. Every number is a `whole`, so
/// that division and overflow are those of kevo. O(length of the text).
std::string integer_text(const expression& e);

/// An expression of real numbers: `rsqrt(D)` becomes `reciprocal_root(real(v_D))`.
std::string real_text(const cuda::real_expression& e);

}  // namespace kevo::bundle
