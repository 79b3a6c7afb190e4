// How threads lie in blocks and blocks in the grid: the block's size, the number of blocks, which axis is the
// fastest, and how many registers a thread may have.
#include <algorithm>
#include <set>

#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"

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

// The lines of a kernel in front of its body, and where they begin.
std::pair<std::size_t, std::string> heading_of(const kernel& of, const device_kernel& one) {
  const std::size_t line = of.in.text.rfind('\n', one.function->begin);
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  return {begin, of.in.text.substr(begin, one.body->begin - begin)};
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

// All lines of the search's comments, in which `word` becomes `by`.
void replace_in_lines(changes& all, const kernel& of, const std::string& word, const std::string& by) {
  for (std::size_t start = 0; start < of.in.text.size();) {
    const std::size_t end = std::min(of.in.text.find('\n', start), of.in.text.size());
    const std::string line = of.in.text.substr(start, end - start);
    if (line.substr(0, 8) == "// kevo:") {
      const std::string other = with_word(line, word, by);
      if (other != line) all.replace(start, end, other);
    }
    start = end + 1;
  }
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

std::string names_of_block(const device_kernel& one) {
  std::string product;
  for (const auto& size : one.launches.front().block) product = product.empty() ? size : times(product, size);
  return product;
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

std::vector<site> blocks_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    const auto& grid = one.launches.front().grid;
    if (grid.size() == 1 && is_number(grid.front()) && std::stol(grid.front()) >= 64)
      found.push_back({0, one.function});
  }
  return found;
}

std::string blocks(const kernel& of, const site& where, rng&) {
  const device_kernel one = device_kernel_at(of, where);
  const std::string value = one.launches.front().grid.front();
  fresh_names fresh(of.in);
  const std::string name = fresh("blocks_of_" + one.function->name);
  changes all;
  replace_in_lines(all, of, value, name);
  const std::size_t at = place_for_declarations(of.in);
  const std::string domain = "132, 264, 528, 1024, 1056, 2112, 4224";
  if ((" " + domain + ",").find(" " + value + ",") == std::string::npos) throw refusal{"an unusual number"};
  all.replace(at, at, tunable_line(name, std::stoi(value), domain));
  return all.applied_to(of.in.text);
}

std::vector<site> swap_axes_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    const auto& line = one.launches.front();
    if (line.grid.size() != 2 || line.block.size() != 2) continue;
    // Neighbouring threads should find neighbouring elements: as many accesses as possible have the index of
    // x alone.
    int now = 0;
    int then = 0;
    for (const auto& access : accesses_in(of.in, *one.body, {})) {
      for (const auto& index : one.indices) {
        const auto factor = coefficient(access.index, index.name + "#" + std::to_string(index.id));
        if (factor && constant_of(*factor) == 1) ++(index.axis == 'x' ? now : then);
      }
    }
    found.push_back({0, one.function, then > now ? 4.0 : 0.05});
  }
  return found;
}

std::string swap_axes(const kernel& of, const site& where, rng&) {
  const device_kernel one = device_kernel_at(of, where);
  changes all;
  std::string text(of.in.of(*one.body));
  for (const char* what : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
    const std::string name = what;
    text = with_word(text, name + ".x", name + ".kevo");
    text = with_word(text, name + ".y", name + ".x");
    text = with_word(text, name + ".kevo", name + ".y");
  }
  all.replace(one.body->begin, one.body->end, text);
  for (auto line : one.launches) {
    if (line.grid.size() != 2 || line.block.size() != 2) throw refusal{"launches of other shapes"};
    std::swap(line.grid[0], line.grid[1]);
    std::swap(line.block[0], line.block[1]);
    put_launch(all, line);
  }
  return all.applied_to(of.in.text);
}

std::vector<site> launch_bounds_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    const auto head = heading_of(of, one).second;
    if (head.find("__launch_bounds__") == std::string::npos &&
        head.find("__global__ void ") != std::string::npos)
      found.push_back({0, one.function});
  }
  return found;
}

std::string launch_bounds(const kernel& of, const site& where, rng&) {
  const device_kernel one = device_kernel_at(of, where);
  const auto [begin, head] = heading_of(of, one);
  const std::size_t word = head.find("__global__ void ");
  fresh_names fresh(of.in);
  const std::string name = fresh("blocks_per_sm");
  changes all;
  const std::size_t at = begin + word + 11;
  all.replace(at, at, "__launch_bounds__(" + names_of_block(one) + ", " + name + ") ");
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top, tunable_line(name, 1, "1, 2, 3, 4, 6, 8"));
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
