#include "operators/tune/setting_space.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace kevo {

setting_space::setting_space(annotations from) : from_(std::move(from)) {
  for (const auto& t : from_.tunables) {
    std::vector<std::int64_t> values;
    for (const auto& text : t.domain) values.push_back(integer_literal(text).value_or(0));
    integers_.push_back(std::move(values));
  }
  for (const auto& required : from_.requirements) {
    condition one{required.condition, {}, 0};
    for (const auto& name : required.condition.names()) {
      const auto index = static_cast<std::size_t>(from_.find_tunable(name) - from_.tunables.data());
      one.tunables.push_back(index);
      one.last = std::max(one.last, index);
    }
    conditions_.push_back(std::move(one));
  }
}

setting_space::setting_space(annotations from, std::shared_ptr<const std::vector<tunable_setting>> listed)
    : setting_space(std::move(from)) {
  listed_ = std::move(listed);
}

tunable_setting setting_space::current() const {
  tunable_setting result;
  for (const auto& t : from_.tunables) result.push_back(static_cast<std::uint32_t>(t.current));
  return result;
}

std::map<std::string, std::string> setting_space::values(const tunable_setting& setting) const {
  std::map<std::string, std::string> result;
  for (std::size_t i = 0; i < setting.size(); ++i) {
    result[from_.tunables[i].name] = from_.tunables[i].domain.at(setting[i]);
  }
  return result;
}

program setting_space::apply(const program& source, const tunable_setting& setting) const {
  program result = source;
  for (std::size_t i = setting.size(); i > 0; --i) {  // backwards: replacing does not move what stands before
    const tunable& t = from_.tunables[i - 1];
    result.files.at(t.file).text.replace(t.offset, t.value.size(), t.domain.at(setting[i - 1]));
  }
  return result;
}

std::string setting_space::difference(const tunable_setting& from, const tunable_setting& to) const {
  std::string text;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    const tunable& t = from_.tunables[i];
    text += (text.empty() ? "" : ", ") + t.name + ' ' + t.domain[from[i]] + " -> " + t.domain[to[i]];
  }
  return text;
}

bool setting_space::holds(const condition& one, const tunable_setting& setting) const {
  const auto& names = one.test.names();
  try {
    return one.test.evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return integers_[one.tunables[i]][setting[one.tunables[i]]];
      }
      return std::nullopt;
    }) != 0;
  } catch (const error&) {
    return false;
  }
}

bool setting_space::valid(const tunable_setting& setting) const {
  if (listed_) return std::binary_search(listed_->begin(), listed_->end(), setting);
  return std::all_of(conditions_.begin(), conditions_.end(),
                     [&](const condition& one) { return holds(one, setting); });
}

std::optional<tunable_setting> setting_space::nearest_valid(
    const tunable_setting& start, rng& random, const std::function<bool(const tunable_setting&)>& accept,
    std::size_t budget) const {
  const auto good = [&](const tunable_setting& setting) {
    return valid(setting) && (!accept || accept(setting));
  };
  // Where a condition is broken, only tunables that conditions speak of can mend it.
  std::vector<std::size_t> movable;
  const bool broken = !valid(start);
  for (std::size_t i = 0; i < start.size(); ++i) {
    const bool constrained = std::any_of(conditions_.begin(), conditions_.end(), [&](const condition& one) {
      return std::find(one.tunables.begin(), one.tunables.end(), i) != one.tunables.end();
    });
    if (constrained || !broken) movable.push_back(i);
  }
  std::size_t left = budget;
  std::set<tunable_setting> known = {start};
  std::vector<tunable_setting> ring = {start};
  while (!ring.empty()) {
    random.shuffle(std::span<tunable_setting>(ring));
    for (const auto& setting : ring) {
      if (left-- == 0) return nearest_by_chance(start, movable, random, good);
      if (good(setting)) return setting;
    }
    std::vector<tunable_setting> next;
    for (const auto& setting : ring) {
      for (const std::size_t i : movable) {
        if (next.size() > left) break;  // more than will be looked at
        for (const bool up : {false, true}) {
          if (up ? setting[i] + 1 >= from_.tunables[i].domain.size() : setting[i] == 0) continue;
          tunable_setting step = setting;
          step[i] = up ? step[i] + 1 : step[i] - 1;
          if (known.insert(step).second) next.push_back(std::move(step));
        }
      }
    }
    ring = std::move(next);
  }
  return std::nullopt;  // all that can be reached was looked at
}

std::optional<tunable_setting> setting_space::nearest_by_chance(
    const tunable_setting& start, std::vector<std::size_t> movable, rng& random,
    const std::function<bool(const tunable_setting&)>& good) const {
  for (int attempt = 0; attempt < 256; ++attempt) {
    tunable_setting setting = start;
    for (const std::size_t i : movable) {
      setting[i] = static_cast<std::uint32_t>(random.below(from_.tunables[i].domain.size()));
    }
    if (!good(setting)) continue;
    random.shuffle(std::span<std::size_t>(movable));
    for (const std::size_t i : movable) {  // back towards the start, as far as it stays good
      while (setting[i] != start[i]) {
        tunable_setting closer = setting;
        closer[i] = setting[i] < start[i] ? setting[i] + 1 : setting[i] - 1;
        if (!good(closer)) break;
        setting = std::move(closer);
      }
    }
    return setting;
  }
  return std::nullopt;
}

std::uint64_t setting_space::size() const {
  std::uint64_t product = 1;
  for (const auto& t : from_.tunables) {
    if (__builtin_mul_overflow(product, std::uint64_t{t.domain.size()}, &product)) return more_than_64_bits;
  }
  return product;
}

std::optional<std::vector<tunable_setting>> setting_space::enumerate(std::size_t limit,
                                                                     std::size_t work) const {
  if (listed_) return listed_->size() <= limit ? std::optional(*listed_) : std::nullopt;
  std::vector<std::size_t> all(from_.tunables.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return enumerate(all, limit, work);
}

std::optional<std::vector<tunable_setting>> setting_space::enumerate(const std::vector<std::size_t>& some,
                                                                     std::size_t limit,
                                                                     std::size_t work) const {
  const std::size_t count = some.size();
  std::vector<std::vector<const condition*>> due(count);  // conditions that the i-th of `some` completes
  for (const auto& one : conditions_) {
    if (one.tunables.empty()) {
      if (!holds(one, {})) return std::vector<tunable_setting>();
      continue;
    }
    const auto at = std::find(some.begin(), some.end(), one.last);
    if (at != some.end()) due[static_cast<std::size_t>(at - some.begin())].push_back(&one);
  }
  std::vector<tunable_setting> found;
  tunable_setting setting(from_.tunables.size(), 0);
  if (count == 0) return std::vector<tunable_setting>{setting};
  // Depth first without recursion: `setting` holds the choices so far, `depth` says whose turn it is.
  std::size_t depth = 0;
  for (;;) {
    if (setting[some[depth]] >= from_.tunables[some[depth]].domain.size()) {
      if (depth == 0) return found;
      setting[some[depth]] = 0;
      ++setting[some[--depth]];
      continue;
    }
    if (work-- == 0) return std::nullopt;
    const bool good = std::all_of(due[depth].begin(), due[depth].end(),
                                  [&](const condition* one) { return holds(*one, setting); });
    if (good && depth + 1 < count) {
      ++depth;
      continue;
    }
    if (good) {
      if (found.size() == limit) return std::nullopt;
      found.push_back(setting);
    }
    ++setting[some[depth]];
  }
}

}  // namespace kevo
