#pragma once
// At how many places the code of a program lies in the pairs of a confirmation.

#include <cstddef>
#include <numeric>

#include "fitness/timing/looks.hpp"

namespace kevo {

/// Each process of a pair has the next of the places, so that the pairs come back to the places of the first
/// one after so many: pairs at the same places count as one value.
inline std::size_t pairs_at_other_places(std::size_t places, std::size_t processes) {
  return places / std::gcd(places, processes);
}

/// Places that a program must have been linked for before a pair. Most confirmations end soon, and a link
/// takes about as long as a pair; but fewer values than `fewest_pairs` have no interval.
inline std::size_t places_for_pair(std::size_t pair, std::size_t processes) {
  constexpr std::size_t at_first = 8;
  constexpr std::size_t at_most = 16;
  const bool enough =
      pair < at_first && pairs_at_other_places(at_first, processes) >= std::size_t{fewest_pairs};
  return enough ? at_first : at_most;
}

}  // namespace kevo
