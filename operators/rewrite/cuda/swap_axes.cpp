// threadIdx.x, blockIdx.x  <->  threadIdx.y, blockIdx.y: another index becomes the fastest among the threads.
#include <utility>

#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {

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

}  // namespace kevo::rewriting
