// Which files a task may name.
#pragma once

#include <string>

#include <kevo/error.hpp>

namespace kevo {

/// A task's files are compiled, shown, recorded and sent to language models. One that came from somebody else
/// must not be able to say so of a private key: outside of its folder, links followed, it may name sources
/// alone.
void require_allowed_file(const std::string& task, const std::string& named_file, const error_place& named);

}  // namespace kevo
