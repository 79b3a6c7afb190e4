#include "src/journal/event_order.hpp"

#include <variant>
#include <vector>

#include <fmt/format.h>

#include <kevo/error.hpp>

namespace kevo::detail {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw error(error_code::input, what + ": a search never records this; the journal was changed or damaged");
}

void require_born(candidate_id id, std::size_t born) {
  if (id < born) return;
  refuse(fmt::format("the event names candidate {}, but only {} candidates existed", id, born));
}

void require_born(const std::vector<candidate_id>& ids, std::size_t born) {
  for (const candidate_id id : ids) require_born(id, born);
}

void bear(candidate_id id, std::size_t& born) {
  if (id != born) refuse(fmt::format("the new candidate has the number {} instead of {}", id, born));
  ++born;
}

}  // namespace

void event_order::require(const event& next) {
  if (const auto* seed = std::get_if<seeded>(&next.payload)) {
    bear(seed->candidate, born_);
  } else if (const auto* asked = std::get_if<variation_asked>(&next.payload)) {
    if (asked->op != seed_operator && asked->op >= operators_)
      refuse(fmt::format("the event names operator {}, but the run has only {} operators", asked->op,
                         operators_));
    require_born(asked->selection.parents, born_);
    require_born(asked->selection.inspirations, born_);
  } else if (const auto* told = std::get_if<variation_told>(&next.payload)) {
    if (told->candidate == no_candidate) return;
    told->duplicate ? require_born(told->candidate, born_) : bear(told->candidate, born_);
  } else if (const auto* evaluate = std::get_if<evaluation_asked>(&next.payload)) {
    require_born(evaluate->candidate, born_);
  } else if (const auto* evaluated = std::get_if<evaluation_told>(&next.payload)) {
    require_born(evaluated->candidate, born_);
  } else if (const auto* crowned = std::get_if<champion_crowned>(&next.payload)) {
    if (crowned->candidate != no_candidate) require_born(crowned->candidate, born_);
  } else if (const auto* met = std::get_if<baseline_met>(&next.payload)) {
    require_born(met->candidate, born_);
  } else if (const auto* filtered = std::get_if<proposals_filtered>(&next.payload)) {
    require_born(filtered->passed, born_);
    for (const auto& one : filtered->dropped) require_born(one.candidate, born_);
  }
}

}  // namespace kevo::detail
