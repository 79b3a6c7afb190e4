#pragma once
// Settings that several fitness functions have.

#include <cstdint>
#include <optional>
#include <vector>

#include <kevo/fitness/cuda.hpp>
#include <kevo/fitness/sandbox.hpp>
#include <kevo/fitness/timing.hpp>
#include <kevo/settings.hpp>

namespace kevo {

/// Reads `sandbox`. @param def its default
sandbox_mode sandbox_from(settings& from, const char* def);

/// Reads a number of bytes.
std::uint64_t bytes_from(settings& from, const char* key, std::int64_t def, const char* doc);

/// Reads `timing`. @param made holds the defaults
void timing_from(settings& from, timing_settings& made);

/// Reads `foreign_processes`.
foreign_processes foreign_from(settings& from);

/// Reads `devices`, the GPUs that share the evaluations: nothing if there is one alone, empty for all.
/// @param alone the setting that names a single GPU
std::optional<std::vector<int>> devices_from(settings& from, const char* alone);

}  // namespace kevo
