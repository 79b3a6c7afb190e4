#pragma once
// Plug-ins from shared objects that a config names.

#include <string>

#include <kevo/registry.hpp>

namespace kevo {

/// Loads a shared object and lets it register what it brings. It stays loaded until the program ends, because
/// what it registered refers to its code. Throws kevo::error (input) for a file that does not load, has no
/// entry point or was built against another version of the plug-in interface.
void load_plugin(const std::string& path, registry& all, const error_place& place = {});

}  // namespace kevo
