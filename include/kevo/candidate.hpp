#pragma once
// The candidate, a vertex of the search graph: its number, the snapshot that operators see, and the store for
// sources and full evaluations. The search itself keeps only little data of each candidate in memory.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// Number of a candidate within its run, from 0, in the order in which candidates are created. The number of
/// a parent is always smaller than that of its child.
using candidate_id = std::uint32_t;
/// The value that means "no candidate".
inline constexpr candidate_id no_candidate = std::numeric_limits<candidate_id>::max();

/// Number of an operator within its run, from 0, in the order of `search_parts::operators`.
using operator_index = std::uint16_t;
/// The operator index of seeds, which no operator made.
inline constexpr operator_index seed_operator = std::numeric_limits<operator_index>::max();

/// A candidate as operators see it: an immutable copy that stays valid while the search goes on.
struct candidate_snapshot {
  candidate_id id = no_candidate;
  std::shared_ptr<const kevo::program> program;        ///< never null
  std::shared_ptr<const kevo::evaluation> evaluation;  ///< the latest; null if none is finished yet
  std::string operator_name;                           ///< "seed" for seeds
  std::vector<candidate_id> parents;                   ///< in the order in which the operator received them
  /// The summary of the proposal: in one line, what the operator says it has changed. It is kept only for
  /// operators that are not replayable, such as those that ask a language model; otherwise it is empty.
  std::string summary{};
};

/// A store for sources and full evaluations: in memory (memory_store.hpp), or a journal with a cache. The
/// coordinator's thread calls all four functions; other threads call `program_of` too, so it must be
/// thread-safe.
struct candidate_store {
  /// Stores a program under its content id. Storing it again has no effect.
  std::function<void(const content_id&, std::shared_ptr<const program>)> put_program;
  /// The source of a program; null if unknown.
  std::function<std::shared_ptr<const program>(const content_id&)> program_of;
  /// Stores the latest evaluation of a candidate, in place of an earlier one.
  std::function<void(candidate_id, std::shared_ptr<const evaluation>)> put_evaluation;
  std::function<std::shared_ptr<const evaluation>(candidate_id)> evaluation_of;  ///< the latest; null if none
};

}  // namespace kevo
