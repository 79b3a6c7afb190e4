#include "src/journal/run_folder.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

namespace kevo::detail {

namespace {

/// The process that wrote its number into a lock file; 0 if there is none.
long holder_of(int file) {
  std::array<char, 32> text{};
  const auto length = ::pread(file, text.data(), text.size() - 1, 0);
  return length > 0 ? std::strtol(text.data(), nullptr, 10) : 0;
}

/// Locks; false with `errno` if that cannot be. A killed process may leave a child behind that had not yet
/// become its own program and holds the lock for a moment: that is waited for.
bool lock_soon(int file) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return false;
    const long process = holder_of(file);
    const bool dead = process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
    errno = EWOULDBLOCK;
    if (!dead || std::chrono::steady_clock::now() > patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace

folder_lock::folder_lock(const std::string& directory) {
  const std::string path = directory + "/.lock";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file_ < 0) {
    throw error(error_code::environment,
                std::string("cannot write to the run folder: ") + std::strerror(errno),
                {.file = path, .key = {}}, "check its permissions, or choose a folder on another disk");
  }
  if (lock_soon(file_)) {
    const std::string who = std::to_string(::getpid()) + "\n";
    if (::ftruncate(file_, 0) == 0 && ::pwrite(file_, who.data(), who.size(), 0) < 0)
      errno = 0;  // only a courtesy
    return;
  }
  const int reason = errno;
  const long process = holder_of(file_);
  ::close(std::exchange(file_, -1));
  if (reason != EWOULDBLOCK) {
    throw error(error_code::environment, std::string("cannot lock the run folder: ") + std::strerror(reason),
                {.file = path, .key = {}}, "use a folder on a file system that supports locks (flock)");
  }
  throw error(error_code::usage,
              "another kevo process" +
                  (process > 0 ? " (process " + std::to_string(process) + ")" : std::string()) +
                  " is using this run folder",
              {.file = directory, .key = {}},
              "wait until it ends; `kevo report` and `kevo show` can read the run meanwhile");
}

folder_lock::folder_lock(folder_lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
folder_lock& folder_lock::operator=(folder_lock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}
folder_lock::~folder_lock() {
  if (file_ >= 0) ::close(file_);
}

disk_reserve::disk_reserve(const std::string& directory, std::size_t bytes) : path_(directory + "/.reserve") {
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  const int opened = file < 0 ? errno : 0;
  const int allocated = file < 0 ? 0 : ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (file >= 0) ::close(file);
  if (opened == 0 && allocated == 0) return;
  const int reason = opened != 0 ? opened : allocated;
  release();
  throw error(error_code::environment,
              "cannot reserve " + std::to_string(bytes) + " bytes for the journal: " + std::strerror(reason) +
                  "; " + std::to_string(free_bytes(directory)) + " bytes are free",
              {.file = directory, .key = {}},
              "free some disk space, or choose another folder with --set run.output=DIR");
}

disk_reserve::disk_reserve(disk_reserve&& other) noexcept : path_(std::exchange(other.path_, {})) {}
disk_reserve& disk_reserve::operator=(disk_reserve&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

bool disk_reserve::release() noexcept {
  if (path_.empty()) return false;
  const bool there = ::unlink(path_.c_str()) == 0;
  path_.clear();
  return there;
}

void refuse_links(const std::string& directory) {
  namespace fs = std::filesystem;
  const auto look = [](const fs::directory_entry& entry) {
    std::error_code ignored;
    if (!entry.is_symlink(ignored)) return;
    throw error(error_code::input,
                "this file is a symbolic link; kevo would write to the file that it points to",
                {.file = entry.path().string(), .key = {}},
                "replace the link in the run folder by a copy of the file that it points to");
  };
  std::error_code failed;
  for (fs::directory_iterator at(directory, failed), end; !failed && at != end; at.increment(failed))
    look(*at);
  for (const char* written : {"best_files", "flashinfer", "cache"}) {
    for (fs::recursive_directory_iterator at(fs::path(directory) / written, failed), end;
         !failed && at != end; at.increment(failed))
      look(*at);
  }
}

std::uintmax_t free_bytes(const std::string& path) {
  std::error_code ignored;
  const auto space = std::filesystem::space(path, ignored);
  return ignored ? 0 : space.available;
}

void sync_folder(const std::string& directory) {
  const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}
int process_number() {
  return ::getpid();
}

}  // namespace kevo::detail
