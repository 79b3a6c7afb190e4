#pragma once
// Whose doing it is that the device has no memory: the candidate's, if a program that is known to be good has
// room in its place; otherwise the machine's or the task's.

#include <kevo/error.hpp>

#include "fitness/cascade/cascade.hpp"

namespace kevo::cuda {

inline constexpr const char* found_no_memory = "found no memory on the device";

/// Whether a failure of the environment says that the device had no memory. Pure.
bool speaks_of_room(const error& failure);

/// A candidate beside which kevo's own programs found no memory. Pure.
call_failure left_no_room(const error& failure);

}  // namespace kevo::cuda
