#pragma once
// The one function of a hosted object that its worker calls.

#include <cstdint>

namespace kevo::cuda {

/// `pointers`: inputs that are tensors, then outputs, on the device; `words`: scalar inputs (the value's
/// bytes, first byte first), then the variable axes; `stream`: CUstream. Answers what `run` answers: 0 unless
/// it could not do its work.
using hosted_function = int (*)(void* const* pointers, const std::uint64_t* words, void* stream);
inline constexpr const char* hosted_symbol = "kevo_hosted_call";

}  // namespace kevo::cuda
