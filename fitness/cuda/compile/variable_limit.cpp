#include "fitness/cuda/compile/variable_limit.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fitness/cuda/compile/cubin.hpp"

namespace kevo::cuda {
namespace {

constexpr std::size_t most_named = 4;

// A module's variables outside of constant memory, with the bytes of their whole sections.
struct writable_variables {
  std::vector<const module_global*> all;
  std::uint64_t bytes = 0;
};

// @param images those that count
writable_variables writable_of(const compiled_module& m, const std::set<std::uint32_t>& images) {
  constexpr std::uint64_t any_is_too_large = std::uint64_t{1} << 40U;  // so that no sum overflows
  writable_variables found;
  std::set<std::pair<std::uint32_t, std::string>> counted;
  for (const auto& global : m.globals) {
    if (global.section.starts_with(".nv.constant") || !images.contains(global.image)) continue;
    found.all.push_back(&global);
    if (counted.emplace(global.image, global.section).second)
      found.bytes += std::min(global.section_bytes, any_is_too_large);
  }
  return found;
}

std::string names_of(writable_variables found) {
  std::stable_sort(found.all.begin(), found.all.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::string text;
  for (std::size_t i = 0; i < std::min(found.all.size(), most_named); ++i)
    text += fmt::format("{}{}: {} bytes", i == 0 ? "" : ", ", readable(found.all[i]->symbol),
                        found.all[i]->bytes);
  if (found.all.size() > most_named) text += fmt::format(", and {} more", found.all.size() - most_named);
  return text;
}

}  // namespace

std::optional<variable_refusal> refuse_large_variables(const compiled_module& m) {
  std::set<std::uint32_t> every;
  std::set<std::uint32_t> visible;
  for (const auto& global : m.globals) every.insert(global.image);
  for (const auto& kernel : m.kernels) {
    if (!kernel.hidden) visible.insert(kernel.image);
  }
  if (writable_of(m, every).bytes <= most_variable_bytes) return std::nullopt;
  const auto told = writable_of(m, visible);
  if (told.bytes <= most_variable_bytes) {
    const std::string secret = "a hidden workload failed";
    return variable_refusal{secret, secret};
  }
  return variable_refusal{
      "its variables take more than 64 KiB",
      fmt::format(
          "the variables of the program take {} bytes in all, gaps between them included ({}), and at "
          "most {} are given their initial values before each call, because that is not timed. Declare "
          "a workspace instead (launch line 'workspace NAME TYPE [SHAPE]'), pass it to the kernels, "
          "and clear in each call what must be zero (launch line 'memset NAME 0', or a kernel), which "
          "is timed. Constant tables fit in __constant__ variables or can be computed",
          told.bytes, names_of(told), most_variable_bytes)};
}

}  // namespace kevo::cuda
