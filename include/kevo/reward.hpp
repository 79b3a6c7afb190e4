#pragma once
// Rewards for training models on evaluations: the reward that each published recipe gives to a program, as a
// function of what the evaluator measured. Nothing that a program reports about itself is used. A program
// that was caught cheating (outcome `rejected` or `suspect`), or that breaks a rule of the recipe, earns 0 in
// every recipe.
//
//   const reward_terms terms = reward_terms_of(result, &result_of_parent);
//   const double r = dr_kernel_reward(terms);
//
// Advantages of groups of rewards are in <kevo/learn/advantage.hpp>.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <kevo/detail/kernel_names.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// A rule of a recipe that a program breaks.
struct broken_rule {
  std::string rule;    ///< name of the rule
  std::string reason;  ///< one sentence
  friend bool operator==(const broken_rule&, const broken_rule&) = default;
};

/// A rule that a program must follow to earn a reward. `check` returns the reason why a program breaks it, or
/// nothing.
struct reward_rule {
  std::string name;  ///< stated in broken_rule::rule
  std::function<std::optional<std::string>(const program&, const evaluation&)> check;
};

/// The numbers and facts from which rewards are computed.
struct reward_terms {
  bool built = false;         ///< the program compiled
  bool unchecked = false;     ///< it was only built; whether its results are right is not known
  bool ran = false;           ///< it ran to its end, with right or wrong results
  bool correct = false;       ///< all results were right
  bool cheated = false;       ///< caught cheating, or measured with an impossible time
  double speedup = 0;         ///< over the baseline; 0 unless correct and timed
  double parent_speedup = 0;  ///< the same of the program from which it was made; 0 if that has none
  /// Share of the device time that was spent in kernels of the program's own, 0 to 1; nothing if it was not
  /// measured.
  std::optional<double> own_kernel_share;
  std::vector<broken_rule> broken_rules;

  /// Whether the program is eligible for a reward: it is correct, did not cheat and breaks no rule of the
  /// recipe.
  bool eligible() const { return correct && !cheated && broken_rules.empty(); }
};

/// The terms of one evaluation. `parent` may be null. O(number of rules).
inline reward_terms reward_terms_of(const evaluation& result, const evaluation* parent = nullptr) {
  reward_terms terms;
  terms.built = result.outcome != outcome::build_failed;
  terms.unchecked = result.outcome == outcome::unchecked;
  terms.cheated = result.outcome == outcome::rejected || result.outcome == outcome::suspect;
  terms.correct = result.valid();
  terms.ran = terms.correct || terms.cheated || result.outcome == outcome::incorrect;
  if (terms.correct) terms.speedup = result.speedup;
  if (parent != nullptr && parent->valid()) terms.parent_speedup = parent->speedup;
  if (const auto share = result.measures.find("own_kernel_share"); share != result.measures.end())
    terms.own_kernel_share = std::clamp(share->second, 0.0, 1.0);
  return terms;
}

/// The terms of one evaluation, and the rules that the program breaks.
inline reward_terms reward_terms_of(const program& source, const evaluation& result, const evaluation* parent,
                                    const std::vector<reward_rule>& rules) {
  reward_terms terms = reward_terms_of(result, parent);
  for (const auto& rule : rules) {
    if (auto reason = rule.check(source, result))
      terms.broken_rules.push_back({rule.name, std::move(*reason)});
  }
  return terms;
}

/// A rule: the program defines a kernel, that is, its text contains one of the words, by default those of
/// CUDA and Triton (AutoTriton, arXiv 2507.05687, looks for `@triton.jit`). This rule alone is weak, because
/// a program can define a kernel and never launch it; see `names_own_kernel`, and `launches_own_kernel` for a
/// measured share of the time.
inline reward_rule defines_kernel(std::vector<std::string> words = {"__global__", "@triton.jit"}) {
  return {"defines_kernel", [words = std::move(words)](const program& source, const evaluation&) {
            for (const auto& file : source.files) {
              for (const auto& word : words) {
                if (file.text.find(word) != std::string::npos) return std::optional<std::string>();
              }
            }
            return std::optional<std::string>("no kernel is defined in the source");
          }};
}

