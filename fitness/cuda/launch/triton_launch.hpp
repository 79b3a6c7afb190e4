#pragma once
// Launch lines of Triton kernels: which variant of a kernel a line needs, and how that variant is launched.
// Triton compiles a kernel anew for the types of its arguments, for what is known of their values (an address
// or a number that 16 divides, the number 1) and for its constants.

#include <string>

#include "fitness/cuda/launch/resolve_parts.hpp"

namespace kevo::cuda::detail {

/// The variant of a kernel that a line launches, as a call in Python that kevo_triton.py reads:
/// "softmax('*fp32:16', 'i32', BLOCK=1024, num_warps=4)". An argument by position is its type, followed by
/// ":16" if 16 divides its address or value; "=1" and "=None" are values that are compiled in.
/// @throws kevo::error (input) for an argument that Triton cannot be given
std::string triton_variant(const launch_line& line, const declared_launch& lines, const scope& known,
                           const loop_index* index);

/// The launch of a compiled variant. The caller adds the scratch memory.
/// @throws kevo::error (input) for what device or kernel do not allow; (internal) if `compiled` is no variant
/// of a Triton kernel
kernel_launch resolve_triton_launch(const launch_line& line, const statement_line& statement,
                                    std::uint32_t kernel, const compiled_kernel& compiled,
                                    const device_facts& facts, const scope& known, const loop_index* index);

/// Scratch memory of a launch: what each of its blocks needs, for all of them. [bytes]
std::uint64_t scratch_bytes(const kernel_launch& launch, const compiled_kernel& compiled);

}  // namespace kevo::cuda::detail
