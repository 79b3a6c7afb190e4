#pragma once
// Launch lines as a C++ function: it computes grids and arguments for any size and launches the machine code
// that is part of the bundle, through the CUDA driver API.

#include <string>

#include <kevo/task.hpp>

#include "fitness/cuda/launch/device_facts.hpp"
#include "fitness/cuda/launch/launch_lines.hpp"
#include "fitness/cuda/launch/launch_signature.hpp"
#include "fitness/cuda/wire/module.hpp"

namespace kevo::bundle {

/// What a launcher is made of. Borrows all of it.
struct launcher_parts {
  std::string name;                                   ///< namespace and file name; a C++ identifier
  std::string about;                                  ///< one line for the header
  const task* what = nullptr;                         ///< its axes and the shapes of its tensors
  const cuda::launch_signature* signature = nullptr;  ///< of any workload
  const cuda::declared_launch* lines = nullptr;
  const cuda::compiled_module* code = nullptr;
  const cuda::device_facts* facts = nullptr;
};

/// The files of a launcher.
struct launcher_text {
  std::string header;  ///< NAME.hpp: struct arguments, workspace_bytes(), launch()
  std::string source;  ///< NAME.cpp
  std::string image;   ///< NAME_image.inc: the machine code as numbers
};

/// Writes a launcher.
/// @throws kevo::error (input), naming the line, for what a launcher cannot do yet: Triton's kernels, `pdl`,
/// template arguments that use the index of a loop, numbers of 16 bits as arguments
launcher_text cuda_launcher(const launcher_parts& parts);

/// The C++ type of an element: "float", "std::uint16_t" for float16.
std::string cpp_type(std::string_view dtype);

}  // namespace kevo::bundle