/// A rule: if the text defines kernels (`__global__` or `@triton.jit`), it also names one of them outside of
/// its definition, as every launch does. A kernel that is named nowhere else is a decoy. Lines of comments do
/// not count, nor does a member of something else: `torch.relu` does not name a kernel `relu`. The rule needs
/// no GPU, but it is weak: a program can launch a kernel and not use its result.
inline reward_rule names_own_kernel() {
  return {"names_own_kernel", [](const program& source, const evaluation&) {
            std::set<std::string> kernels;
            for (const auto& file : source.files) {
              kernels.merge(detail::global_functions(file.text));
              kernels.merge(detail::triton_functions(file.text));
            }
            const bool named =
                std::any_of(kernels.begin(), kernels.end(), [&source](const std::string& kernel) {
                  std::size_t times = 0;
                  for (const auto& file : source.files) times += detail::times_named(file.text, kernel);
                  return times > 1;
                });
            if (kernels.empty() || named) return std::optional<std::string>();
            return std::optional<std::string>("no kernel that is defined in the source is launched");
          }};
}

/// A rule: the program spends at least the share `least` of its device time in kernels of its own, by the
/// measure `own_kernel_share`. If that was not measured, the program does not break the rule.
inline reward_rule launches_own_kernel(double least = 1e-3) {
  return {"launches_own_kernel", [least](const program&, const evaluation& result) {
            const auto share = result.measures.find("own_kernel_share");
            if (share == result.measures.end() || share->second >= least) return std::optional<std::string>();
            return std::optional<std::string>(
                "its own kernels take less than the required share of the device time");
          }};
}

/// AutoTriton (arXiv 2507.05687, section 3): 1 if the program passes the tests and breaks no rule, else 0.
/// Speed does not count.
inline double autotriton_reward(const reward_terms& terms) {
  return terms.eligible() ? 1 : 0;
}

/// Dr. Kernel (arXiv 2602.05885): C + C min(s, cap) + C PR, with C = 1 for a correct program, s the speedup
/// and PR the share of the device time in own kernels. A program whose own kernels take no time earns 0. If
/// PR was not measured, it counts as 0.
inline double dr_kernel_reward(const reward_terms& terms, double cap = 3) {
  const bool decoy = terms.own_kernel_share && *terms.own_kernel_share <= 0;
  if (!terms.eligible() || decoy) return 0;
  return 1 + std::min(terms.speedup, cap) + terms.own_kernel_share.value_or(0);
}

/// Kernel-Smith (arXiv 2603.28342): the speedup over the parent; 0 for a program that is not correct. Without
/// a valid parent (the first step of a trajectory) it is the speedup over the baseline.
inline double kernel_smith_reward(const reward_terms& terms) {
  if (!terms.eligible()) return 0;
  return terms.parent_speedup > 0 ? terms.speedup / terms.parent_speedup : terms.speedup;
}

/// CUDA-L1 (arXiv 2507.14111): the speedup, rounded to two decimals toward 1, so that noise around 1 earns
/// nothing (1.118 becomes 1.11, 0.992 becomes 1); 0 for a program that is not correct.
inline double cuda_l1_reward(const reward_terms& terms) {
  if (!terms.eligible() || !(terms.speedup > 0)) return 0;
  const double hundredths = (terms.speedup - 1) * 100;
  // A double just below a whole number of hundredths is that number.
  const double rounded = std::trunc(hundredths + std::copysign(1e-9, hundredths));
  return 1 + rounded / 100;
}

/// Whether CUDA-L1 measures a result once more, on another device of the same type: it does if the speedup is
/// more than 3, or more than twice the best speedup so far (0 if there is none).
inline bool cuda_l1_doubts(double speedup, double best_so_far) {
  return speedup > 3 || (best_so_far > 0 && speedup > 2 * best_so_far);
}

