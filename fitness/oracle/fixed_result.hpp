#pragma once
// Whether a task's result depends on its inputs: if it does not, a program that ignores them is right.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <kevo/task.hpp>

namespace kevo {

struct content;

/// What the contents of one workload, each with inputs of its own, have in common.
class result_watch {
 public:
  /// Compares the outputs of a content with those of the first one. O(1) for most tasks: it ends at the first
  /// output that differs, and after that nothing is compared or kept.
  void see(const std::shared_ptr<const content>& made);

  bool differs() const { return differs_; }
  /// Whether enough inputs were seen, and all had the same result.
  bool fixed() const { return !differs_ && others_ >= enough; }
  /// Whether they were equal bit for bit, not only within the tolerance.
  bool exactly() const { return exactly_; }
  /// The content to which the others are equal; null once one differs.
  const std::shared_ptr<const content>& first() const { return first_; }

 private:
  static constexpr std::size_t enough = 2;  // beside the first
  std::shared_ptr<const content> first_;
  std::size_t others_ = 0;
  bool differs_ = false;
  bool exactly_ = true;
};

/// What is known of the result of a whole task.
struct fixed_result {
  bool exactly = false;  ///< equal bit for bit; otherwise within the tolerance
  std::string text;      ///< a sentence that names the outputs and what they are; empty if the result depends
                         ///< on the inputs, or this is not known
};

/// The result is fixed if no workload has shown two results that differ, and one at least has shown enough.
fixed_result fixed_result_of(const task& t, const std::vector<result_watch>& workloads);

}  // namespace kevo
