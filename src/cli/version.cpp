#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kevo/registry.hpp>
#include <kevo/version.hpp>

#include "src/cli/command.hpp"

namespace kevo::cli {

std::string version_number() {
  return fmt::format("{}.{}.{}", KEVO_VERSION_MAJOR, KEVO_VERSION_MINOR, KEVO_VERSION_PATCH);
}

std::string version_text() {
  return fmt::format("kevo {} (plug-in ABI {:012x})", version_number(), plugin_abi());
}

void add_version(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("version", "Print the version");
  add_json_flag(*verb, shared);
  verb->callback([&shared] {
    if (shared.json) {
      fmt::print("{{\"version\": \"{}\", \"plugin_abi\": {}}}\n", version_number(), plugin_abi());
    } else {
      fmt::print("{}\n", version_text());
    }
  });
}

}  // namespace kevo::cli
