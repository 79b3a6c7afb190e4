#pragma once
// A Solution of FlashInfer-Bench or SOL-ExecBench as one Python file with the function `run`, which takes the
// inputs of the Definition and returns its outputs. Include in .cpp files only.

#include <string>

#include <boost/json/object.hpp>

namespace kevo::importing {

/// The source of the solution, with lines at its end that give its entry point the name and the way of
/// returning results that kevo expects. Nothing is executed.
/// @throws kevo::error (input) for a solution that is not one file in Python
std::string python_solution(const boost::json::object& definition, const boost::json::object& solution);

}  // namespace kevo::importing
