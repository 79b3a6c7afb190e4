#pragma once
// Several iterations of a loop at once. Loops inside of it are run once for all of them, so that what they
// load is used several times, and what the iterations compute lies in registers. Two forms:
//   - copies: the innermost statements stand in a short loop over the copies, which a compiler unrolls
//     (unroll and jam; for a loop that sums, several sums)
//   - lanes: values become vectors of the compiler (vector types)
// The iterations that are left over keep the loop as it was.

#include <optional>
#include <string>

#include "operators/rewrite/loops.hpp"
#include "operators/rewrite/text.hpp"

namespace kevo::rewriting {

enum class widening : std::uint8_t { copies, lanes };

/// The names that a widening introduces.
struct widened_names {
  std::string count;   ///< constant: number of copies or lanes
  std::string copy;    ///< index of a copy or a lane
  std::string vector;  ///< lanes: the vector's type
  std::string place;   ///< lanes: function that takes a place in memory as a vector
  std::string words;   ///< lanes: vector of integers of the same size
};

/// The loop, widened, and then the loop for what is left over. `element` is the type of the lanes' elements.
/// Throws `refusal` if the loop cannot be widened in this form.
lines widened(const parsed_source& in, const placed_loop& which, widening how, const widened_names& names,
              const std::string& element, fresh_names& fresh);

/// The statements of a body that runs for one index, for several copies of it. `which` needs a function and,
/// of its loop, the index, the body and the step between copies. CUDA's compiler reads `#pragma unroll`.
lines widened_body(const parsed_source& in, const placed_loop& which, const widened_names& names,
                   fresh_names& fresh);

/// The type of the elements that a vector would have: float, double, int, ...; nothing if there are several.
std::optional<std::string> element_type(const parsed_source& in, const placed_loop& which);

}  // namespace kevo::rewriting
