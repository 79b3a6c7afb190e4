#include "src/run/output_folder.hpp"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "src/journal/journal.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

/// What a start that failed may have left: a run takes it over.
bool is_own(std::string_view name) {
  return name == ".lock" || name == ".reserve" || name == "cache" || name.starts_with("journal.sqlite");
}

/// The name of something in a folder that no run has put there. A folder that cannot be read has nothing:
/// whoever writes into it says what is wrong.
std::optional<std::string> foreign_file(const std::string& folder) {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    std::string name = entry.path().filename().string();
    if (!is_own(name)) return name;
  }
  return std::nullopt;
}

}  // namespace

std::string free_run_folder(const std::string& wanted, error_place named) {
  if (!journal::exists(wanted)) {
    const auto foreign = foreign_file(wanted);
    if (!foreign) return wanted;
    throw error(
        error_code::input,
        fmt::format("the folder '{}' contains files that are not from a run, for example '{}'; a run might "
                    "overwrite them",
                    wanted, *foreign),
        std::move(named),
        fmt::format("choose an empty or new folder, for example with --set run.output={}/run", wanted));
  }
  for (int n = 2;; ++n) {
    std::string folder = fmt::format("{}-{}", wanted, n);
    if (!journal::exists(folder) && !foreign_file(folder)) return folder;
  }
}

}  // namespace kevo
