#pragma once
// What `hoist` and `reciprocal` share: expressions that stay the same while a loop runs, so that they can be
// computed before it.

#include <functional>
#include <vector>

#include "operators/rewrite/action.hpp"

namespace kevo::rewriting {

/// A site at each node in the body of a loop for which `wanted` is true; it is asked with the innermost loop
/// around the node.
std::vector<site> sites_in_loops(const kernel& of,
                                 const std::function<bool(const placed_loop&, const node&)>& wanted);

/// Whether it is a floating-point number that depends on variables, none of which changes in the loop.
bool is_real_invariant(const kernel& of, const node& expression, const placed_loop& place);

/// The outermost of the loops in which the expression does not change; null if there is none.
const placed_loop* loop_to_leave(const kernel& of, const node& expression);

}  // namespace kevo::rewriting
