#include "fitness/evaluator/writable_folders.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/sandbox/open_folders.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

bool is_module(const fs::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".py" || ending == ".pyc" || ending == ".so";
}

bool holds_modules(const fs::path& folder) {
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (is_module(at->path())) return true;
  }
  return static_cast<bool>(failed);
}

bool in(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string named_subfolder(const std::string& named) {
  std::string path = fs::path(named).lexically_normal().generic_string();
  while (path.ends_with('/')) path.pop_back();
  if (path.empty() || path == "." || path.starts_with('/') || path == ".." || path.starts_with("../")) {
    throw error(error_code::input, "'" + named + "' is not a folder within the evaluator's folder",
                {"", 0, 0, "fitness.writable"},
                "name subfolders relative to the evaluator's folder, for example [temp]");
  }
  return path;
}

}  // namespace

std::string subfolder_to_open(const std::string& folder, const std::string& path) {
  const fs::path relative = fs::path(path).lexically_normal().lexically_relative(folder);
  if (relative.empty() || !fs::path(path).is_absolute() || *relative.begin() == ".." || relative == ".")
    return {};
  fs::path there;  // what the host has of it, relative
  for (const auto& part : relative) {
    if (part.empty()) continue;  // behind a slash
    if (part.string().starts_with('.') || part == "__pycache__" || is_module(part)) return {};
    std::error_code failed;
    const auto status = fs::symlink_status(folder / there / part, failed);
    if (!fs::exists(status)) return (there.empty() ? part : there).generic_string();
    if (!fs::is_directory(status) || holds_modules(folder / there / part)) return {};
    there /= part;
  }
  return there.generic_string();
}

writable_folders::writable_folders(std::string folder, const std::vector<std::string>& named)
    : folder_(std::move(folder)) {
  for (const auto& each : named) {
    std::string path = named_subfolder(each);
    if (!in(named_, path)) named_.push_back(std::move(path));
  }
}

std::vector<std::string> writable_folders::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all = named_;
  all.insert(all.end(), found_.begin(), found_.end());
  std::sort(all.begin(), all.end());
  return all;
}

bool writable_folders::failed(const std::vector<std::string>& paths, const std::vector<std::string>& had) {
  const std::lock_guard lock(mutex_);
  bool more = false;
  for (const auto& path : paths) {
    const std::string open = subfolder_to_open(folder_, path);
    if (open.empty() || in(had, open) || dropped_.contains(open)) continue;
    if (!in(found_, open)) {
      if (found_.size() >= most_found) continue;
      auto all = found_;
      all.insert(all.end(), named_.begin(), named_.end());
      all.push_back(open);
      const auto refused = open_subfolders(folder_, all, 0).refused;
      if (!refused.empty()) {
        dropped_.emplace(open, refused);
        continue;
      }
      found_.push_back(open);
    }
    more = true;  // also if another evaluation has found it meanwhile
  }
  return more;
}

void writable_folders::drop(const std::vector<std::string>& folders, const std::string& why) {
  const std::lock_guard lock(mutex_);
  for (const auto& each : folders) {
    std::erase(found_, each);
    if (!in(named_, each)) dropped_.emplace(each, why);
  }
}

std::vector<std::string> writable_folders::objections() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [folder, why] : dropped_)
    all.push_back(fmt::format("'{}' cannot be made writable: {}.", folder, why));
  return all;
}

}  // namespace kevo
