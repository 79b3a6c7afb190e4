#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kevo/version.hpp>

#include "src/cli/command.hpp"

namespace kevo::cli {

void add_version(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("version", "Print the version");
  add_json_flag(*verb, shared);
  verb->callback([&shared] {
    const std::string version =
        fmt::format("{}.{}.{}", KEVO_VERSION_MAJOR, KEVO_VERSION_MINOR, KEVO_VERSION_PATCH);
    if (shared.json) {
      fmt::print("{{\"version\": \"{}\", \"plugin_abi\": {}}}\n", version, KEVO_PLUGIN_ABI);
    } else {
      fmt::print("kevo {} (plug-in ABI {})\n", version, KEVO_PLUGIN_ABI);
    }
  });
}

}  // namespace kevo::cli
