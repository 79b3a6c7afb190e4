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

std::string make_image(const std::vector<image_kernel>& kernels, std::string_view source);

/// The source within an image; nothing else is read of it.
std::string source_of(const void* image);

}  // namespace fake_cuda
