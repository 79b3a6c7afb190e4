// One thread a row  ->  a block of threads a row: iterations of its loops are shared among the threads, and
// what the loops collect is put together by shuffles within a warp and shared memory between warps.
#include <algorithm>

#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

const char* combined(reduction_kind kind) {
  switch (kind) {
    case reduction_kind::sum:
      return "a + b";
    case reduction_kind::product:
      return "a * b";
    case reduction_kind::largest:
      return "a > b ? a : b";
    default:
      return "a < b ? a : b";
  }
}

// The loops right in the body that take up the work; nothing if one of them cannot be shared.
std::vector<counted_loop> shared_loops(const kernel& of, const device_kernel& one) {
  std::vector<counted_loop> found;
  const auto known = definitions_of(of.in, *one.function);
  for (const node& statement : one.body->children) {
    if (statement.kind != node_kind::counted) continue;
    const auto loop = as_counted(of.in, statement);
    std::string why;
    if (!loop || loop->step != "1" || loop->inclusive || loop->whole_steps ||
        has_effects_unknown(of.in, *loop->body) || !reductions_of(of.in, *one.function, *loop->body, why) ||
        !carried_by_arrays(of.in, *loop, known).empty())
      return {};
    found.push_back(*loop);
  }
  return found;
}

/// The text of a function that combines a value of every thread of a block, which has `threads` of them.
std::string block_reduction(const reduction& r, const std::string& name, const std::string& threads) {
  return "// Over all threads of the block, in every thread: within a warp, and then between warps.\n"
         "__device__ __forceinline__ " +
         r.type + " " + name + "(" + r.type +
         " a) {\n"
         "  __shared__ " +
         r.type +
         " parts[32];\n"
         "  for (int distance = 16; distance > 0; distance /= 2) {\n"
         "    const " +
         r.type + " b = __shfl_xor_sync(~0u, a, distance);\n    a = " + combined(r.kind) +
         ";\n  }\n"
         "  if (" +
         threads +
         " == 32) return a;\n"
         "  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = a;\n  __syncthreads();\n"
         "  a = parts[threadIdx.x % (" +
         threads +
         " / 32)];\n"
         "  for (int distance = " +
         threads +
         " / 64; distance > 0; distance /= 2) {\n"
         "    const " +
         r.type + " b = __shfl_xor_sync(~0u, a, distance);\n    a = " + combined(r.kind) +
         ";\n  }\n"
         "  return a;\n}\n";
}

}  // namespace

std::vector<site> cooperate_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    if (one.indices.size() == 1 && one.indices.front().apart == "1" &&
        one.launches.front().block.size() == 1 && one.launches.front().grid.size() == 1 &&
        !shared_loops(of, one).empty())
      found.push_back({0, one.function});
  }
  return found;
}

std::string cooperate(const kernel& of, const site& where, rng& random) {
  const device_kernel one = device_kernel_at(of, where);
  const auto loops = shared_loops(of, one);
  if (loops.empty() || one.indices.size() != 1) throw refusal{"no loops that threads can share"};
  const thread_index& index = one.indices.front();
  const auto guard = guard_of(of, one);
  if (!guard || guard->bounds.size() != 1) throw refusal{"the number of rows is not known"};
  fresh_names fresh(of.in);
  const std::string threads = fresh("threads_of_" + one.function->name);
  changes all;
  all.replace(index.statement->begin, index.statement->end,
              index.variable->written + " " + index.name + " = blockIdx.x;");
  std::string top;
  for (const auto& loop : loops) {
    std::string why;
    const auto collected = reductions_of(of.in, *one.function, *loop.body, why);
    lines to(depth_at(of.in, loop.begin));
    replacements by;
    for (const auto& r : *collected) {
      // Each thread begins with nothing; the first value is added at the end.
      const std::string part = fresh(r.name + "_part");
      by.names[r.variable] = part;
      const bool best = r.kind == reduction_kind::largest || r.kind == reduction_kind::smallest;
      to.add(r.type + " " + part + " = " + (best ? r.name : r.kind == reduction_kind::sum ? "0" : "1") + ";");
    }
    replacements head = by;
    head.nodes[loop.lower_node] =
        loop.lower == "0" ? "threadIdx.x" : grouped(loop.lower) + " + static_cast<int>(threadIdx.x)";
    to.open("for (" + loop.type + " " + loop.index + " = " + head.nodes[loop.lower_node] + "; " + loop.index +
            " < " + loop.upper + "; " + loop.index + " += " + threads + ")");
    for (const node* statement : statements_of(*loop.body)) add_statement(to, of.in, *statement, by);
    to.close();
    for (const auto& r : *collected) {
      const std::string part = by.names[r.variable];
      const std::string name = fresh("all_of_" + r.name);
      const std::string whole = name + "(" + part + ")";
      to.add(r.kind == reduction_kind::sum       ? r.name + " += " + whole + ";"
             : r.kind == reduction_kind::product ? r.name + " *= " + whole + ";"
                                                 : r.name + " = " + whole + ";");
      top += block_reduction(r, name, threads);
    }
    all.replace(loop, to);
  }
  // What is written between the loops is written by one thread.
  for (const node& statement : one.body->children) {
    if (statement.kind == node_kind::counted) continue;
    if (!assigns(of.in, statement)) {
      if (any_of(statement, [&](const node& n) { return n.kind == node_kind::call && !is_pure(n.name); }))
        throw refusal{"the kernel does what is not understood"};
      continue;
    }
    const node& to = bare(statement.children[0]);
    if (to.kind != node_kind::name) all.replace(statement.begin, statement.begin, "if (threadIdx.x == 0) ");
  }
  for (auto line : one.launches) {
    line.grid = {guard->bounds.front().second};
    line.block = {threads};
    put_launch(all, line);
  }
  const std::size_t at = place_for_declarations(of.in);
  all.replace(
      at, at,
      tunable_line(threads, 128 << random.below(4), "32, 64, 128, 256, 512, 1024") + "\n" + top + "\n");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
