#pragma once
// Shapes of tensors in the words of C++: what generated source text needs to count elements.

#include <functional>
#include <string>
#include <string_view>

#include <kevo/task.hpp>

namespace kevo {

/// How generated text calls an axis.
using axis_word = std::function<std::string(std::string_view axis)>;

/// The number of elements of a tensor: a C++ expression of 64-bit integers, in parentheses where it has
/// operators. The text needs `extent_functions` before it.
/// @param word the text of an axis, a name or a number
std::string element_count_text(const tensor& x, const axis_word& word);

/// Definitions of the integers that shapes compute with (kevo's division rounds down) and of the functions
/// that shapes may call (ceildiv, min, ...), in a namespace of their own; empty for a task all of whose
/// extents are axes.
std::string extent_functions(const task& t);

}  // namespace kevo
