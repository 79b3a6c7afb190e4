#pragma once
// As much of PyTorch as the binding of a bundle uses. Tensors have sizes and addresses, and no elements.

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

namespace at {

enum scalar_kind { kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kBool };

struct options_of_tensor {
  scalar_kind type = kFloat;
  options_of_tensor dtype(scalar_kind other) const { return {other}; }
};

struct Tensor {
  std::vector<std::int64_t> sizes;
  scalar_kind type = kFloat;
  std::uintptr_t place = 0;

  bool is_cuda() const { return true; }
  bool is_contiguous() const { return true; }
  scalar_kind scalar_type() const { return type; }
  std::int64_t dim() const { return static_cast<std::int64_t>(sizes.size()); }
  std::int64_t size(std::size_t i) const { return sizes.at(i); }
  int device() const { return 0; }
  options_of_tensor options() const { return {type}; }
  void* data_ptr() const { return reinterpret_cast<void*>(place); }
};

inline Tensor empty(std::initializer_list<std::int64_t> sizes, options_of_tensor how) {
  return {sizes, how.type, 0x9000};
}

}  // namespace at

namespace pybind11 {
struct arg {
  explicit arg(const char* /*name*/) {}
};
struct recorded_module {
  template <class Function, class... Arguments>
  void def(const char* /*name*/, Function /*function*/, const char* /*about*/, Arguments... /*names*/) {}
};
}  // namespace pybind11

#define TORCH_CHECK(condition, message) \
  if (!(condition)) throw std::runtime_error(message)
#define TORCH_EXTENSION_NAME extension
#define PYBIND11_MODULE(name, variable) inline void define_module(pybind11::recorded_module& variable)
