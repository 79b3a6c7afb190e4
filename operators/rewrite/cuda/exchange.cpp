// y[n * M + m] = x[m * N + n]  ->  a block reads a tile along the rows of x and writes it along the rows of
// y, through shared memory: neighbouring threads read and write neighbouring elements.
#include <algorithm>

#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

struct grid_index {
  std::string name, type, bound;
  long id = -1;
};

struct plain_copy {
  std::vector<grid_index> indices;
  const node* assignment = nullptr;
};

bool collect_plain(const kernel& of, const device_kernel& one, const node& statement, plain_copy& to) {
  if (statement.kind == node_kind::counted) {
    const auto loop = as_counted(of.in, statement);
    if (!loop || loop->inclusive || loop->whole_steps || loop->lower.find("blockIdx") == std::string::npos ||
        loop->lower.find("threadIdx") == std::string::npos || loop->step.find("gridDim") == std::string::npos)
      return false;
    to.indices.push_back({loop->index, loop->type, loop->upper, loop->id});
    const auto inside = statements_of(*loop->body);
    return inside.size() == 1 && collect_plain(of, one, *inside.front(), to);
  }
  if (statement.kind != node_kind::binary || operator_of(of.in, statement) != "=" || to.assignment != nullptr)
    return false;
  to.assignment = &statement;
  return bare(statement.children[0]).kind == node_kind::subscript &&
         !has_effects_unknown(of.in, statement.children[1]);
}

// A kernel that does nothing but compute one element of an array from elements of others, for two indices.
std::optional<plain_copy> plain_copy_of(const kernel& of, const device_kernel& one) {
  plain_copy found;
  const auto guard = guard_of(of, one);
  for (const node& statement : one.body->children) {
    if (guard && &statement == guard->statement) continue;
    const bool index = std::any_of(one.indices.begin(), one.indices.end(),
                                   [&](const auto& i) { return i.statement == &statement; });
    if (!index && !collect_plain(of, one, statement, found)) return std::nullopt;
  }
  for (const auto& index : one.indices) {
    std::string bound;
    if (guard) {
      for (const auto& [other, text] : guard->bounds) bound = other->id == index.id ? text : bound;
    }
    if (bound.empty()) return std::nullopt;
    std::string type = index.variable->written;
    if (type.substr(0, 6) == "const ") type.erase(0, 6);
    found.indices.push_back({index.name, type, bound, index.id});
  }
  if (found.assignment == nullptr || found.indices.size() != 2) return std::nullopt;
  return found;
}

// Whether neighbours along the index are neighbours in memory.
bool is_fastest(const kernel& of, const node& subscript, const grid_index& index) {
  const auto factor = coefficient(polynomial_of(of.in, subscript.children[1], {}),
                                  index.name + "#" + std::to_string(index.id));
  return factor && constant_of(*factor) == 1;
}

// The index along which the value is read, if it is another one than that along which it is written: its
// number.
std::optional<std::size_t> read_along(const kernel& of, const plain_copy& one) {
  const node& target = bare(one.assignment->children[0]);
  for (const std::size_t i : {0U, 1U}) {
    bool reads = false;
    bool other = false;
    walk(one.assignment->children[1], [&](const node& n) {
      if (n.kind == node_kind::subscript) {
        reads = reads || is_fastest(of, n, one.indices[i]);
        other = other || is_fastest(of, n, one.indices[1 - i]);
      }
      return true;
    });
    if (reads && !other && is_fastest(of, target, one.indices[1 - i])) return i;
  }
  return std::nullopt;
}

}  // namespace

std::vector<site> exchange_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    const auto copy = plain_copy_of(of, one);
    if (copy && one.launches.size() == 1 && read_along(of, *copy)) found.push_back({0, one.function});
  }
  return found;
}

