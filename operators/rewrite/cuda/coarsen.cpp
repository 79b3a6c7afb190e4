// One thread has several indices: what it loads for one of them is in registers for the others (unroll and
// jam over threads).
#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"
#include "operators/rewrite/widen.hpp"

namespace kevo::rewriting {
namespace {

bool is_coarse(const thread_index& index) {
  return index.block.find("copies_") != std::string::npos;
}

}  // namespace

std::vector<site> coarsen_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    if (guard_of(of, one)) continue;
    for (const auto& index : one.indices) {
      const bool work = any_of(*one.body, [](const node& n) { return n.kind == node_kind::counted; });
      if (!is_coarse(index)) found.push_back({0, index.statement, work ? 2.0 : 1.0});
    }
  }
  return found;
}

std::string coarsen(const kernel& of, const site& where, rng& random) {
  const device_kernel one = device_kernel_at(of, where);
  const thread_index* index = nullptr;
  for (const auto& other : one.indices) {
    if (other.statement->begin == where.at->begin) index = &other;
  }
  if (index == nullptr || index->apart != "1") throw refusal{"no index that one thread has"};
  fresh_names fresh(of.in);
  widened_names names;
  names.count = fresh("copies_" + index->name);
  names.copy = fresh(index->name + "_copy");
  const std::string threads = one.threads(index->axis);
  if (threads != index->block) throw refusal{"a block covers another number of indices than it has threads"};
  // Neighbouring threads read neighbouring elements along the fastest axis; along others one thread has them.
  const bool adjacent = index->axis != 'x' || random.chance(0.2);

  node body;
  body.kind = node_kind::block;
  bool behind = false;
  std::size_t end = index->statement->end;
  for (const node& statement : one.body->children) {
    if (behind) {
      body.children.push_back(statement);
      end = end_of_statement(of.in, statement);
    }
    behind = behind || &statement == index->statement;
  }
  body.begin = index->statement->end;
  body.end = end;
  if (any_of(body, [](const node& n) { return n.kind == node_kind::returned; }))
    throw refusal{"threads return early"};
  placed_loop loop;
  loop.function = one.function;
  loop.loop.at = index->statement;
  loop.loop.body = &body;
  loop.loop.index = index->name;
  loop.loop.id = index->id;
  loop.loop.step = adjacent ? "1" : threads;
  lines to(depth_at(of.in, index->statement->begin));
  to.add(index->variable->written + " " + index->name + " = blockIdx." + index->axis + " * (" + threads +
         " * " + names.count + ") + threadIdx." + index->axis + (adjacent ? " * " + names.count : "") + ";");
  to.append(widened_body(of.in, loop, names, fresh));
  changes all;
  all.replace(index->statement->begin - 2 * static_cast<std::size_t>(to.depth()), end,
              to.text().substr(0, to.text().size() - 1));
  for (auto line : one.launches) {
    if (one.axis(index->axis) >= line.grid.size()) throw refusal{"the grid has no such axis"};
    auto& grid = line.grid[one.axis(index->axis)];
    const std::string other = with_word(grid, threads, threads + " * " + names.count);
    if (other == grid || grid.find("ceildiv") == std::string::npos)
      throw refusal{"the grid is not a number of blocks"};
    grid = other;
    put_launch(all, line);
  }
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top, tunable_line(names.count, 2 << random.below(3), "1, 2, 4, 8, 16"));
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
