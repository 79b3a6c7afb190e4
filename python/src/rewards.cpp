// Rewards (kevo/reward.hpp) and advantages (kevo/learn/advantage.hpp).

#include <cstdint>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <utility>
#include <vector>

#include <kevo/error.hpp>
#include <kevo/learn/advantage.hpp>
#include <kevo/reward.hpp>

#include "python/src/bind.hpp"

namespace kevo::python {
namespace py = pybind11;
namespace {

void bind_terms(py::module_& module) {
  py::class_<reward_terms>(module, "RewardTerms", "The numbers and facts from which rewards are computed.")
      .def_readonly("built", &reward_terms::built)
      .def_readonly("unchecked", &reward_terms::unchecked)
      .def_readonly("ran", &reward_terms::ran)
      .def_readonly("correct", &reward_terms::correct)
      .def_readonly("cheated", &reward_terms::cheated)
      .def_readonly("speedup", &reward_terms::speedup)
      .def_readonly("parent_speedup", &reward_terms::parent_speedup)
      .def_readonly("own_kernel_share", &reward_terms::own_kernel_share)
      .def_property_readonly("broken_rules",
                             [](const reward_terms& terms) {
                               std::vector<std::pair<std::string, std::string>> rules;
                               for (const auto& each : terms.broken_rules)
                                 rules.emplace_back(each.rule, each.reason);
                               return rules;
                             })
      .def_property_readonly("eligible", &reward_terms::eligible)
      .def("_break_rule",
           [](reward_terms& terms, std::string rule, std::string reason) {
             terms.broken_rules.push_back({std::move(rule), std::move(reason)});
           })
      .def("__repr__", [](const reward_terms& terms) {
        return std::string("<kevo.RewardTerms ") + (terms.eligible() ? "eligible" : "not eligible") +
               ", speedup " + std::to_string(terms.speedup) + ">";
      });
  module.def(
      "reward_terms",
      [](const evaluation& result, const evaluation* parent) { return reward_terms_of(result, parent); },
      py::arg("evaluation"), py::arg("parent") = py::none());
}

std::vector<sibling> siblings_from(const std::vector<bool>& correct,
                                   const std::vector<std::optional<std::pair<double, double>>>& intervals) {
  if (correct.size() != intervals.size())
    throw error(error_code::usage, "there must be as many intervals as siblings",
                {.file = {}, .key = "intervals"});
  std::vector<sibling> group;
  for (std::size_t i = 0; i < correct.size(); ++i) {
    const auto ends = intervals[i].value_or(std::pair{0.0, 0.0});
    group.push_back({correct[i], {ends.first, ends.second}});
  }
  return group;
}

void bind_advantages(py::module_& module) {
  using numbers = std::vector<double>;
  module.def(
      "returns_of", [](const numbers& rewards, double discount) { return returns_of(rewards, discount); },
      py::arg("rewards"), py::arg("discount") = 1.0);
  module.def(
      "grpo_advantages", [](const numbers& rewards) { return grpo_advantages(rewards); }, py::arg("rewards"));
  module.def(
      "trloo_advantages", [](const numbers& rewards) { return trloo_advantages(rewards); },
      py::arg("rewards"));
  module.def(
      "smoothed_rewards",
      [](const numbers& rewards, double limit) { return smoothed_rewards(rewards, limit); },
      py::arg("rewards"), py::arg("limit") = 1.5);
  module.def("prs_keep_probability", &prs_keep_probability, py::arg("correct"), py::arg("share"));
  module.def(
      "mrs_keeps",
      [](const numbers& trained, const numbers& sampled, double low, double high, double least_ratio) {
        return mrs_keeps(trained, sampled, {low, high, least_ratio});
      },
      py::arg("trained"), py::arg("sampled"), py::kw_only(), py::arg("low") = mrs_limits{}.low,
      py::arg("high") = mrs_limits{}.high, py::arg("least_ratio") = mrs_limits{}.least_ratio);
  module.def(
      "preference_pairs",
      [](const std::vector<bool>& correct,
         const std::vector<std::optional<std::pair<double, double>>>& intervals) {
        return preference_pairs(siblings_from(correct, intervals));
      },
      py::arg("correct"), py::arg("intervals"));
}

}  // namespace

void bind_rewards(py::module_& module) {
  bind_terms(module);
  module.def("autotriton_reward", &autotriton_reward, py::arg("terms"));
  module.def("dr_kernel_reward", &dr_kernel_reward, py::arg("terms"), py::arg("cap") = 3.0);
  module.def("kernel_smith_reward", &kernel_smith_reward, py::arg("terms"));
  module.def("cuda_l1_reward", &cuda_l1_reward, py::arg("terms"));
  module.def("cuda_l1_doubts", &cuda_l1_doubts, py::arg("speedup"), py::arg("best_so_far") = 0.0);
  module.def("cuda_l1_agrees", &cuda_l1_agrees, py::arg("first"), py::arg("second"));
  module.def("stage_reward_of_step", &stage_reward_of_step, py::arg("terms"), py::arg("step") = 0);
  module.def("reward_recipes", &reward_recipes);
  module.def(
      "reward_of_recipe",
      [](const std::string& recipe, const reward_terms& terms) {
        if (const auto reward = reward_of_recipe(recipe, terms)) return *reward;
        std::string known;
        for (const auto& each : reward_recipes()) known += (known.empty() ? "" : ", ") + each;
        throw error(error_code::usage, "unknown recipe '" + recipe + "'", {.file = {}, .key = "recipe"},
                    "known: " + known);
      },
      py::arg("recipe"), py::arg("terms"));
  bind_advantages(module);
}

}  // namespace kevo::python
