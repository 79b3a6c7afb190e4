#include "fitness/cuda/measure/own_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "fitness/torch/source_facts.hpp"

namespace kevo::cuda {
namespace json = boost::json;

namespace {

std::optional<double> number_of(const json::object& all, const char* name) {
  const auto* value = all.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const auto number = value->to_number<double>();
  return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<kernel_share> read_kernel_share(std::string_view text) {
  boost::system::error_code wrong;
  const auto value = json::parse(text, wrong);
  if (wrong || !value.is_object()) return std::nullopt;
  const auto& all = value.as_object();
  const auto own = number_of(all, "own_us");
  const auto whole = number_of(all, "all_us");
  const auto kernels = number_of(all, "kernels");
  constexpr double rounding = 1.0001;
  constexpr double most_kernels = 1e6;
  if (!own || !whole || !kernels || *own > *whole * rounding || *kernels > most_kernels) return std::nullopt;
  return kernel_share{std::min(*own, *whole), *whole, static_cast<int>(*kernels)};
}

void watch_own_kernels(gpu_bench& bench, evaluation_state& p, program_runner& candidate) {
  const auto index = bench.smallest_visible();
  const double wanted = bench.settings().own_kernel_share;
  const auto refuse = [&](std::string why) {
    const call_failure refusal{outcome::rejected, "its own kernels take too small a share of its time",
                               std::move(why)};
    fail(p, index, bench.subject().workloads[index], refusal);
  };
  candidate.restart();
  // Kernels are its own by their names in its text, so that no process has to be watched for a text with
  // none.
  if (torch::facts_of(*p.request.program).kernels.empty()) {
    p.built.measures["own_kernel_share"] = 0;
    p.result.context["own_kernel_share"] = "0: its text has no kernel";
    if (wanted > 0) refuse(fmt::format("its text has no kernel; fitness.own_kernel_share is {}", wanted));
    return;
  }
  auto watched = bench.run_watched(p.built, *p.request.program);
  const auto time = watched.check(index, 0, bench.first_call_limit(index, watched.kind()), true);
  watched.restart();
  if (const auto found = time.failure ? std::nullopt : read_kernel_share(time.remark)) {
    p.built.measures["own_kernel_share"] = found->share();
    p.result.context["own_kernel_share"] =
        fmt::format("{:.1f} of {:.1f} us, {} kernels and copies, as reported by its process", found->own_us,
                    found->all_us, found->kernels);
    if (wanted > 0 && found->share() < wanted)
      refuse(fmt::format("its own kernels take {:.3f} of the device's time; fitness.own_kernel_share is {}",
                         found->share(), wanted));
    return;
  }
  const std::string why = time.failure ? time.failure->reason + " " + time.failure->detail : time.remark;
  p.result.context["own_kernel_share"] = "not measured: " + why.substr(0, 300);
  if (wanted > 0) refuse("the time of its own kernels could not be measured: " + why.substr(0, 300));
}

}  // namespace kevo::cuda
