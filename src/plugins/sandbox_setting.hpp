#pragma once
// Settings that all fitness functions have.

#include <kevo/fitness/sandbox.hpp>
#include <kevo/settings.hpp>

namespace kevo {

/// Reads `sandbox`. @param def its default
sandbox_mode sandbox_from(settings& from, const char* def);

/// Reads a number of bytes.
std::uint64_t bytes_from(settings& from, const char* key, std::int64_t def, const char* doc);

}  // namespace kevo
