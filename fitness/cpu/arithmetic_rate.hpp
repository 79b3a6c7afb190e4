#pragma once
// How fast arithmetic may at best be here, compared with what was measured for float32.

#include <kevo/task.hpp>

namespace kevo {

/// Whether this processor has tile registers (AMX) and the kernel offers them.
bool has_tile_registers();

/// An upper bound of the operations per second of the task's accuracy, in units of the measured rate of
/// float32 multiply-adds. Generous, because what is faster is called impossible: narrow types, and products
/// split into narrow parts where the processor multiplies those much faster.
double arithmetic_rate(const task& t, bool tiles);

}  // namespace kevo
