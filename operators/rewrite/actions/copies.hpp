#pragma once
// What `jam` and `split` share: both run several iterations together, as the copies of widen.hpp. Where the
// loop contains another one, that is unroll and jam; where it only sums, it makes several sums of one.

#include <string>

#include "operators/rewrite/action.hpp"

namespace kevo::rewriting {

/// Whether the loop has been given several iterations at a time already.
bool has_copies(const placed_loop& which);
/// The source in which the loop of the site runs a tunable number of iterations together.
std::string with_copies(const kernel& of, const site& where, rng& random);

}  // namespace kevo::rewriting
