// Turns that are made again with the calls that are recorded of them.
#include <algorithm>

#include "src/llm/language_models.hpp"

namespace kevo {

const model_call* language_models::recalled(std::uint64_t job, const std::string& operator_name,
                                            std::optional<std::int64_t> sample) const {
  const auto turn = recalled_.find(job);
  if (turn == recalled_.end()) return nullptr;
  const auto& calls = turn->second.calls;
  const auto it = std::find_if(calls.begin(), calls.end(), [&](const model_call& c) {
    return c.operator_name == operator_name && (!sample || c.sample == *sample);
  });
  return it == calls.end() ? nullptr : &*it;
}

void language_models::recall(std::uint64_t job, std::vector<model_call> calls, bool alone) {
  const std::scoped_lock lock(guard_);
  recalled_[job] = {std::move(calls), alone};
}

bool language_models::repeats(std::uint64_t job) const {
  const std::scoped_lock lock(guard_);
  return recalled_.contains(job);
}

void language_models::forget(std::uint64_t job) {
  const std::scoped_lock lock(guard_);
  recalled_.erase(job);
}

std::optional<std::size_t> language_models::recalled_model(std::uint64_t job,
                                                           const std::string& operator_name) const {
  const std::scoped_lock lock(guard_);
  const model_call* call = recalled(job, operator_name);
  for (std::size_t i = 0; call != nullptr && i < settings_.models.size(); ++i) {
    if (settings_.models[i].name == call->model) return i;
  }
  return std::nullopt;
}

std::optional<std::string> language_models::recalled_messages(std::uint64_t job,
                                                              const std::string& operator_name) const {
  const std::scoped_lock lock(guard_);
  const model_call* call = recalled(job, operator_name);
  return call == nullptr ? std::nullopt : std::optional(call->messages);
}

}  // namespace kevo
