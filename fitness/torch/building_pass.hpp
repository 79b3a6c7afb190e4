#pragma once
// Extensions and kernels of a program for a GPU are built before the device is asked for
// (kevo_torch_ahead.py).

#include <cstdint>
#include <stop_token>
#include <string>

#include <boost/json/object.hpp>

#include "fitness/process/process.hpp"
#include "fitness/torch/python_server.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo::torch {

/// How the process of the pass is bound.
struct building_pass {
  boost::json::object facts;  ///< of the device that is pretended, under PyTorch's names
  sandbox_mode sandbox = sandbox_mode::required;
  std::uint64_t memory_bytes = 0;  ///< that it may take; 0: any
  double limit_s = 120;            ///< [s] of the whole pass
  std::stop_token stop;
};

/// Executes a candidate in a process without a device, so that the process of compilers builds what it asks
/// for, and remembers it. @param server made for a device, with none that it may use @param compiler a socket
/// to the process that compiles @param job as for a candidate, with "words", the words of calls on visible
/// workloads, and "triton", whether it has such kernels
/// @return why the program cannot be built; empty where that is not known: it is built again, or for the
/// first time, when it is loaded on the device. What it says is the word of the program's own process.
/// @throws kevo::error (environment, interrupted)
std::string build_ahead(python_server& server, detail::descriptor compiler, boost::json::object job,
                        const building_pass& pass);

}  // namespace kevo::torch
