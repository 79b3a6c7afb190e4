// <<<528, 256>>>  ->  <<<blocks_of_NAME, 256>>>: the number of blocks becomes tunable.
#include <algorithm>

#include "operators/rewrite/cuda/threads.hpp"

namespace kevo::rewriting {
namespace {

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

}  // namespace

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

}  // namespace kevo::rewriting