std::string exchange(const kernel& of, const site& where, rng& random) {
  const device_kernel one = device_kernel_at(of, where);
  const auto copy = plain_copy_of(of, one);
  const auto along = copy ? read_along(of, *copy) : std::nullopt;
  if (!along) throw refusal{"reads and writes lie in the same order"};
  const grid_index& read = copy->indices[*along];
  const grid_index& write = copy->indices[1 - *along];
  fresh_names fresh(of.in);
  const std::string threads = fresh("threads_of_" + one.function->name);
  const std::string across = fresh("tile_" + read.name);
  const std::string down = fresh("tile_" + write.name);
  const std::string pad = fresh("pad");
  const std::string tile = fresh("tile");
  const std::string step = fresh("step");
  std::string type = copy->assignment->children[0].type;
  if (type.find_first_of("*&[(") != std::string::npos) throw refusal{"the type of an element"};
  const std::string target(of.in.of(copy->assignment->children[0]));
  const std::string value(of.in.of(copy->assignment->children[1]));
  const std::string count = down + " * " + across + " / " + threads;
  const std::string test =
      "if (" + write.name + " < " + write.bound + " && " + read.name + " < " + read.bound + ") ";
  const auto place = [&](lines& to, const grid_index& index, const std::string& within) {
    to.add("const " + index.type + " " + index.name + " = first_" + index.name + " + " + within + ";");
  };
  lines to(0);
  to.open("");
  to.add("__shared__ " + type + " " + tile + "[" + down + "][" + across + " + " + pad + "];");
  to.add("const int tiles_across = static_cast<int>((" + read.bound + " + " + across + " - 1) / " + across +
         ");");
  to.add("const " + write.type + " first_" + write.name + " = static_cast<" + write.type +
         ">(blockIdx.x / tiles_across) * " + down + ";");
  to.add("const " + read.type + " first_" + read.name + " = static_cast<" + read.type +
         ">(blockIdx.x % tiles_across) * " + across + ";");
  to.add("const bool whole = first_" + write.name + " + " + down + " <= " + write.bound + " && first_" +
         read.name + " + " + across + " <= " + read.bound + ";");
  // A thread keeps its place along the fast index, so that its addresses differ by constants.
  const auto pass = [&](bool reading, bool guarded) {
    const grid_index& fast = reading ? read : write;
    const grid_index& slow = reading ? write : read;
    const std::string width = reading ? across : down;
    to.add("#pragma unroll");
    to.open("for (int " + step + " = 0; " + step + " < " + count + "; ++" + step + ")");
    to.add("const int slow = " + step + " * (" + threads + " / " + width +
           ") + static_cast<int>(threadIdx.x) / " + width + ";");
    to.add("const int fast = static_cast<int>(threadIdx.x) % " + width + ";");
    place(to, fast, "fast");
    place(to, slow, "slow");
    const std::string element = tile + (reading ? "[slow][fast]" : "[fast][slow]");
    to.add((guarded ? test : "") + (reading ? element + " = " + value : target + " = " + element) + ";");
    to.close();
  };
  for (const bool reading : {true, false}) {
    to.open("if (whole)");
    pass(reading, false);
    to.otherwise();
    pass(reading, true);
    to.close();
    if (reading) to.add("__syncthreads();");
  }
  to.close();
  changes all;
  std::string body = to.text();
  body.erase(0, body.find('{'));
  if (!body.empty()) body.pop_back();
  all.replace(one.body->begin, one.body->end, body);
  for (auto line : one.launches) {
    line.grid = {"ceildiv(" + write.bound + ", " + down + ") * ceildiv(" + read.bound + ", " + across + ")"};
    line.block = {threads};
    put_launch(all, line);
  }
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top,
              tunable_line(threads, 256, "64, 128, 256, 512, 1024") +
                  tunable_line(across, 32 << random.below(2), "16, 32, 64, 128") +
                  tunable_line(down, 32 << random.below(2), "16, 32, 64, 128") +
                  tunable_line(pad, 1, "0, 1, 2, 4") + "// kevo: require " + down + " * " + across + " % " +
                  threads + " == 0 && " + threads + " % " + across + " == 0 && " + threads + " % " + down +
                  " == 0 && 4 * " + down + " * (" + across + " + " + pad + ") <= 48 * 1024\n");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
