#pragma once
// One question about a program in Python, answered in a process of its own.

#include <string>
#include <string_view>

#include <boost/json.hpp>

#include <kevo/program.hpp>

#include "fitness/torch/python_server.hpp"

namespace kevo::torch {

/// Executes `source` and then `script`, kevo's own text, which defines `describe(torch, module, seconds)`;
/// gives what that returns, as JSON text. The process is locked down as a candidate's is.
/// @param seconds that `describe` should take of a processor at most; it looks at the clock itself. The
/// process is ended after 20 times as many and two minutes, because other work may have the processors
/// @param init as reference_source::init: its `pretrained` is what the program may ask of transformers
/// @throws kevo::error: input (the program raised an exception, or took too long), environment
std::string ask_python(python_server& server, const program& source, std::string_view script, double seconds,
                       const boost::json::object& init = {});

}  // namespace kevo::torch
