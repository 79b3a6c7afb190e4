#pragma once
// The command line of bubblewrap.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fitness/process/process.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo::detail {

/// What only the launcher knows. Numbers of descriptors are those inside bubblewrap.
struct bubblewrap_plan {
  std::string program;
  int status_fd = -1;
  int block_fd = -1;
  int filter_fd = -1;
};

/// bubblewrap's whole argv for a process.
/// @param dropped bubblewrap runs as nobody: files that others may not read are handed over as copies
/// @param hand_over takes an open file and gives the number that it will have inside bubblewrap
/// @throws kevo::error (environment) if a mount does not exist or cannot be reached
std::vector<std::string> bubblewrap_arguments(const bubblewrap_plan& plan, const launch_spec& spec,
                                              bool dropped, const std::function<int(descriptor)>& hand_over);

/// Absolute path of bubblewrap; empty if there is none.
std::string find_bubblewrap();

}  // namespace kevo::detail
