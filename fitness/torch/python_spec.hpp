#pragma once
// How a process of Python is started in the sandbox.

#include <string>
#include <string_view>
#include <vector>

#include "fitness/build/python_packages.hpp"
#include "fitness/process/process.hpp"

namespace kevo::torch {

/// Where the driver's libraries are seen inside.
inline constexpr const char* inside_libraries = "/kevo/lib/";

/// A Python that executes `script` with these arguments, sees its packages and what compilers need, and has
/// `socket` as descriptor 3. It may fork and start programs, and has no device and no network.
launch_spec python_spec(const python_tools& tools, sandbox_mode sandbox, std::string_view script,
                        const std::vector<std::string>& arguments, int socket);

/// Mounts libraries of a driver by their names. @return the folders in which they are found inside
std::string mount_libraries(launch_spec& spec, const std::vector<std::string>& libraries);

}  // namespace kevo::torch
