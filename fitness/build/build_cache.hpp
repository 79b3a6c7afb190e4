#pragma once
// Results of builds on disk. Only the controller writes here; a candidate never sees it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <kevo/content_id.hpp>

#include "fitness/build/compiler.hpp"
#include "fitness/sandbox/scratch_folder.hpp"

namespace kevo::detail {

/// A folder of records, one a key, and the objects they speak of. A record is written after its object, both
/// by renaming, so that a reader (another process may share the folder) sees all or nothing. Thread-safe.
class build_cache {
 public:
  /// An empty folder name keeps the cache in a temporary folder.
  explicit build_cache(std::string folder);

  /// The result of a build, or nothing. An object whose size is not the recorded one counts as missing.
  std::optional<build_result> find(const content_id& key) const;
  /// Keeps a result. @param object descriptor of the object that was built, or -1 if the build failed
  /// @throws kevo::error (environment) if the disk refuses, (input) if the object is larger than
  /// `object_bytes`
  build_result store(const content_id& key, build_result result, int object, std::uint64_t object_bytes);

 private:
  std::string path(const content_id& key, const char* extension) const;
  std::unique_ptr<scratch_folder> temporary_;
  std::string folder_;
};

}  // namespace kevo::detail
