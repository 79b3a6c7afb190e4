#pragma once
// Solutions that write into outputs which they are given. Include in .cpp files only.

#include <string>

#include <boost/json/object.hpp>

namespace kevo::importing {

/// Python lines that define `run`: it takes the inputs of the Definition, makes its outputs without contents,
/// calls `_kevo_solution` with both, and returns the outputs.
/// @throws kevo::error (input) for outputs whose extents are not those of an input
std::string destination_wrapper(const boost::json::object& definition);

/// The text, if Python takes it for a name. @throws kevo::error (input)
std::string python_name(std::string_view name);

}  // namespace kevo::importing
