#pragma once
// Evaluations that need not be made again, failures and time-outs included. Only the controller writes here;
// a cached time never makes a champion (`evaluation::cached`).

#include <optional>
#include <string>

#include <kevo/content_id.hpp>
#include <kevo/evaluation.hpp>

#include "fitness/cascade/cache_folder.hpp"

namespace kevo {

/// A folder of evaluations, one file each. Thread-safe, and safe among processes: files appear whole or not
/// at all.
class result_cache {
 public:
  result_cache() = default;  ///< keeps nothing
  /// Makes the folder (private to this user) if it does not exist. @throws kevo::error (environment)
  explicit result_cache(std::string folder);

  /// The evaluation of that key, marked as cached; nothing if there is none or the file is damaged.
  std::optional<evaluation> find(const content_id& key) const;
  /// Keeps an evaluation. A full disk is no error: the cache is only a help.
  void keep(const content_id& key, const evaluation& e) const;

 private:
  cache_folder files_;
};

}  // namespace kevo
