#include "operators/splice/splice.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <kevo/annotation.hpp>

#include "operators/tune/setting_space.hpp"

namespace kevo {
namespace {

struct donor {
  const program* source;
  candidate_id id;
  std::vector<std::pair<std::string, std::string>>
      regions;  ///< name and text, of those that differ from the parent's
};

std::vector<donor> donors_of(const variation_request& request, const annotations& own) {
  const candidate_snapshot& parent = *request.parents.front();
  std::vector<donor> result;
  const auto add = [&](const candidate_snapshot& other) {
    if (other.program->language != parent.program->language) return;
    donor one{other.program.get(), other.id, {}};
    try {
      const annotations theirs = parse_annotations(*other.program);
      for (const auto& region : own.regions) {
        const auto* same = theirs.find_region(region.name);
        if (same == nullptr) continue;
        const auto text = region_text(*other.program, *same);
        if (text != region_text(*parent.program, region)) one.regions.emplace_back(region.name, text);
      }
    } catch (const error&) {  // a candidate whose annotations are wrong gives nothing
    }
    if (!one.regions.empty()) result.push_back(std::move(one));
  };
  for (std::size_t i = 1; i < request.parents.size(); ++i) add(*request.parents[i]);
  for (const auto& other : request.inspirations) add(*other);
  return result;
}

// The program with its tunables moved to the nearest valid setting; nothing if there is none near.
std::optional<program> mended(program child, rng& random) {
  const setting_space space(parse_annotations(child));
  const auto now = space.current();
  if (space.valid(now)) return child;
  const auto near = space.nearest_valid(now, random);
  if (!near) return std::nullopt;
  return space.apply(child, *near);
}

}  // namespace

variation_result splice::vary(const variation_request& request, rng& random) const {
  const program& source = *request.parents.front()->program;
  annotations own;
  try {
    own = parse_annotations(source);
  } catch (const error& wrong) {
    return no_proposal{std::string("the parent's annotations are wrong: ") + wrong.what()};
  }
  if (own.regions.empty()) return no_proposal{"the parent has no regions"};
  const auto donors = donors_of(request, own);
  if (donors.empty())
    return no_proposal{
        "no other selected candidate has a region with the name of one of the parent's and a different text"};

  for (std::size_t attempt = 0; attempt < tries && !request.stop.stop_requested(); ++attempt) {
    const donor& from = donors[random.below(donors.size())];
    std::vector<std::size_t> order(from.regions.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    random.shuffle(std::span<std::size_t>(order));
    std::string taken;
    try {
      program child = source;
      for (std::size_t i = 0; i < order.size() && (i == 0 || random.chance(another_region)); ++i) {
        const auto& [name, text] = from.regions[order[i]];
        child = replace_region(child, name, text);
        taken += (taken.empty() ? "" : ", ") + name;
      }
      auto good = mended(std::move(child), random);
      if (!good || *good == source || request.seen(id_of(*good))) continue;
      return proposal{*std::move(good), taken + " from #" + std::to_string(from.id)};
    } catch (const error&) {  // the regions do not fit together: a tunable twice, or a condition without its
                              // tunable
    }
  }
  return no_proposal{"found no unseen combination in " + std::to_string(tries) + " tries"};
}

}  // namespace kevo
