#include "src/run/best_file.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

#include <kevo/detail/nearest.hpp>
#include <kevo/error.hpp>

#include "fitness/build/compiler_process.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

/// A reader sees the old text or the new, never half of one.
void replace_file(const fs::path& path, const std::string& text) {
  const fs::path fresh = path.string() + ".new";
  std::error_code failed;
  fs::remove(fresh, failed);  // of an earlier process that was killed; a link would be followed
  {
    std::ofstream out(fresh, std::ios::binary);
    out << text;
    out.flush();
    if (!out) {
      throw error(error_code::environment, "cannot write the best program", {fresh.string()},
                  "free some disk space; the program is also in the journal: kevo show RUN ID --source");
    }
  }
  fs::rename(fresh, path, failed);
  if (failed)
    throw error(error_code::environment, "cannot write the best program: " + failed.message(),
                {path.string()});
}

}  // namespace

std::string write_best_file(const std::string& directory, const program& best) {
  // A program's file names come from an operator, a model or a journal.
  for (const auto& file : best.files) {
    if (acceptable_file_name(file.path)) continue;
    throw error(error_code::input,
                "the best program has a file named \"" + detail::shown(file.path, 200) +
                    "\", which could be outside the run folder; it is not written",
                {directory}, "print its main file with: kevo show RUN best --source");
  }
  const fs::path folder(directory);
  const fs::path main = folder / ("best" + fs::path(best.files.front().path).extension().string());
  replace_file(main, best.files.front().text);
  for (std::size_t i = 1; i < best.files.size(); ++i) {
    const fs::path path = folder / "best_files" / best.files[i].path;
    fs::create_directories(path.parent_path());
    replace_file(path, best.files[i].text);
  }
  return main.string();
}

}  // namespace kevo
