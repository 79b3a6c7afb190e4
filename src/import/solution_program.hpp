#pragma once
// A Solution of FlashInfer-Bench or SOL-ExecBench as a program in Python with the function `run`, which takes
// the inputs of the Definition and returns its outputs. Include in .cpp files only.

#include <vector>

#include <boost/json/object.hpp>

#include <kevo/program.hpp>

namespace kevo::importing {

/// The files of the program, the main file first. A Solution of one file in Python is one file, with lines at
/// its end that give the entry point the name and the way of returning results that kevo expects. Other
/// Solutions get a main file that imports the sources, or builds them as an extension (binding torch or
/// tvm-ffi), and calls the entry point; their sources are unchanged, in the folder `sources`. Nothing is
/// executed.
/// @throws kevo::error (input) for a Solution in a language, or with a library, that kevo does not support
std::vector<source_file> solution_program(const boost::json::object& definition,
                                          const boost::json::object& solution);

}  // namespace kevo::importing
