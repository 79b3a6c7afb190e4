// What a block reads in a loop goes to shared memory, a piece of the loop at a time, by asynchronous copies
// that run ahead of the arithmetic.
//
//   for k { sum += A[m, k] * B[k, n]; }  ->  for blocks of k { copy a tile of A and one of B; for k in the
//   block { ... } }
#include <algorithm>

#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

struct tile {
  const node* access = nullptr;
  const thread_index* index = nullptr;
  const node* inside = nullptr;  // the call of inside(...) that clamps the index
  std::string name;
  std::string type;
  bool along_loop = false;  // neighbours in memory are neighbours along the loop
};

bool is_short_loop(const kernel& of, long id) {
  return std::any_of(of.loops.begin(), of.loops.end(), [&](const placed_loop& other) {
    return other.loop.id == id && other.loop.lower == "0" && other.loop.upper.find("copies_") == 0;
  });
}

// An element of the tile, if the access has one index of threads and depends on the loop otherwise.
std::optional<tile> tile_of(const kernel& of, const device_kernel& one, const counted_loop& loop,
                            const node& access) {
  const node& base = bare(access.children[0]);
  if (base.kind != node_kind::name || base.type.substr(0, 6) != "const " ||
      base.type.find('*') == std::string::npos)
    return std::nullopt;
  tile found;
  found.access = &access;
  bool good = true;
  walk(access.children[1], [&](const node& n) {
    if (n.kind == node_kind::call) {
      if (n.name != "inside" || n.children.size() != 3 || found.inside != nullptr) {
        good = false;
        return false;
      }
      found.inside = &n;
      walk(n.children[1], [&](const node& inner) {
        if (inner.kind != node_kind::name || inner.declared < 0) return true;
        if (const thread_index* index = one.index_of(inner.declared)) {
          good = good && found.index == nullptr;
          found.index = index;
        } else if (inner.type.substr(0, 6) != "const ") {
          good = good && is_short_loop(of, inner.declared);
        }
        return true;
      });
      return false;
    }
    if (n.kind == node_kind::name && n.declared != loop.id)
      good = good && !declared_in(*one.body).contains(n.declared);
    if (n.kind == node_kind::subscript) good = false;
    return good;
  });
  if (!good || found.index == nullptr || !mentions(access, loop.id)) return std::nullopt;
  const auto known = definitions_of(of.in, *one.function);
  const auto factor = coefficient(polynomial_of(of.in, access.children[1], known),
                                  loop.index + "#" + std::to_string(loop.id));
  found.along_loop = factor && constant_of(*factor) == 1;
  found.type = access.type.substr(0, 6) == "const " ? access.type.substr(6) : access.type;
  if (found.type != "float" && found.type != "int" && found.type != "unsigned int") return std::nullopt;
  return found;
}

// Whether all that the loop does is to add products of which each has a staged factor: zeros behind the end
// add nothing.
bool adds_products(const kernel& of, const counted_loop& loop, const std::vector<tile>& tiles) {
  bool good = true;
  walk(*loop.body, [&](const node& n) {
    if (n.kind == node_kind::subscript) {
      const bool staged = std::any_of(tiles.begin(), tiles.end(),
                                      [&](const tile& t) { return of.in.of(*t.access) == of.in.of(n); });
      const node* root = root_of(n);
      good = good && (staged || (root != nullptr && root->type.find('[') != std::string::npos));
      return false;
    }
    if (!assigns(of.in, n) || (n.kind == node_kind::unary && operator_of(of.in, n) == "++")) return true;
    const node& value = n.kind == node_kind::binary ? bare(n.children[1]) : n;
    good = good && operator_of(of.in, n) == "+=" && value.kind == node_kind::binary &&
           operator_of(of.in, value) == "*" && bare(value.children[0]).kind == node_kind::subscript &&
           bare(value.children[1]).kind == node_kind::subscript;
    return good;
  });
  return good;
}

