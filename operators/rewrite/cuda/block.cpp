// <<<ceildiv(N, 128), 128>>>  ->  <<<ceildiv(N, block_x), block_x>>>, and likewise in the kernel: the size of
// its blocks becomes tunable.
#include <algorithm>
#include <set>

#include "operators/rewrite/cuda/threads.hpp"

namespace kevo::rewriting {
namespace {

// Literals of a kernel that are the block's size along an axis: factors of blockIdx and gridDim, or, as large
// numbers are seldom in a kernel by chance, any literal of that value; half of it where a tree of sums
// begins.
void replace_size(changes& all, const kernel& of, const device_kernel& one, char axis,
                  const std::string& value, const std::string& name) {
  const bool large = std::stol(value) >= 64;
  const std::string half = std::to_string(std::stol(value) / 2);
  const auto put = [&](const node& literal, const std::string& text) {
    const auto written = of.in.of(literal);
    const std::string suffix(written.substr(without_suffix(written).size()));
    const bool wide = suffix.find_first_of("lL") != std::string::npos;
    all.replace(literal.begin, literal.end, wide ? "static_cast<long long>(" + text + ")" : text);
  };
  std::set<const node*> done;
  walk(*one.body, [&](const node& n) {
    if (n.kind == node_kind::binary && operator_of(of.in, n) == "*") {
      for (const std::size_t i : {0U, 1U}) {
        const auto other = of.in.of(bare(n.children[1 - i]));
        const node& literal = bare(n.children[i]);
        if (literal.kind != node_kind::literal || without_suffix(of.in.of(literal)) != value) continue;
        if (other == std::string("blockIdx.") + axis || other == std::string("gridDim.") + axis || large) {
          if (done.insert(&literal).second) put(literal, name);
        }
      }
    }
    if (!large || n.kind != node_kind::literal || done.contains(&n)) return true;
    if (without_suffix(of.in.of(n)) == value) {
      done.insert(&n);
      put(n, name);
    } else if (without_suffix(of.in.of(n)) == half) {
      done.insert(&n);
      put(n, name + " / 2");
    }
    return true;
  });
}

// Axes along which a kernel's block has a literal size above one.
std::string literal_axes(const device_kernel& one) {
  std::string found;
  for (std::size_t i = 0; i < one.launches.front().block.size(); ++i) {
    const std::string& size = one.launches.front().block[i];
    const bool same = std::all_of(one.launches.begin(), one.launches.end(), [&](const launch_text& l) {
      return i < l.block.size() && l.block[i] == size;
    });
    if (same && is_number(size) && size != "1") found += static_cast<char>('x' + i);
  }
  return found;
}

// Whether a block covers as many indices as it has threads, and no other action has used its size.
bool has_plain_indices(const kernel& of, const device_kernel& one) {
  const auto body = of.in.of(*one.body);
  return body.find("copies_") == std::string_view::npos &&
         body.find("copy_async(") == std::string_view::npos &&
         body.find(" = blockIdx.x; ") == std::string_view::npos &&  // a block that takes piece after piece
         std::all_of(one.indices.begin(), one.indices.end(), [&](const thread_index& index) {
           return index.block == one.threads(index.axis) && index.apart == "1";
         });
}

}  // namespace

std::vector<site> block_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    if (!literal_axes(one).empty() && has_plain_indices(of, one)) found.push_back({0, one.function});
  }
  return found;
}

std::string block(const kernel& of, const site& where, rng&) {
  const device_kernel one = device_kernel_at(of, where);
  const std::string axes = literal_axes(one);
  if (axes.empty() || !has_plain_indices(of, one)) throw refusal{"the block has no literal size"};
  fresh_names fresh(of.in);
  changes all;
  std::string top;
  std::string product;
  auto launches = one.launches;
  for (const char axis : axes) {
    const std::string value = one.threads(axis);
    const std::string name = fresh(std::string("block_") + axis);
    replace_size(all, of, one, axis, value, name);
    for (auto& line : launches) {
      line.block[one.axis(axis)] = name;
      if (one.axis(axis) < line.grid.size()) {
        line.grid[one.axis(axis)] = with_word(line.grid[one.axis(axis)], value, name);
      }
    }
    const std::string domain = axes.size() == 1 ? "32, 64, 128, 256, 512, 1024" : "1, 2, 4, 8, 16, 32, 64";
    if ((", " + domain + ",").find(" " + value + ",") == std::string::npos) throw refusal{"an unusual size"};
    top += tunable_line(name, std::stoi(value), domain);
    product = product.empty() ? name : product + " * " + name;
  }
  if (axes.size() > 1) top += "// kevo: require " + product + " <= 1024 && " + product + " >= 32\n";
  for (const auto& line : launches) put_launch(all, line);
  const std::size_t at = place_for_declarations(of.in);
  all.replace(at, at, top);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
