#pragma once
// What a failed program on a GPU probably ran into, where its failure alone does not say. Pure.

#include <kevo/program.hpp>

#include "fitness/cascade/cascade.hpp"

namespace kevo::cuda {

/// Adds to the failure's detail what the text of the program suggests. For programs with host code of their
/// own.
void explain_device_failure(call_failure& failure, const program& source);

}  // namespace kevo::cuda