const counted_loop* stageable(const kernel& of, const device_kernel& one, const placed_loop& place) {
  const counted_loop& loop = place.loop;
  if (place.function != one.function || place.around.empty() || place.around.back() != one.body)
    return nullptr;
  if (loop.step != "1" || loop.inclusive || loop.whole_steps || guard_of(of, one)) return nullptr;
  if (is_short_loop(of, loop.id)) return nullptr;  // over the indices that one thread has
  const auto own = declared_in(*one.body);
  for (const node* bound : {loop.lower_node, loop.upper_node}) {
    if (any_of(*bound,
               [&](const node& n) { return own.contains(n.declared) || of.in.of(n).find("threadIdx") == 0; }))
      return nullptr;
  }
  return &loop;
}

std::vector<tile> tiles_of(const kernel& of, const device_kernel& one, const counted_loop& loop) {
  std::vector<tile> found;
  for (const auto& access : accesses_in(of.in, *loop.body, definitions_of(of.in, *one.function))) {
    const bool seen = std::any_of(found.begin(), found.end(),
                                  [&](const tile& t) { return of.in.of(*t.access) == of.in.of(*access.at); });
    if (access.written || seen) continue;
    if (auto made = tile_of(of, one, loop, *access.at)) found.push_back(*std::move(made));
  }
  return found;
}

// The number of a thread in its block.
std::string thread_number(const device_kernel& one) {
  const auto& block = one.launches.front().block;
  if (block.size() == 1) return "static_cast<int>(threadIdx.x)";
  if (block.size() == 2) return "static_cast<int>(threadIdx.y * " + grouped(block[0]) + " + threadIdx.x)";
  throw refusal{"a block with three axes"};
}

// The loop, its tiles and the names that the change introduces.
struct staging {
  const kernel& of;
  const device_kernel& one;
  const counted_loop& loop;
  std::vector<tile> tiles;
  std::string depth, stages, start, inner, slot, thread, fetch, pad;
};

void write_tiles(lines& to, const staging& s) {
  for (const auto& t : s.tiles) {
    to.add("__shared__ __align__(16) " + t.type + " " + t.name + "[" + s.stages + "][" + s.depth + "][" +
           grouped(t.index->block) + " + " + s.pad + "];");
  }
  to.add("const int " + s.thread + " = " + thread_number(s.one) + ";");
}

// A function that asks for the tiles that begin at `start`.
void write_fetch(lines& to, const staging& s) {
  to.open("const auto " + s.fetch + " = [&](" + s.loop.type + " " + s.start + ", int " + s.slot + ")");
  for (const auto& t : s.tiles) {
    const std::string extent = grouped(t.index->block);
    to.add("#pragma unroll");
    to.open("for (int at = " + s.thread + "; at < " + extent + " * " + s.depth +
            "; at += " + threads_of_block(s.one) + ")");
    to.add("const int row = at" + (t.along_loop ? " / " + s.depth : " % " + extent) + ";");
    to.add("const int step = at" + (t.along_loop ? " % " + s.depth : " / " + extent) + ";");
    replacements by;
    by.names[s.loop.id] = "(there ? " + s.start + " + step : " + s.loop.lower + ")";
    by.names[t.index->id] =
        "(static_cast<int>(blockIdx." + std::string(1, t.index->axis) + ") * " + extent + " + row)";
    walk(*t.inside, [&](const node& n) {
      if (n.kind == node_kind::name && is_short_loop(s.of, n.declared)) by.names[n.declared] = "0";
      return true;
    });
    to.add("const bool there = " + s.start + " + step < " + s.loop.upper + ";");
    to.add("copy_async(&" + t.name + "[" + s.slot + "][step][row], &" + written(s.of.in, *t.access, by) +
           ", there);");
    to.close();
  }
  to.add("commit_copies();");
  to.close("};");
}

// The loop's body, which reads the tiles.
void write_body(lines& to, const staging& s) {
  if (adds_products(s.of, s.loop, s.tiles)) {
    to.add("#pragma unroll");
    to.open("for (int " + s.inner + " = 0; " + s.inner + " < " + s.depth + "; ++" + s.inner + ")");
  } else {
    to.open("for (int " + s.inner + " = 0; " + s.inner + " < " + s.depth + " && " + s.start + " + " +
            s.inner + " < " + s.loop.upper + "; ++" + s.inner + ")");
  }
  replacements by;
  by.names[s.loop.id] = "(" + s.start + " + " + s.inner + ")";
  walk(*s.loop.body, [&](const node& n) {
    for (const auto& t : s.tiles) {
      if (n.kind != node_kind::subscript || s.of.in.of(n) != s.of.in.of(*t.access)) continue;
      replacements local;
      const std::string axis = std::string("threadIdx.") + t.index->axis;
      local.names[t.index->id] = t.index->apart == "1" ? axis : axis + " * " + t.index->apart;
      by.nodes[&n] = t.name + "[" + s.slot + "][" + s.inner + "][" +
                     written(s.of.in, t.inside->children[1], local) + "]";
    }
    return true;
  });
  for (const node* statement : statements_of(*s.loop.body)) add_statement(to, s.of.in, *statement, by);
  to.close();
}

