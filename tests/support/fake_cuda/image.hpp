#pragma once
// What the fake compiler makes and the fake driver loads: an ELF image that kevo reads like a cubin, with the
// source in a section of its own.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fake_cuda {

struct image_kernel {
  std::string name;
  std::vector<std::uint32_t> parameter_bytes;
};

/// The kernels of a source: functions after __global__, with the sizes of their parameters.
std::vector<image_kernel> kernels_of(std::string_view source);

/// A variable of a module. All lie in one section, .nv.global.
struct image_variable {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< in the section
  bool managed = false;
};

/// The variables of a source, in its order: declarations after __device__ that are no functions, one variable
/// each, with extents that are numbers. Their initial values are zeros, whatever the source says.
std::vector<image_variable> variables_of(std::string_view source);

/// Bytes of the section that holds them.
std::uint64_t section_bytes(const std::vector<image_variable>& variables);

std::string make_image(const std::vector<image_kernel>& kernels, std::string_view source);

/// The source within an image; nothing else is read of it.
std::string source_of(const void* image);

}  // namespace fake_cuda
