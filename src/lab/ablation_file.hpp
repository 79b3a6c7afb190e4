#pragma once
// The finished evaluations of an ablation on disk.

#include <map>
#include <memory>
#include <string>

#include <kevo/evaluation.hpp>

#include "src/lab/line_file.hpp"

namespace kevo {

/// One finished evaluation.
struct kept_evaluation {
  std::string key;  ///< content id of all on which the evaluation depends
  std::string finished_at;
  std::string variant;
  std::size_t repeat = 0;
  evaluation result;
};

/// Keeps `evaluations.jsonl` open and locked. Not thread-safe.
class ablation_file {
 public:
  /// Makes the folder. @throws kevo::error, as line_file
  explicit ablation_file(const std::string& folder);

  /// Null if there is none.
  std::shared_ptr<const evaluation> find(const std::string& key) const;
  void append(kept_evaluation one);

 private:
  std::map<std::string, std::shared_ptr<const evaluation>> kept_;  // before the file, whose lines fill it
  line_file file_;
};

}  // namespace kevo
