#pragma once
// Paths in settings, and what each is relative to.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/settings.hpp>

namespace kevo {

/// The rule in a sentence, as the hint of an error.
inline constexpr const char* path_rule =
    "a path in a config is relative to the config file, one given by --set to the current folder";

/// Reads the path under `key`. A relative path that is written in a file is relative to `directory`, the
/// folder of that file; one that is given on the command line (--set) is relative to the current folder, and
/// `resolved()` then holds it as an absolute path, so that a journal means the same file from any folder. An
/// empty text stays empty. Throws kevo::error (input) for a URL.
std::string path_from(settings& from, std::string_view key, const setting<std::string>& what,
                      const std::string& directory);

/// The same for a list of paths.
std::vector<std::string> paths_from(settings& from, std::string_view key, const setting<std::string>& what,
                                    const std::string& directory,
                                    std::optional<std::vector<std::string>> def = std::nullopt);

}  // namespace kevo
