#include "fitness/sandbox/open_folders.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "fitness/sandbox/reachable.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t least_bytes = 4096;  ///< a page: tmpfs takes 0 for no limit

bool is_below(const std::string& inner, const std::string& outer) {
  return inner.starts_with(outer + '/');
}

/// Collects the parts of a folder, from the outside to the inside.
class folder_walk {
 public:
  explicit folder_walk(std::vector<std::string> open) : open_(std::move(open)) {}

  /// One folder of the host with all that it holds.
  void show(const std::string& folder, bool writable) {
    if (::geteuid() == 0 && !detail::reachable_by_others(folder))
      return refuse("the user of the sandbox (nobody) cannot read the folder '" + folder + "'");
    add({writable ? folder_part::kind::memory : folder_part::kind::names, folder, {}, 0});
    std::error_code failed;
    std::vector<fs::path> entries;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
      entries.push_back(at->path());
    if (failed) return refuse("the folder '" + folder + "' cannot be read: " + failed.message());
    std::sort(entries.begin(), entries.end());
    for (const auto& entry : entries) {
      show_entry(entry, writable);
      if (!made_.refused.empty()) return;
    }
    for (const auto& path : open_) {
      if (!is_below(path, folder)) continue;
      const std::string first = path.substr(0, path.find('/', folder.size() + 1));
      if (!fs::exists(fs::symlink_status(first, failed))) add({folder_part::kind::memory, path, {}, 0});
    }
    if (!writable) add({folder_part::kind::sealed, folder, {}, 0});
  }

  opened_folder result(std::uint64_t bytes) && {
    if (!made_.refused.empty()) {
      made_.parts.clear();
      return std::move(made_);
    }
    const auto takes = [](const folder_part& part) { return part.what == folder_part::kind::memory; };
    const auto shares = std::count_if(made_.parts.begin(), made_.parts.end(), takes);
    for (auto& part : made_.parts) {
      if (takes(part)) part.bytes = std::max(bytes / static_cast<std::uint64_t>(shares), least_bytes);
    }
    return std::move(made_);
  }

 private:
  void show_entry(const fs::path& entry, bool writable) {
    std::error_code failed;
    const std::string path = entry.string();
    const auto status = fs::symlink_status(entry, failed);
    const bool open = std::find(open_.begin(), open_.end(), path) != open_.end();
    const bool leads = std::any_of(open_.begin(), open_.end(),
                                   [&path](const std::string& each) { return is_below(each, path); });
    if (fs::is_directory(status) && (writable || open || leads)) return show(path, writable || open);
    if (open || leads) return refuse("'" + path + "' is not a folder");
    if (fs::is_symlink(status)) {
      if (writable)
        return refuse("the folder '" + entry.parent_path().string() + "' contains a symbolic link");
      add({folder_part::kind::link, path, fs::read_symlink(entry, failed).string(), 0});
    } else if (fs::is_directory(status) || fs::is_regular_file(status)) {
      add({folder_part::kind::host, path, {}, 0});
    }
  }
  void add(folder_part part) {
    if (made_.parts.size() >= most_folder_parts) {
      return refuse("more than " + std::to_string(most_folder_parts) +
                    " files and folders would have to be mounted one by one");
    }
    made_.parts.push_back(std::move(part));
  }
  void refuse(std::string why) {
    if (made_.refused.empty()) made_.refused = std::move(why);
  }
  std::vector<std::string> open_;  ///< absolute
  opened_folder made_;
};

}  // namespace

opened_folder open_subfolders(const std::string& folder, const std::vector<std::string>& open,
                              std::uint64_t bytes) {
  std::vector<std::string> paths;
  paths.reserve(open.size());
  for (const auto& each : open) paths.push_back(fmt::format("{}/{}", folder, each));
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  // A folder within an open one is open anyway.
  std::erase_if(paths, [all = paths](const std::string& path) {
    return std::any_of(all.begin(), all.end(),
                       [&path](const std::string& other) { return is_below(path, other); });
  });
  if (paths.empty()) return {};
  folder_walk walk(std::move(paths));
  walk.show(folder, false);
  return std::move(walk).result(bytes);
}

}  // namespace kevo
