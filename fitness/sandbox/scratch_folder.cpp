#include "fitness/sandbox/scratch_folder.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <kevo/error.hpp>

#include "fitness/sandbox/reachable.hpp"
#include "src/base/process/spawn.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

// Nobody would call a folder of their own so.
constexpr std::string_view prefix = "kevo-scratch-";
constexpr std::size_t random_letters = 6;  // of mkdtemp
constexpr double settled_s = 60;           // from being made to being locked takes a moment

std::vector<std::string> bases() {
  std::vector<std::string> all;
  const char* chosen = std::getenv("TMPDIR");
  for (const std::string& base : {std::string(chosen == nullptr ? "" : chosen), std::string("/tmp"),
                                  std::string("/var/tmp"), std::string("/dev/shm")}) {
    if (!base.empty() && std::find(all.begin(), all.end(), base) == all.end()) all.push_back(base);
  }
  return all;
}

bool named_as_scratch(const std::string& name) {
  return name.size() == prefix.size() + random_letters && name.starts_with(prefix) &&
         std::all_of(name.begin() + prefix.size(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

detail::descriptor open_folder(const std::string& path) {
  return detail::descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Whether the path still leads to what was opened.
bool still_there(const std::string& path, const detail::descriptor& opened) {
  struct stat named {};
  struct stat held {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(opened.get(), &held) == 0 &&
         named.st_ino == held.st_ino && named.st_dev == held.st_dev;
}

bool ours(uid_t owner) {
  return owner == ::geteuid() || (::geteuid() == 0 && owner == detail::sandbox_uid);
}

// A folder that was swept between its making and its locking is no folder: the caller makes another.
enum class locked { yes, swept, cannot };
locked take_lock(const std::string& path, detail::descriptor& to) {
  to = open_folder(path);
  if (!to) return errno == ENOENT ? locked::swept : locked::cannot;
  const bool taken = ::flock(to.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  // Where a file system knows no locks nobody can sweep either.
  return taken || !still_there(path, to) ? locked::swept : locked::yes;
}

void sweep_once() {
  static std::once_flag done;
  std::call_once(done, [] {
    for (const auto& base : bases()) (void)sweep_scratch_folders(base, settled_s);
  });
}

}  // namespace

std::vector<std::string> sweep_scratch_folders(const std::string& base, double age_s) {
  std::vector<std::string> removed;
  std::error_code failure;
  std::vector<std::string> found;
  for (fs::directory_iterator at(base, failure), end; !failure && at != end; at.increment(failure)) {
    if (named_as_scratch(at->path().filename().string())) found.push_back(at->path().string());
  }
  for (const auto& path : found) {
    const auto held = open_folder(path);
    struct stat about {};
    if (!held || ::fstat(held.get(), &about) != 0 || !ours(about.st_uid)) continue;
    if (std::difftime(std::time(nullptr), about.st_mtime) < age_s) continue;
    if (::flock(held.get(), LOCK_EX | LOCK_NB) != 0 || !still_there(path, held)) continue;
    fs::remove_all(path, failure);
    if (!failure) removed.push_back(path);
  }
  return removed;
}

scratch_folder::scratch_folder(bool for_sandbox) {
  sweep_once();
  const bool give = for_sandbox && ::geteuid() == 0;
  std::string failure;
  for (const auto& base : bases()) {
    if (give && !detail::reachable_by_others(base)) continue;
    for (int attempt = 0; attempt < 3; ++attempt) {
      std::string name = base + "/" + std::string(prefix) + std::string(random_letters, 'X');
      if (::mkdtemp(name.data()) == nullptr) {
        failure = base + ": " + std::strerror(errno);
        break;
      }
      const auto how = take_lock(name, lock_);
      if (how == locked::swept) continue;
      if (how == locked::cannot ||
          (give && ::chown(name.c_str(), detail::sandbox_uid, detail::sandbox_uid) != 0)) {
        failure = name + ": " + std::strerror(errno);
        ::rmdir(name.c_str());
        break;
      }
      path_ = name;
      return;
    }
  }
  throw error(error_code::environment, "cannot create a temporary folder: " + failure, {},
              "set TMPDIR to a writable folder");
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string scratch_folder::folder(std::string_view name) const {
  std::string path = path_ + "/" + std::string(name);
  struct stat owner = {};
  if (::mkdir(path.c_str(), 0700) != 0 || ::stat(path_.c_str(), &owner) != 0 ||
      (owner.st_uid != ::geteuid() && ::chown(path.c_str(), owner.st_uid, owner.st_gid) != 0)) {
    throw error(error_code::environment, "cannot create " + path + ": " + std::strerror(errno));
  }
  return path;
}

void let_everyone_read(const std::string& folder) {
  using fs::perms;
  const auto open = [](const fs::path& path, perms which) {
    fs::permissions(path, which, fs::perm_options::add | fs::perm_options::nofollow);
  };
  const perms readable = perms::owner_read | perms::group_read | perms::others_read;
  const perms enterable = readable | perms::owner_exec | perms::group_exec | perms::others_exec;
  try {
    open(folder, enterable);
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const auto status = entry.symlink_status();
      if (fs::is_directory(status)) open(entry.path(), enterable);
      if (fs::is_regular_file(status)) open(entry.path(), readable);
    }
  } catch (const fs::filesystem_error& wrong) {
    throw error(error_code::environment, std::string("cannot share a folder: ") + wrong.what());
  }
}

}  // namespace kevo
