#pragma once
// The calls of a Python process, compiled. See serve_calls.cpp.

#include <cstdint>
#include <span>

#include "fitness/torch/main/python.hpp"
#include "fitness/worker/worker_side.hpp"

namespace kevo::torch {

/// One input or output, in the words of DLPack. kevo_torch.py declares the same.
struct tensor_kind {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint8_t scalar;  ///< 1: a Python number
  std::uint8_t unused;
  std::int32_t rank;
};

/// Objects of Python, taken before the program was executed, whatever it replaces later. Borrowed.
/// kevo_torch.py declares the same.
struct call_tools {
  PyObject* program;       ///< what is called
  PyObject* exchange;      ///< `torch.Tensor.__dlpack_c_exchange_api__`; null where this PyTorch has none
  PyObject* from_capsule;  ///< `torch._C._from_dlpack`
  PyObject* to_capsule;    ///< `torch._C._to_dlpack`
  PyObject* tensor;        ///< the types that results may have
  PyObject* parameter;
  PyObject* is_negative;  ///< of a tensor, whether its signs change when it is read
  PyObject* scalar;       ///< (index, bits): the Python number
  PyObject* unpack;       ///< (result, count): a tuple of so many objects
  PyObject* check;  ///< (object, index of the output, extents): ends the process if it is no right result
  PyObject* own;    ///< of a tensor whose elements are not its own, one with the same elements
  std::uint64_t silent;  ///< 1: nobody reads results
};

/// Serves calls until Python raises an exception. @return false
bool serve_calls(control_page& page, worker_side::region arena, bool threads, const call_tools& tools,
                 std::span<const tensor_kind> inputs, std::span<const tensor_kind> outputs);

}  // namespace kevo::torch
