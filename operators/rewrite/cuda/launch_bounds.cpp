// __global__ void f(...)  ->  __global__ __launch_bounds__(THREADS, blocks_per_sm) void f(...): how many
// registers a thread may have.
#include <utility>

#include "operators/rewrite/cuda/threads.hpp"

namespace kevo::rewriting {
namespace {

// The lines of a kernel in front of its body, and where they begin.
std::pair<std::size_t, std::string> heading_of(const kernel& of, const device_kernel& one) {
  const std::size_t line = of.in.text.rfind('\n', one.function->begin);
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  return {begin, of.in.text.substr(begin, one.body->begin - begin)};
}

}  // namespace

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
  all.replace(at, at, "__launch_bounds__(" + threads_of_block(one) + ", " + name + ") ");
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top, tunable_line(name, 1, "1, 2, 3, 4, 6, 8"));
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
