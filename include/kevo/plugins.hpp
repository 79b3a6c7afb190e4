#pragma once
// Functions to get the plug-ins that configs name: those that kevo ships, and those in shared objects. Not
// header-only: link kevo::kevo.

#include <string>

#include <kevo/registry.hpp>

namespace kevo {

/// A registry with all plug-ins that kevo ships, by the names that configs use.
registry builtin_plugins();

/// Loads a shared object and adds its plug-ins to `all` (see KEVO_PLUGIN in kevo/registry.hpp). The object
/// stays loaded until the program ends, because its plug-ins refer to its code.
/// @param path relative to the working directory
/// @param place the place in a config that names the file, for messages
/// @throws kevo::error (input) if the file does not exist or does not load, has no entry point, or was built
/// for another version of the plug-in interface
void load_plugin(const std::string& path, registry& all, const error_place& place = {});

}  // namespace kevo
