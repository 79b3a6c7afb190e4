#pragma once
// The candidate: a vertex of the search graph. What the search keeps of it in memory is small; sources and
// full evaluations live in a candidate_store.

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

/// Number of a candidate within its run, from 0 in order of birth. Parents are always smaller.
using candidate_id = std::uint32_t;
inline constexpr candidate_id no_candidate = std::numeric_limits<candidate_id>::max();

/// Number of an operator within its run; `seed_operator` marks seeds, which no operator made.
using operator_index = std::uint16_t;
inline constexpr operator_index seed_operator = std::numeric_limits<operator_index>::max();

/// A candidate as operators see it: an immutable snapshot that outlives whatever the search does next.
struct candidate_snapshot {
  candidate_id id = no_candidate;
  std::shared_ptr<const kevo::program> program;
  std::shared_ptr<const kevo::evaluation> evaluation;  ///< the latest; null while none is finished
  std::string operator_name;                           ///< "seed" for seeds
  std::vector<candidate_id> parents;
};

/// Where sources and full evaluations are kept: memory, or a journal with a cache before it.
/// All four are called on the coordinator's thread, except `program_of`, which must be thread-safe.
struct candidate_store {
  std::function<void(const content_id&, std::shared_ptr<const program>)> put_program;
  std::function<std::shared_ptr<const program>(const content_id&)> program_of;  ///< null if unknown
  std::function<void(candidate_id, std::shared_ptr<const evaluation>)> put_evaluation;
  std::function<std::shared_ptr<const evaluation>(candidate_id)> evaluation_of;  ///< the latest; null if none
};

}  // namespace kevo
