#include "src/report/run_archive.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "src/base/settings/yaml.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/load.hpp"

namespace kevo {

any_archive empty_archive_of(const journal& run, run_plugins wanted) {
  const journal_header& header = run.header();
  try {
    settings root(parse_yaml(header.config_yaml, run.directory() + "/journal.sqlite: config"));
    registry plugins = builtin_plugins();
    build_context context;
    const auto directory = header.more.find("config_directory");
    context.directory = directory == header.more.end() ? "." : directory->second;
    context.run_directory = run.directory();
    context.seed = header.seed;
    context.plugins = &plugins;
    for (const auto& path : root.texts("plugins", {}, std::vector<std::string>{})) {
      if (wanted == run_plugins::leave) break;
      load_plugin((std::filesystem::path(context.directory) / path).string(), plugins, root.place("plugins"));
    }
    settings archive = root.child("archive", "which elites are kept");
    return plugins.archives.make(archive, context);
  } catch (const error&) {
    return {};
  }
}

}  // namespace kevo