void write_loop(lines& to, const staging& s) {
  const counted_loop& loop = s.loop;
  const std::string ahead = s.stages + " - 1";
  to.add("#pragma unroll");
  to.add("for (int ahead = 0; ahead < " + ahead + "; ++ahead) " + s.fetch + "(" + loop.lower + " + ahead * " +
         s.depth + ", ahead);");
  to.add("int " + s.slot + " = 0;");
  to.open("for (" + loop.type + " " + s.start + " = " + loop.lower + "; " + s.start + " < " + loop.upper +
          "; " + s.start + " += " + s.depth + ")");
  to.add(s.fetch + "(" + s.start + " + (" + ahead + ") * " + s.depth + ", (" + s.slot + " + " + ahead +
         ") % " + s.stages + ");");
  to.add("wait_for_copies<" + ahead + ">();");
  to.add("__syncthreads();");
  write_body(to, s);
  to.add("__syncthreads();");
  to.add(s.slot + " = (" + s.slot + " + 1) % " + s.stages + ";");
  to.close();
  to.add("wait_for_copies<0>();");
}

constexpr const char* helpers = R"(template <class T>
__device__ __forceinline__ void copy_async(T* shared, const T* global, bool there) {
  // four bytes, or zeros
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global), "r"(there ? 4 : 0));
}
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;");
}
template <int later>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(later) : "memory");
}
)";

}  // namespace

std::vector<site> stage_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    for (std::size_t i = 0; i < of.loops.size(); ++i) {
      const counted_loop* loop = stageable(of, one, of.loops[i]);
      if (loop != nullptr && !tiles_of(of, one, *loop).empty()) {
        const bool coarse = of.in.of(*one.body).find("copies_") != std::string_view::npos;
        found.push_back({i, nullptr, coarse ? 4.0 : 0.5});  // registers first
      }
    }
  }
  return found;
}

std::string stage(const kernel& of, const site& where, rng& random) {
  const device_kernel one = device_kernel_at(of, where);
  const counted_loop* loop = stageable(of, one, of.loops.at(where.loop));
  if (loop == nullptr || has_effects_unknown(of.in, *loop->body))
    throw refusal{"the loop does what is not understood"};
  fresh_names fresh(of.in);
  const std::string& k = loop->index;
  staging s{of,
            one,
            *loop,
            tiles_of(of, one, *loop),
            fresh("tile_" + k),
            fresh("stages_" + k),
            fresh(k + "_start"),
            fresh(k + "_inner"),
            fresh("slot"),
            fresh("thread"),
            fresh("fetch"),
            fresh("pad")};
  if (s.tiles.empty()) throw refusal{"nothing to stage"};
  std::string floats;
  for (auto& t : s.tiles) {
    t.name = fresh(root_of(*t.access)->name + "_tile");
    floats += (floats.empty() ? "" : " + ") + t.index->block + " + " + s.pad;
  }
  lines to(depth_at(of.in, loop->begin));
  write_tiles(to, s);
  write_fetch(to, s);
  write_loop(to, s);
  changes all;
  all.replace(*loop, to);
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top,
              tunable_line(s.depth, 8 << random.below(2), "4, 8, 16, 32") +
                  tunable_line(s.stages, 1 + static_cast<int>(random.below(2)), "1, 2, 3, 4") +
                  tunable_line(s.pad, 4, "0, 1, 2, 4, 8") + "// kevo: require 4 * " + s.stages + " * " +
                  s.depth + " * (" + floats + ") <= 48 * 1024\n");
  put_helper(all, of, "copy_async", helpers);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
