#pragma once
// What `fuse` and `distribute` share: whether two groups of statements can run in one loop as well as in two.

#include <string>
#include <vector>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {

/// Why it matters whether `first` and `second` run in one loop, in turns, or in two loops, one behind the
/// other; empty if nothing is known against either. What one group writes and the other one uses must be the
/// element of the same iteration. The loops are those around each group, which may be the same one.
std::string conflict_of_parts(const kernel& of, const node& function, const std::vector<const node*>& first,
                              const counted_loop& first_loop, const std::vector<const node*>& second,
                              const counted_loop& second_loop);

}  // namespace kevo::rewriting
