#pragma once
// How large the writable variables of a declared program may be. kevo gives them their initial values before
// each call, which no clock sees: without a limit this would clear memory of any size for free, and who
// launches the program without kevo would get wrong results.

#include <cstdint>
#include <optional>
#include <string>

#include "fitness/cuda/wire/module.hpp"

namespace kevo::cuda {

/// Of all variables of a program together, the gaps between them included. [bytes]
inline constexpr std::uint64_t most_variable_bytes = std::uint64_t{64} << 10U;

/// Why a program is refused.
struct variable_refusal {
  std::string reason;
  std::string feedback;  ///< for its author
};

/// Nothing if the variables of a module take no more than `most_variable_bytes`. Those that only kernels of
/// hidden workloads bring are not told of. Every variable outside of constant memory is taken for writable,
/// because device code can write to one that is declared const; constant memory is not counted, because the
/// device itself limits it to as much. O(variables, times the logarithm of their number).
std::optional<variable_refusal> refuse_large_variables(const compiled_module& m);

}  // namespace kevo::cuda
