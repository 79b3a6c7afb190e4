#pragma once
// The space that the tunables of a source span, cut down by its `require` conditions.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
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
  /// The same, but only the settings of `listed`, which is sorted, are valid. Null: those that fulfil every
  /// condition.
  setting_space(annotations from, std::shared_ptr<const std::vector<tunable_setting>> listed);

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
  friend class setting_sampler;
  struct condition {
    expression test;
    std::vector<std::size_t> tunables;  ///< what its names stand for, in the order of its names
    std::size_t last = 0;               ///< the last tunable that it needs
  };

  std::optional<tunable_setting> nearest_by_chance(
      const tunable_setting& start, std::vector<std::size_t> movable, rng& random,
      const std::function<bool(const tunable_setting&)>& good) const;
  bool holds(const condition& one, const tunable_setting& setting) const;
  /// All values of the tunables `some`, ascending, that fulfil the conditions which speak of these alone; the
  /// other tunables keep their first value. Limits as for `enumerate`.
  std::optional<std::vector<tunable_setting>> enumerate(const std::vector<std::size_t>& some,
                                                        std::size_t limit, std::size_t work) const;

  annotations from_;
  std::vector<condition> conditions_;
  std::vector<std::vector<std::int64_t>> integers_;  ///< of each tunable's domain, where it is all integers
  std::shared_ptr<const std::vector<tunable_setting>> listed_;
};

/// Draws valid settings of a space with equal probabilities, also where the space is too large to be
/// enumerated: tunables that no chain of conditions connects are independent of each other, so the settings
/// of each connected group are enumerated alone. A group that is itself too large is drawn value by value,
/// and again from the start as soon as a condition is broken, which keeps the probabilities equal.
class setting_sampler {
 public:
  /// `limit`: the greatest number of settings of a group that is enumerated. `work` as for `enumerate`.
  explicit setting_sampler(const setting_space& space, std::size_t limit = 50000, std::size_t work = 2000000);

  /// A valid setting; nothing if a group has none, or if none was found in `tries` draws of a large group.
  std::optional<tunable_setting> draw(rng& random, std::size_t tries = 4096) const;
  /// The exact number of valid settings; nothing if a group was too large to be enumerated, or the number has
  /// more than 64 bits.
  std::optional<std::uint64_t> count() const;

 private:
  struct group {
    std::vector<std::size_t> tunables;      ///< ascending
    std::vector<tunable_setting> settings;  ///< the values of these tunables, if they were enumerated
    bool enumerated = false;
  };
  bool draw_large(const group& one, tunable_setting& setting, rng& random, std::size_t tries) const;

  setting_space space_;
  std::vector<group> groups_;
  bool empty_ = false;  ///< a condition without tunables is broken
};

}  // namespace kevo
