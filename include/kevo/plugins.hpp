#pragma once
// The plug-ins that configs name: those that kevo ships, and shared objects. Compiled: link kevo::kevo.

#include <string>

#include <kevo/registry.hpp>

namespace kevo {

/// A registry with everything that kevo ships, by the names that configs use.
registry builtin_plugins();

/// Loads a shared object and lets it register its plug-ins (see KEVO_PLUGIN in kevo/registry.hpp). It stays
/// loaded until the program ends, because what it registered refers to its code.
/// @param place the place that names the file, for messages
/// @throws kevo::error (input) if the file does not load, has no entry point or was built against another
/// plug-in interface
void load_plugin(const std::string& path, registry& all, const error_place& place = {});

}  // namespace kevo
