#include "fitness/pool/device_pool.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

namespace kevo {
namespace {

constexpr double negligible = 0.01;  // a difference of speedups that nobody calls one

std::string said(const evaluation& e) {
  return e.valid() ? fmt::format("{:.4g} times as fast [{:.4g}, {:.4g}]", e.speedup, e.speedup_interval.low,
                                 e.speedup_interval.high)
                   : std::string(to_string(e.outcome));
}

bool speedups_differ(const evaluation& a, const evaluation& b) {
  const auto [low_a, high_a] = a.speedup_interval;
  const auto [low_b, high_b] = b.speedup_interval;
  if (!(low_a > 0 && high_a > 0 && low_b > 0 && high_b > 0)) return false;
  return low_a / high_b > 1 + negligible || high_a / low_b < 1 - negligible;
}

/// Gives a device back however its evaluation ends.
template <class Work>
struct at_exit {
  Work work;
  ~at_exit() { work(); }
};
template <class Work>
at_exit(Work) -> at_exit<Work>;

}  // namespace

evaluation agreed(evaluation first, int first_device, evaluation second, int second_device) {
  evaluation_cost cost = first.cost;
  cost.wall_s += second.cost.wall_s;
  cost.device_s += second.cost.device_s;
  cost.waited_s += second.cost.waited_s;
  for (const auto& [name, seconds] : second.cost.parts_s) cost.parts_s[name] += seconds;
  const bool both = first.valid() && second.valid();
  const bool differ = !both || speedups_differ(first, second);
  const std::string words =
      fmt::format("device {}: {}; device {}: {}", first_device, said(first), second_device, said(second));
  const bool second_is_worse = both ? second.speedup < first.speedup : first.valid();
  std::string losses;
  for (const auto* one : {&first, &second}) {
    if (const auto lost = one->context.find("devices_lost"); lost != one->context.end())
      losses += (losses.empty() ? "" : "; ") + lost->second;
  }
  evaluation result = std::move(differ && second_is_worse ? second : first);
  if (!losses.empty()) result.context["devices_lost"] = losses;
  result.cost = std::move(cost);
  result.context["confirmed_on"] = fmt::format("{}, {}", first_device, second_device);
  if (differ) {
    result.context["devices_disagree"] = words;
    result.feedback += (result.feedback.empty() ? "" : "\n") + ("the devices disagree: " + words);
  }
  return result;
}

void device_pool::make_devices() {
  const std::scoped_lock once(making_);  // not the guard, which a display that asks would wait for
  if (made_) return;
  std::vector<pooled_device> devices = make_();
  if (devices.empty())
    throw error(error_code::environment, "there is no device to evaluate on", {},
                "`kevo doctor` lists the devices");
  const std::scoped_lock lock(guard_);
  for (auto& one : devices) members_.push_back({.device = std::move(one)});
  made_ = true;
}

device_pool::member* device_pool::take(int except) {
  const std::scoped_lock lock(guard_);
  member* best = nullptr;
  for (member& one : members_) {
    if (!one.lost.empty() || one.device.number == except) continue;
    if (best == nullptr || std::pair(one.running, one.begun) < std::pair(best->running, best->begun))
      best = &one;
  }
  if (best != nullptr) {
    ++best->running;
    ++best->begun;
  }
  return best;
}

void device_pool::give_back(member& from) {
  const std::scoped_lock lock(guard_);
  --from.running;
}

device_pool::loss device_pool::lose(member& which, const std::string& why) {
  const std::scoped_lock lock(guard_);
  if (which.lost.empty()) {
    losses_ += fmt::format("{}device {}: {}", losses_.empty() ? "" : "; ", which.device.number, why);
    which.lost = why;
  }
  return {.others = std::any_of(members_.begin(), members_.end(),
                                [](const member& one) { return one.lost.empty(); }),
          .worked = which.ended > 0};
}

/// The result with what it has to say of the devices.
evaluation device_pool::told(evaluation result, member& by) {
  const std::scoped_lock lock(guard_);
  ++by.ended;
  result.context["device_number"] = std::to_string(by.device.number);
  if (!losses_.empty()) result.context["devices_lost"] = std::exchange(losses_, {});
  return result;
}

bool device_pool::has_other(int than) const {
  const std::scoped_lock lock(guard_);
  return std::any_of(members_.begin(), members_.end(),
                     [&](const member& one) { return one.lost.empty() && one.device.number != than; });
}

/// What is said of a program that may be what loses devices.
evaluation device_pool::two_lost(member& last) {
  evaluation crashed;
  crashed.outcome = outcome::crashed;
  crashed.reasons = {"two devices were lost while it was evaluated"};
  crashed.feedback = crashed.reasons.front();
  return told(std::move(crashed), last);
}

device_pool::made_on device_pool::evaluate_on_any(const evaluation_request& request, int except) {
  for (int lost = 0;;) {
    member* const on = take(except);
    if (on == nullptr)
      throw error(error_code::environment, "no device is left to evaluate on", {},
                  "run `kevo doctor`, then continue with `kevo resume`");
    const at_exit back{[&] { give_back(*on); }};
    try {
      return {told(on->device.evaluator.evaluate(request), *on), on->device.number};
    } catch (const error& failure) {
      if (failure.code() != error_code::environment) throw;
      const loss left = lose(*on, failure.message());
      if (!left.others) throw;
      if (left.worked && ++lost == 2) return {two_lost(*on), on->device.number};
    }
  }
}

evaluation device_pool::evaluate(const evaluation_request& request) {
  make_devices();
  made_on first = evaluate_on_any(request, -1);
  const bool confirms = request.wanted == evaluation_stage::confirmed;
  if (!confirms || !first.result.valid() || !has_other(first.device)) return std::move(first.result);
  made_on second;
  try {
    second = evaluate_on_any(request, first.device);
  } catch (const error& failure) {
    // The other device went away meanwhile: the first one has confirmed.
    if (failure.code() != error_code::environment) throw;
    return std::move(first.result);
  }
  return agreed(std::move(first.result), first.device, std::move(second.result), second.device);
}

std::string device_pool::describe() const {
  const std::scoped_lock lock(guard_);
  if (members_.empty()) return "several devices: not started yet";
  std::vector<std::pair<std::string, std::string>> alike;  // what is said, and of which devices
  for (const member& one : members_) {
    const std::string said = one.lost.empty() ? one.device.evaluator.describe() : "lost";
    const auto same =
        std::find_if(alike.begin(), alike.end(), [&said](const auto& other) { return other.first == said; });
    if (same == alike.end()) {
      alike.emplace_back(said, std::to_string(one.device.number));
    } else {
      same->second += ", " + std::to_string(one.device.number);
    }
  }
  std::string text;
  for (const auto& [said, numbers] : alike)
    text += fmt::format("{}device{} {}: {}", text.empty() ? "" : "; ",
                        numbers.find(',') == std::string::npos ? "" : "s", numbers, said);
  return text;
}

}  // namespace kevo
