#pragma once
// Files that need not be made again, by the content that they were made of: what caches of results and of
// builds share.

#include <optional>
#include <string>
#include <string_view>

#include <kevo/content_id.hpp>

namespace kevo {

/// A folder of files named after content ids. Thread-safe, and safe among processes: files appear whole or
/// not at all.
class cache_folder {
 public:
  cache_folder() = default;  ///< keeps nothing
  /// @param folder made (private to this user) if it does not exist; empty: keeps nothing
  /// @param ending of the files, ".json"
  /// @throws kevo::error (environment) if the folder cannot be used
  cache_folder(std::string folder, std::string ending);

  /// The bytes kept under that key; nothing if there are none.
  std::optional<std::string> find(const content_id& key) const;
  /// Keeps bytes. A full disk is no error: a cache is only a help.
  void keep(const content_id& key, std::string_view bytes) const;

 private:
  std::string path_of(const content_id& key) const;
  std::string folder_;
  std::string ending_;
};

}  // namespace kevo
