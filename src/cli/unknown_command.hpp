#pragma once
// A word that stands where a verb should and is none.

#include <optional>

#include <kevo/error.hpp>

namespace CLI {
class App;
}

namespace kevo::cli {

/// The error that names the first word of the command line (or, after a verb that has verbs of its own, the
/// next one) which is no verb, and the nearest that is; nothing if the words are verbs.
std::optional<error> unknown_command(const CLI::App& program, int count, const char* const* words);

}  // namespace kevo::cli
