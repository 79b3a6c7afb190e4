#pragma once
// What is known of the processor without measuring.

#include <string>

namespace kevo {

/// The data caches of the first processor and its clock: "L1d 32 KiB, L2 1 MiB, L3 32 MiB, 3.25 GHz". What
/// the system does not tell is left out.
/// @param root folder that has /sys and /proc, for tests
std::string processor_facts(const std::string& root = "");

}  // namespace kevo
