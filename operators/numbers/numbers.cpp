#include "operators/numbers/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/annotation.hpp>

#include "operators/numbers/literals.hpp"

namespace kevo {
namespace {

/// The literals that may change.
std::vector<number_literal> places_in(const program& source) {
  const std::string& text = source.files.front().text;
  auto all = number_literals(text, source.language);
  const annotations known = parse_annotations(source);
  const auto is_block = [](const source_region& r) { return r.name.starts_with("evolve_block_"); };
  const bool blocks = std::any_of(known.regions.begin(), known.regions.end(), is_block);
  std::erase_if(all, [&](const number_literal& one) {
    const bool tuned = std::any_of(known.tunables.begin(), known.tunables.end(), [&](const tunable& t) {
      return t.file == 0 && one.offset >= t.offset && one.offset < t.offset + t.value.size();
    });
    const bool inside = std::any_of(known.regions.begin(), known.regions.end(), [&](const source_region& r) {
      return is_block(r) && r.file == 0 && one.offset >= r.offset && one.offset < r.offset + r.length;
    });
    return tuned || (blocks && !inside);
  });
  return all;
}

std::string changed(const number_literal& place, const std::string& literal, const numbers& how,
                    rng& random) {
  const double value = std::strtod(literal.c_str(), nullptr);
  const double factor = std::exp((random.chance(0.5) ? how.small : how.large) * random.normal());
  if (place.whole) {
    if (value < 3 || random.chance(0.3))  // 0 is no size, but it may be an index or a flag
      return fmt::format("{:.0f}", value < 1 || random.chance(0.5) ? value + 1 : value - 1);
    return fmt::format("{:.0f}", std::round(value * factor));
  }
  const double next = value == 0 ? 0.01 * factor : value * factor;
  if (!std::isfinite(next)) return literal;
  std::string text = fmt::format("{:.4g}", next);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

variation_result numbers::vary(const variation_request& request, rng& random) const {
  const program& source = *request.parents.front()->program;
  std::vector<number_literal> places;
  try {
    places = places_in(source);
  } catch (const error& wrong) {
    return no_proposal{std::string("the parent's annotations are wrong: ") + wrong.what()};
  }
  if (places.empty()) return no_proposal{"the parent holds no number that may change"};
  const std::string& text = source.files.front().text;
  for (std::size_t attempt = 0; attempt < tries && !request.stop.stop_requested(); ++attempt) {
    std::map<std::size_t, std::string> now;  // by place
    do {
      const std::size_t which = random.below(places.size());
      now[which] =
          changed(places[which], text.substr(places[which].offset, places[which].length), *this, random);
    } while (now.size() < places.size() && random.chance(another));
    program child = source;
    std::string& made = child.files.front().text;
    std::string summary;
    for (auto it = now.rbegin(); it != now.rend(); ++it) {
      const number_literal& place = places[it->first];
      const auto line =
          1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place.offset), '\n');
      summary.insert(
          0, fmt::format("line {}: {} to {}", line, text.substr(place.offset, place.length), it->second) +
                 (summary.empty() ? "" : ", "));
      made.replace(place.offset, place.length, it->second);
    }
    if (made == text || request.seen(id_of(child))) continue;
    return proposal{std::move(child), std::move(summary)};
  }
  return no_proposal{"every change of its numbers that was tried is known"};
}

}  // namespace kevo
