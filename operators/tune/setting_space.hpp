#pragma once
// The space that the tunables of a source span, cut down by its `require` conditions.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kevo/annotation.hpp>
#include <kevo/program.hpp>
#include <kevo/random.hpp>

namespace kevo {

/// A value for every tunable: indexes into their domains, in file order.
using tunable_setting = std::vector<std::uint32_t>;

/// All settings of one source. A value type; const members are thread-safe.
class setting_space {
 public:
  static constexpr std::uint64_t more_than_64_bits = std::numeric_limits<std::uint64_t>::max();

  explicit setting_space(annotations from);

  const std::vector<tunable>& tunables() const { return from_.tunables; }
  /// The setting that the source has now.
  tunable_setting current() const;
  /// The values of `setting` by name, for set_tunables.
  std::map<std::string, std::string> values(const tunable_setting& setting) const;
  /// `source`, which must be the program that the annotations were read from, with another setting.
  program apply(const program& source, const tunable_setting& setting) const;
  /// "BM 64 -> 128, UNROLL 1 -> 4": what differs.
  std::string difference(const tunable_setting& from, const tunable_setting& to) const;

  /// Whether every condition holds. One that cannot be evaluated (division by zero, overflow) does not.
  bool valid(const tunable_setting& setting) const;

  /// The valid setting nearest to `start` that `accept` takes, found by walking single steps outward through
  /// the domains, ties in random order. After `budget` settings without one it is sought by chance instead,
  /// and is near but perhaps not nearest; nothing if that fails, too.
  std::optional<tunable_setting> nearest_valid(const tunable_setting& start, rng& random,
                                               const std::function<bool(const tunable_setting&)>& accept = {},
                                               std::size_t budget = 2048) const;

  /// The number of all settings, valid or not; more_than_64_bits if so.
  std::uint64_t size() const;

  /// All valid settings in lexicographic order of indexes, unless there are more than `limit`, or more than
  /// `work` partial settings had to be looked at to find out: then nothing. Conditions are checked as soon as
  /// the last of their tunables has a value, so that whole subtrees fall away.
  std::optional<std::vector<tunable_setting>> enumerate(std::size_t limit, std::size_t work = 2000000) const;

 private:
  struct condition {
    expression test;
    std::vector<std::size_t> tunables;  ///< what its names stand for, in the order of its names
    std::size_t last = 0;               ///< the last tunable that it needs
  };

  std::optional<tunable_setting> nearest_by_chance(
      const tunable_setting& start, std::vector<std::size_t> movable, rng& random,
      const std::function<bool(const tunable_setting&)>& good) const;
  bool holds(const condition& one, const tunable_setting& setting) const;

  annotations from_;
  std::vector<condition> conditions_;
  std::vector<std::vector<std::int64_t>> integers_;  ///< of each tunable's domain, where it is all integers
};

}  // namespace kevo
