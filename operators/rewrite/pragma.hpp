#pragma once
// A loop written again with a pragma in front of it.

#include <string>
#include <vector>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {

/// The source with `pragma`, and a clause of OpenMP for each of the reductions, in front of the loop.
std::string with_pragma(const kernel& of, const placed_loop& which, std::string pragma,
                        const std::vector<reduction>& collected);

}  // namespace kevo::rewriting
