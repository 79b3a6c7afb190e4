#include "src/cli/unknown_command.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>

namespace kevo::cli {

std::optional<error> unknown_command(const CLI::App& program, int count, const char* const* words) {
  const CLI::App* at = &program;
  std::string path = "kevo";
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word.starts_with('-')) continue;
    const auto verbs = at->get_subcommands([](const CLI::App*) { return true; });
    if (verbs.empty()) return std::nullopt;  // what follows are its arguments
    const auto meant = std::find_if(verbs.begin(), verbs.end(),
                                    [&](const CLI::App* one) { return one->get_name() == word; });
    if (meant == verbs.end()) {
      std::vector<std::string> names;
      names.reserve(verbs.size());
      for (const auto* one : verbs) names.push_back(one->get_name());
      const std::string hint = detail::hint_for(word, names, "commands");
      return error(error_code::usage, fmt::format("{} has no command '{}'", path, detail::shown(word)), {},
                   fmt::format("{}{}see {} --help", hint, hint.ends_with('?') ? " or " : "; ", path));
    }
    at = *meant;
    path += ' ' + word;
  }
  return std::nullopt;
}

}  // namespace kevo::cli
