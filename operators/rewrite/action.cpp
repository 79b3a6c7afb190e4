#include "operators/rewrite/action.hpp"

#include <array>
#include <set>

#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {

std::span<const action> actions() {
  static constexpr std::array all = {
      action{"interchange", "exchanges two loops, one of which is all that the other one contains", 1,
             interchange_sites, interchange},
      action{"tile", "runs a loop in blocks, and the loop around it once for each block", 1, tile_sites,
             tile},
      action{"jam", "runs several iterations of an outer loop together (unroll and jam)", 4, jam_sites, jam,
             action_language::both},
      action{"split", "collects a sum or a maximum in several variables", 2, split_sites, split,
             action_language::both},
      action{"vectorize", "runs iterations as the lanes of a vector", 6, vectorize_sites, vectorize},
      action{"unroll", "tells the compiler how often to unroll a loop", 0.4, unroll_sites, unroll,
             action_language::both},
      action{"simd", "tells the compiler that iterations are independent, or which variables collect", 0.5,
             simd_sites, simd},
      action{"privatize", "counts in several copies of a small array", 3, privatize_sites, privatize},
      action{"peel", "takes the first and the last iteration out of a loop that treats them apart", 3,
             peel_sites, peel},
      action{"pack", "copies what a loop reads into the order in which it reads it", 1, pack_sites, pack},
      action{"scalar", "keeps an element of an array in a variable while a loop runs", 2, scalar_sites,
             scalar},
      action{"hoist", "computes what does not change in a loop before it", 1, hoist_sites, hoist,
             action_language::both},
      action{"reciprocal", "multiplies by a reciprocal that is computed once", 1.5, reciprocal_sites,
             reciprocal, action_language::both},
      action{"approximate", "replaces the library's exp by a polynomial", 4, approximate_sites, approximate},
      action{"fuse", "makes one loop of two neighbours", 1, fuse_sites, fuse, action_language::both},
      action{"distribute", "makes two loops of one", 1, distribute_sites, distribute, action_language::both},
      action{"restrict", "says that the kernel's arrays do not overlap", 0.3, restrict_pointers_sites,
             restrict_pointers, action_language::both},
      action{"prefetch", "asks for what a loop will read before it reads it", 0.2, prefetch_sites, prefetch},
      action{"select", "replaces a branch by a conditional expression", 2, select_sites, select,
             action_language::both},
      action{"keep", "keeps the memory of a std::vector from call to call", 3, keep_sites, keep},
      action{"threads", "shares the iterations of a loop among threads (OpenMP)", 3,
             share_among_threads_sites, share_among_threads},
      action{"block", "makes the block's size tunable", 3, block_sites, block, action_language::cuda},
      action{"blocks", "makes the number of blocks tunable", 2, blocks_sites, blocks, action_language::cuda},
      action{"swap_axes", "exchanges which index is the fastest among threads", 1, swap_axes_sites, swap_axes,
             action_language::cuda},
      action{"launch_bounds", "tells the compiler how many blocks a multiprocessor has to hold", 0.3,
             launch_bounds_sites, launch_bounds, action_language::cuda},
      action{"converge", "lets all threads of a block run to the end", 8, converge_sites, converge,
             action_language::cuda},
      action{"coarsen", "gives one thread several indices", 12, coarsen_sites, coarsen,
             action_language::cuda},
      action{"stage", "copies what a block reads in a loop to shared memory, ahead of the arithmetic", 8,
             stage_sites, stage, action_language::cuda},
      action{"cooperate", "shares the loops of one thread among a block of threads", 6, cooperate_sites,
             cooperate, action_language::cuda},
      action{"exchange", "reads and writes in different orders through a tile in shared memory", 6,
             exchange_sites, exchange, action_language::cuda},
      action{"wide_loads", "takes four elements at once", 4, wide_loads_sites, wide_loads,
             action_language::cuda},
      action{"split_k", "shares a sum among blocks and adds their parts in a second kernel", 0.7,
             split_k_sites, split_k, action_language::cuda},
      action{"persistent", "lets as many blocks as fit take piece after piece of the work", 0.7,
             persistent_sites, persistent, action_language::cuda},
      action{"fuse_kernels", "makes one kernel of two that are launched in the same way", 3,
             fuse_kernels_sites, fuse_kernels, action_language::cuda},
  };
  return all;
}

std::string place_of(const kernel& of, const site& where) {
  if (where.at != nullptr) return "line " + std::to_string(line_of(of.in, where.at->begin));
  const auto& loop = of.loops.at(where.loop).loop;
  return "loop " + loop.index + " in line " + std::to_string(line_of(of.in, loop.at->begin));
}

bool is_short(const kernel& of, const placed_loop& which) {
  const auto trips = which.loop.trips(of.in);
  return trips && *trips <= 64;
}

bool has_long_loop_inside(const kernel& of, const placed_loop& which) {
  for (const auto& other : of.loops) {
    if (other.loop.at->begin > which.loop.at->begin && other.loop.at->end <= which.loop.at->end &&
        !is_short(of, other))
      return true;
  }
  return false;
}

std::string tunable_line(const std::string& name, int value, const std::string& domain) {
  return "constexpr int " + name + " = " + std::to_string(value) + ";  // kevo: {" + domain + "}\n";
}

bool is_rest(const placed_loop& which) {
  const auto left_over = [](const std::string& lower) {
    return lower.find(" / ") != std::string::npos && lower.find(" * ") != std::string::npos;
  };
  return left_over(which.loop.lower) || which.in_rest;
}

const placed_loop* loop_around(const kernel& of, const node& one) {
  const placed_loop* found = nullptr;
  for (const auto& other : of.loops) {
    if (other.loop.body->begin <= one.begin && one.end <= other.loop.body->end) found = &other;
  }
  return found;
}

std::optional<counted_loop> only_loop_in(const kernel& of, const counted_loop& outer) {
  const auto inside = statements_of(*outer.body);
  if (inside.size() != 1) return std::nullopt;
  auto inner = as_counted(of.in, *inside.front());
  if (!inner) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    if (mentions(inner->at->children[i], outer.id)) return std::nullopt;
  }
  return inner;
}

bool is_invariant(const kernel& of, const node& expression, const counted_loop& in) {
  std::set<long> changed = declared_in(*in.body);
  changed.insert(in.id);
  bool memory = false;
  walk(*in.body, [&](const node& n) {
    if (assigns(of.in, n)) {
      if (const node* root = root_of(n.children[0])) changed.insert(root->declared);
      memory = memory || bare(n.children[0]).kind != node_kind::name;
    }
    return true;
  });
  return !has_effects_unknown(of.in, expression) && !any_of(expression, [&](const node& n) {
    return (n.kind == node_kind::name && changed.contains(n.declared)) || assigns(of.in, n) ||
           (n.kind == node_kind::subscript && memory);
  });
}

void put_before(changes& all, const kernel& of, const placed_loop& loop, const std::string& line) {
  if (loop.around.empty() || loop.around.back()->kind != node_kind::block)
    throw refusal{"the loop does not stand in a block"};
  const std::string indent(static_cast<std::size_t>(2 * depth_at(of.in, loop.loop.begin)), ' ');
  all.replace(loop.loop.begin, loop.loop.begin, line + "\n" + indent);
}

}  // namespace kevo::rewriting
