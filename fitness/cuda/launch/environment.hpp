#pragma once
// What the names of launch lines mean on one workload; for resolve.cpp.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fitness/cuda/launch/device_facts.hpp"
#include "fitness/cuda/launch/launch_lines.hpp"
#include "fitness/cuda/launch/launch_signature.hpp"

namespace kevo::cuda::detail {

/// The index of the loop that is being run.
struct loop_index {
  std::string name;
  std::int64_t value = 0;
};

/// Integers by name: axes, tunables, device.sms, occupancy(kernel) and loop indices. Borrows what it is made
/// of.
class environment {
 public:
  /// @param all_axes false: only the constant axes have values, as when kernels are named
  environment(const declared_launch& lines, const launch_signature& workload, const device_facts& facts,
              bool all_axes);

  /// Answers occupancy(kernel); nothing: it has no value here.
  std::function<std::int64_t(std::string_view kernel)> occupancy;

  /// Answers `kernel.NAME`: the value of a constant of a compiled Triton kernel; nothing: it has no value
  /// here.
  std::function<std::int64_t(std::string_view kernel, std::string_view name)> constant;

  /// Checks every name of every line, and that each has one meaning. @throws kevo::error (input)
  void check_all_names() const;

  std::optional<std::int64_t> find(std::string_view name, const loop_index* index) const;
  /// @throws kevo::error (input) as expression::evaluate does
  std::int64_t value(const expression& e, const loop_index* index = nullptr) const;
  /// Whether everything that an expression speaks of has a value here.
  bool knows(const expression& e, const loop_index* index = nullptr) const;
  /// Whether a name is a variable axis, or occupancy: known only for a workload or a compiled kernel.
  bool varies(std::string_view name) const;

 private:
  void check_names(const statement_line& line) const;
  std::vector<std::string> known_names(const statement_line& line) const;

  const declared_launch* lines_;
  const launch_signature* workload_;
  const std::map<std::string, std::int64_t>* axes_;
  std::map<std::string, std::int64_t> tunables_;  ///< those that are integers
  std::set<std::string> kernels_;                 ///< without namespaces
  std::set<std::string> triton_kernels_;          ///< those of them whose constants have names
  std::int64_t sms_;
};

/// Calls `f(expression)` for every integer expression of a line but template arguments.
void for_each_expression(const statement_line& line, const std::function<void(const expression&)>& f);

/// The kernel of a launch line in C++: "ns::matmul<64, float>". @throws kevo::error (input) if a template
/// argument speaks of what varies with the workload
std::string kernel_name(const launch_line& launch, const declared_launch& lines, const environment& fixed,
                        const loop_index* index);

/// A text with the values of tunables in the place of their names.
std::string with_tunables(std::string_view text, const std::map<std::string, std::string>& values);

/// Where a whole word stands in a text; npos if it does not.
std::size_t find_word(std::string_view text, std::string_view word);
/// Where a word stands in a line; the line's own place if it does not.
error_place place_of_word(const statement_line& line, std::string_view word);

/// The indices from <= i < to.
struct loop_range {
  std::int64_t from = 0;
  std::int64_t to = 0;
};
/// @throws kevo::error (input) for more than 4096 rounds
loop_range range_of(const loop_line& loop, const environment& names);

}  // namespace kevo::cuda::detail
