#pragma once
// Builds that need not be made again, on disk: successes and failures. Only kevo itself writes here.

#include <optional>
#include <string>

#include <kevo/content_id.hpp>

#include "fitness/cascade/cache_folder.hpp"
#include "fitness/cuda/compile/cuda_compiler.hpp"

namespace kevo::cuda {

/// A folder of builds, one file each. Thread-safe, and safe among processes: files appear whole or not at
/// all.
class build_cache {
 public:
  /// @param folder made (private to this user) if it does not exist; empty: keeps nothing
  /// @throws kevo::error (environment) if it cannot be used
  explicit build_cache(std::string folder);

  /// The build of that key; nothing if there is none or its file is damaged.
  std::optional<cuda_build_result> find(const content_id& key) const;
  /// Keeps a build. A full disk is no error: the cache is only a help.
  void keep(const content_id& key, const cuda_build_result& build) const;

 private:
  cache_folder files_;
};

}  // namespace kevo::cuda
