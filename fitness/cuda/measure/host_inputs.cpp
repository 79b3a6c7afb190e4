#include "fitness/cuda/measure/host_inputs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <kevo/task_extents.hpp>

#include "fitness/oracle/draw_inputs.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo::cuda {
namespace {

// Of the timed contents this share is of another variety than the plain one, as where the device draws all.
constexpr double varied_share = 0.25;

const workload_input* given_for(const workload& w, const tensor& input) {
  const auto found = w.inputs.find(input.name);
  return found == w.inputs.end() ? nullptr : &found->second;
}

bool is_of_columns(const workload& w, const tensor& input) {
  return !input.scalar && generator_of(input, w).kind == "columns";
}

}  // namespace

bool drawn_on_host(const task& t, const workload& w, const tensor& input) {
  if (input.scalar) return false;  // it stands in the plan
  const auto* given = given_for(w, input);
  if (given != nullptr && (given->kind == "custom" || given->contents)) return true;
  constexpr std::array device_has = {"normal", "uniform", "integers", "permutation", "offsets"};
  if (std::find(device_has.begin(), device_has.end(), generator_of(input, w).kind) == device_has.end())
    return true;
  return std::any_of(t.inputs.begin(), t.inputs.end(), [&](const tensor& other) {
    return is_of_columns(w, other) && generator_of(other, w).rows == input.name;
  });
}

bool has_host_inputs(const task& t, const workload& w) {
  return std::any_of(t.inputs.begin(), t.inputs.end(),
                     [&](const tensor& input) { return drawn_on_host(t, w, input); });
}

host_inputs::host_inputs(const task& t, std::size_t workload, const worker_settings* maker)
    : task_(t), workload_(workload), random_(secret_seed()) {
  const auto& w = task_.workloads[workload_];
  if (maker != nullptr && has_made_inputs(w)) maker_ = std::make_unique<input_maker>(task_, w, *maker);
}

host_inputs::drawn host_inputs::next(bool varied, std::size_t number) {
  constexpr std::size_t others = variety_count - 1;
  const auto& w = task_.workloads[workload_];
  input_recipe from{variety::plain, workload_, true};
  if (varied) {
    // As on the CPU, workloads begin with different varieties.
    from.kind = static_cast<variety>(1 + (2 * workload_ + number) % others);
    from.files = number % 2 == 0 || !alternates(w);
  } else if (random_.chance(varied_share)) {
    const auto which = random_.below(others + (alternates(w) ? 1 : 0));
    from.files = which < others;
    if (from.files) from.kind = static_cast<variety>(1 + which);
  }
  auto made = maker_ ? maker_->make(random_) : named_elements();
  const auto elements = draw_inputs(task_, w, from, std::move(made), random_,
                                    [&](const tensor& input) { return drawn_on_host(task_, w, input); });
  drawn result{from.kind, {}};
  for (const auto& one : elements) result.bytes.append(reinterpret_cast<const char*>(one.data()), one.size());
  return result;
}

}  // namespace kevo::cuda
