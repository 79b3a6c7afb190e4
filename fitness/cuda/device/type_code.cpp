#include "fitness/cuda/device/type_code.hpp"

#include <algorithm>
#include <array>

#include <kevo/error.hpp>

namespace kevo::cuda {
namespace {

// In the order of trusted_kernels.cu's numbers.
constexpr std::array<std::string_view, 12> names = {"float64", "float32", "float16", "bfloat16",
                                                    "int8",    "int16",   "int32",   "int64",
                                                    "uint8",   "uint16",  "uint32",  "bool"};

}  // namespace

int type_code(std::string_view dtype) {
  const auto found = std::find(names.begin(), names.end(), dtype);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

const element_type& element_of(int code) {
  const auto place = static_cast<std::size_t>(code);
  const auto* found = code >= 0 && place < names.size() ? find_element_type(names[place]) : nullptr;
  if (found == nullptr) throw error(error_code::internal, "a tensor of an unknown type");
  return *found;
}

}  // namespace kevo::cuda
