#pragma once
// Expressions, names and texts in Python, for the module of a Triton bundle.

#include <functional>
#include <string>
#include <string_view>

#include <kevo/expression.hpp>

#include "fitness/cuda/launch/real_expression.hpp"

namespace kevo::bundle {

/// What a name of an expression is called in Python.
using python_name = std::function<std::string(std::string_view name)>;

/// An integer expression: `K % BK == 0 && M > 4` becomes `_kevo_int(...)` of Python's operators, with the
/// same value, except that Python's integers do not overflow. The text needs the functions of
/// files/triton_launch.py.in. O(length of the text).
std::string python_text(const expression& e, const python_name& name);

/// An expression of real numbers.
std::string python_text(const cuda::real_expression& e, const python_name& name);

/// A name as Python takes it: keywords get an underscore at their end.
std::string python_identifier(const std::string& name);

/// A text as a literal of Python.
std::string python_literal(std::string_view text);

/// The type of PyTorch for elements of a dtype: "float32"; empty if it has none.
std::string torch_type(std::string_view dtype);

}  // namespace kevo::bundle
