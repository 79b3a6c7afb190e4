#include "src/export/bundle/launcher_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/export/bundle/comment_text.hpp"

namespace kevo::bundle {
namespace {

std::string shape_comment(const task& t, const std::string& name) {
  for (const auto* tensors : {&t.inputs, &t.outputs}) {
    for (const auto& one : *tensors) {
      if (one.name == name) return fmt::format("[{}] {}", fmt::join(one.shape, ", "), one.dtype);
    }
  }
  return "written by the reference";
}

}  // namespace

std::string launcher_header(const launcher_parts& parts) {
  std::string fields;
  for (const auto& t : parts.signature->inputs) {
    fields += fmt::format("  const {}* {} = nullptr;  ///< {}\n", cpp_type(t.dtype), t.name,
                          shape_comment(*parts.what, t.name));
  }
  for (const auto& t : parts.signature->scalars)
    fields += fmt::format("  {} {} = 0;\n", cpp_type(t.dtype), t.name);
  for (const auto& t : parts.signature->outputs) {
    fields += fmt::format("  {}* {} = nullptr;  ///< {}\n", cpp_type(t.dtype), t.name,
                          shape_comment(*parts.what, t.name));
  }
  for (const auto& a : parts.what->axes) {
    if (a.value) continue;
    fields += fmt::format("  std::int64_t {} = 0;  ///< {}\n", a.name,
                          in_comment(a.description.empty() ? "axis" : a.description));
  }
  return fmt::format(
      R"(#pragma once
// {about}
// Written by kevo from the launch lines of the program. Link the target {name}; needs the CUDA driver API.

#include <cstddef>
#include <cstdint>

#include <cuda.h>

namespace {name} {{

/// Arguments of a call. Pointers are to device memory, row-major.
struct arguments {{
{fields}  void* workspace = nullptr;  ///< workspace_bytes() bytes, aligned to 256; not shared by calls that overlap
}};

/// The size of the workspace for these sizes; pointers are not read. Needs a current CUDA context.
/// Throws as launch() does.
std::size_t workspace_bytes(const arguments& a);

/// Enqueues the call on `stream` of the current context and returns; the first call in a context loads the
/// machine code, which is for {architecture}. Thread-safe{variables}.
/// Throws std::logic_error for sizes that the program cannot be launched for, and std::runtime_error for errors
/// of CUDA and for sizes that do not fit in an argument of a kernel.
void launch(const arguments& a, CUstream stream);

}}  // namespace {name}
)",
      fmt::arg("about", in_comment(parts.about)), fmt::arg("name", parts.name), fmt::arg("fields", fields),
      fmt::arg("architecture", parts.code->architecture),
      fmt::arg("variables", parts.code->globals.empty()
                                ? ""
                                : ", but the program has variables, so that calls must not overlap"));
}

}  // namespace kevo::bundle
