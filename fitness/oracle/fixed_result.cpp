#include "fitness/oracle/fixed_result.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fitness/oracle/oracle.hpp"

namespace kevo {
namespace {

/// How the same output of two contents compares.
enum class likeness : std::uint8_t { equal, close, other };

// Close: each is right where the other is expected. A rule of a whole output says nothing of an element, so
// that only equal outputs are alike there.
likeness compare_results(const expected_output& a, const expected_output& b) {
  if (a.integers != b.integers) return likeness::other;
  if (a.values == b.values) return likeness::equal;
  if (a.values.size() != b.values.size() || a.contract.any() || a.bounds.size() != a.values.size() ||
      b.bounds.size() != b.values.size())
    return likeness::other;
  const std::size_t allowed = std::min(a.allowed_misses, b.allowed_misses);
  std::size_t misses = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (a.values[i] == b.values[i]) continue;
    if (std::abs(a.values[i] - b.values[i]) <= std::min(a.bounds[i], b.bounds[i])) continue;
    if (++misses > allowed) return likeness::other;
  }
  return likeness::close;
}

std::size_t elements_in(const content& one) {
  std::size_t count = 0;
  for (const auto& output : one.outputs) count += output.values.size() + output.integers.size();
  return count;
}

// "'y' (every element is 0)"
std::string fixed_output_text(const std::string& name, const expected_output& output) {
  std::string text = "'" + name + "'";
  const auto tell = [&](const auto& all) {
    if (!all.empty() && std::all_of(all.begin(), all.end(), [&](auto x) { return x == all.front(); }))
      text += fmt::format(" (every element is {:g})", static_cast<double>(all.front()));
  };
  tell(output.values);
  tell(output.integers);
  return text;
}

}  // namespace

void result_watch::see(const std::shared_ptr<const content>& made) {
  if (differs_ || elements_in(*made) == 0) return;
  if (!first_) {
    first_ = made;
    return;
  }
  if (made->inputs == first_->inputs && made->scalars == first_->scalars) return;
  for (std::size_t i = 0; i < made->outputs.size(); ++i) {
    const auto how = compare_results(first_->outputs[i], made->outputs[i]);
    exactly_ = exactly_ && how == likeness::equal;
    if (how != likeness::other) continue;
    differs_ = true;
    first_.reset();
    return;
  }
  ++others_;
}

fixed_result fixed_result_of(const task& t, const std::vector<result_watch>& workloads) {
  const result_watch* shown = nullptr;
  fixed_result result{true, {}};
  for (const auto& one : workloads) {
    if (one.differs()) return {};
    if (!one.fixed()) continue;
    result.exactly = result.exactly && one.exactly();
    if (shown == nullptr) shown = &one;
  }
  if (shown == nullptr) return {};
  std::string names;
  for (std::size_t i = 0; i < t.outputs.size(); ++i)
    names += (names.empty() ? "" : ", ") + fixed_output_text(t.outputs[i].name, shown->first()->outputs[i]);
  result.text =
      fmt::format("{}the result does not depend on the inputs: output {} {} for all inputs that were drawn",
                  result.exactly ? "" : "the tolerance is too wide, or ", names,
                  result.exactly ? "is the same" : "is within the tolerance of one result");
  return result;
}

}  // namespace kevo
