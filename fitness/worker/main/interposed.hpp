#pragma once
// Functions of the C library that a candidate and its libraries find in the worker's program first.

#include "fitness/worker/protocol.hpp"

namespace kevo {

/// To be called once, before the process restricts itself. From then on a thread that cannot be had is noted
/// in `page`, and one object of shared memory, of at most a page, can be opened by any name: LLVM's runtime
/// of OpenMP ends the process without one. It is this process's own.
void interpose(control_page& page);

}  // namespace kevo
