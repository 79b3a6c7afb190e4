#pragma once
// Exceptions on their way between C++ and Python. The callers have the interpreter's lock.

#include <optional>
#include <pybind11/pybind11.h>
#include <string>

#include <kevo/error.hpp>

namespace kevo::python {

/// Sets the Python error that stands for `wrong`: an instance of kevo.Error.
void raise_in_python(const error& wrong);

/// The error that became the Python exception, if it is a kevo.Error.
std::optional<error> kevo_error_in(const pybind11::error_already_set& raised);

/// "ValueError: text", as the last line of a traceback.
std::string line_of(const pybind11::error_already_set& raised);

/// The whole traceback, as the interpreter prints it.
std::string traceback_of(const pybind11::error_already_set& raised);

}  // namespace kevo::python
