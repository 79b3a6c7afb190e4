#pragma once
// How the class of a reference in Python is constructed: keys `init` and `pretrained` of a task's reference.

#include <string>

#include <kevo/settings.hpp>

namespace kevo {

/// JSON for the processes of Python: {"args": [...], "kwargs": {...}, "pretrained": {NAME: {...}}}; empty if
/// the task has neither key.
/// @throws kevo::error (input) that names the key: no list or map, a configuration that `pretrained` does not
/// contain
std::string decode_constructor(settings& reference);

}  // namespace kevo