/// Whether the second measurement supports the first: both are within 10 % of each other (of the larger).
inline bool cuda_l1_agrees(double first, double second) {
  return std::abs(first - second) <= 0.1 * std::max(first, second);
}

/// The same with the second measurement: `again` is called if the speedup is in doubt, evaluates the program
/// in new processes, if possible on another device of the same type, and returns the speedup (0 if the
/// program is not valid there). If it does not agree with the first one, the reward is 0.
/// @param best_so_far best speedup of earlier programs for the same task; 0 if there is none
template <std::invocable Again>
requires std::convertible_to < std::invoke_result_t<Again>,
double > double cuda_l1_checked_reward(const reward_terms& terms, double best_so_far, Again&& again) {
  if (!terms.eligible() || !cuda_l1_doubts(terms.speedup, best_so_far)) return cuda_l1_reward(terms);
  return cuda_l1_agrees(terms.speedup, std::invoke(std::forward<Again>(again))) ? cuda_l1_reward(terms) : 0;
}

/// The rewards of QiMeng-Kernel (arXiv 2511.20100) for a macro step: the sum of the rewards of the stages
/// that the step reaches. The reward of a later step is multiplied by `decay` to the power of the number of
/// steps before it. The paper gives no formula for its decay; this one, and `gain`, are kevo's choice.
struct stage_rewards {
  double build_failed = -1;  ///< the program does not compile; no other reward is added
  double built = 0.1;        ///< the program compiles
  double run_failed = -0.5;  ///< the program crashed, timed out, was incorrect, ...
  double correct = 0.5;      ///< all results are right
  double faster = 1;         ///< faster than the program before the step
  double margin = 0.02;      ///< a smaller relative gain does not count as faster
  double gain = 2;     ///< times the logarithm to base 2 of the speedup over the program before, if positive
  double decay = 0.9;  ///< factor of the reward for each earlier step of the chain
};

/// The reward of a step that ends with this outcome, without the decay. `log_gain` is the natural logarithm
/// of the speedup over the program before.
inline double stage_reward(outcome reached, double log_gain, const stage_rewards& how = {}) {
  if (reached == outcome::build_failed) return how.build_failed;
  if (reached != outcome::valid) return how.built + how.run_failed;
  const double reward = how.built + how.correct;
  return log_gain > std::log1p(how.margin) ? reward + how.faster + how.gain * log_gain / std::log(2.0)
                                           : reward;
}

/// The reward of step number `step` (from 0) of a chain of macro actions, with the paper's constants and
/// without the term `gain`. A program that cheated, breaks a rule or was only built earns 0.
inline double stage_reward_of_step(const reward_terms& terms, std::size_t step = 0) {
  if (terms.cheated || terms.unchecked || !terms.broken_rules.empty()) return 0;
  const stage_rewards how{.gain = 0};
  const outcome reached = !terms.built    ? outcome::build_failed
                          : terms.correct ? outcome::valid
                                          : outcome::incorrect;
  const bool compared = terms.correct && terms.parent_speedup > 0 && terms.speedup > 0;
  const double log_gain = compared ? std::log(terms.speedup / terms.parent_speedup) : 0;
  return std::pow(how.decay, static_cast<double>(step)) * stage_reward(reached, log_gain, how);
}

/// Names of the recipes, for `reward_of_recipe`.
inline const std::vector<std::string>& reward_recipes() {
  static const std::vector<std::string> names = {"autotriton", "dr_kernel", "kernel_smith", "cuda_l1",
                                                 "stages"};
  return names;
}

/// The reward by the name of its recipe; nothing for an unknown name.
inline std::optional<double> reward_of_recipe(std::string_view recipe, const reward_terms& terms) {
  if (recipe == "autotriton") return autotriton_reward(terms);
  if (recipe == "dr_kernel") return dr_kernel_reward(terms);
  if (recipe == "kernel_smith") return kernel_smith_reward(terms);
  if (recipe == "cuda_l1") return cuda_l1_reward(terms);
  if (recipe == "stages") return stage_reward_of_step(terms);
  return std::nullopt;
}

}  // namespace kevo
