#pragma once
// What a journal needs of the folder of a run: a lock, and a reserve of disk space. Internal to src/journal.

#include <cstddef>
#include <cstdint>
#include <string>

namespace kevo::detail {

/// An exclusive lock on a run's folder (flock on RUN/.lock), held until destruction or the process's end.
class folder_lock {
 public:
  folder_lock() = default;
  /// Throws kevo::error: usage if another process holds it, environment if the folder cannot be written.
  explicit folder_lock(const std::string& directory);
  folder_lock(folder_lock&& other) noexcept;
  folder_lock& operator=(folder_lock&& other) noexcept;
  ~folder_lock();

 private:
  int file_ = -1;
};

/// A file that holds disk space for the moment when there is none left. It goes with the object.
class disk_reserve {
 public:
  disk_reserve() = default;
  /// Allocates `bytes` for real in RUN/.reserve. Throws kevo::error (environment) if there is no room.
  disk_reserve(const std::string& directory, std::size_t bytes);
  disk_reserve(disk_reserve&& other) noexcept;
  disk_reserve& operator=(disk_reserve&& other) noexcept;
  ~disk_reserve() { release(); }
  /// Gives the space back to the file system; false if that was done before.
  bool release() noexcept;

 private:
  std::string path_;
};

/// A run's folder may come from somebody else, and kevo writes files into it under names that it knows: none
/// of them may be a link to another place.
/// @throws kevo::error (input) that names a link in the folder, or in those of its folders that runs write
/// into
void refuse_links(const std::string& directory);

/// [bytes] that an ordinary user may still write beside `path`.
std::uintmax_t free_bytes(const std::string& path);
/// Makes the names in a folder durable.
void sync_folder(const std::string& directory);
/// The names of this machine and process.
std::string host_name();
int process_number();

}  // namespace kevo::detail
