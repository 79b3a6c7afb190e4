#pragma once
// Starting a process in a given containment. `launch` (sandbox.hpp) chooses one by what the machine offers.

#include <string>

#include "fitness/process/process.hpp"

namespace kevo::detail {

/// What holds a process, besides limits and its own session.
struct containment {
  std::string bubblewrap;  ///< absolute path; empty: no namespaces
  bool drop_root = false;  ///< become nobody first
  bool filter = false;     ///< system call filter of the policy
};

/// @param held called, if given, when the process exists in its sandbox but has not run argv[0] yet
child_process launch_in(const containment& how, const launch_spec& spec,
                        void (*held)(pid_t inner, void* context) = nullptr, void* context = nullptr);

}  // namespace kevo::detail
