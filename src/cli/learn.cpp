// kevo learn policy: trains a policy for the actions of `rewrite` on what runs have recorded.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/error.hpp>

#include "src/base/text/format.hpp"
#include "src/cli/command.hpp"
#include "src/learn/learn_policy.hpp"
#include "src/run/interrupts.hpp"

namespace kevo::cli {
namespace {

namespace json = boost::json;

struct learn_options {
  learn_request asked;
  std::string output;
  std::string model = "linear";
  std::size_t hidden = 16;
};

json::object ratio_json(const evaluations_ratio& ratio) {
  return {{"ratio", ratio.value},
          {"interval", json::array{ratio.low, ratio.high}},
          {"tasks_interval", json::array{ratio.tasks_low, ratio.tasks_high}}};
}

void print_json(const learn_report& report, const learn_options& given) {
  json::array curve, compared, held_out, tasks;
  const bool any = !report.held_out.empty();
  for (const auto& one : report.curve)
    curve.push_back(
        json::object{{"iteration", one.iteration},
                     {"return", one.trained_return},
                     {"held_out_return", any ? json::value(one.held_out_return) : json::value(nullptr)}});
  for (const auto& one : report.compared)
    compared.push_back(json::object{{"policy", one.policy},
                                    {"evaluations", one.evaluations},
                                    {"to_uniform", ratio_json(one.to_uniform)},
                                    {"to_weights", ratio_json(one.to_weights)},
                                    {"better_tasks", one.better}});
  for (const auto& one : report.held_out) held_out.emplace_back(one);
  for (const auto& one : report.tasks) tasks.emplace_back(one);
  fmt::print("{}\n", json::serialize(json::object{
                         {"policy", given.output},
                         {"programs", report.programs},
                         {"actions", report.actions},
                         {"unknown_actions", report.unknown_actions},
                         {"tasks", std::move(tasks)},
                         {"held_out", std::move(held_out)},
                         {"leave_one_out", given.asked.leave_one_out},
                         {"curve", std::move(curve)},
                         {"uniform_return", any ? json::value(report.uniform_return) : json::value(nullptr)},
                         {"share", given.asked.share},
                         {"seeds", given.asked.seeds},
                         {"compared_tasks", report.compared_tasks},
                         {"evaluations_needed", std::move(compared)}}));
}

void print_words(const learn_report& report, const learn_options& given) {
  std::string text =
      fmt::format("{} programs of {} {}, {} actions between them", report.programs, report.tasks.size(),
                  report.tasks.size() == 1 ? "task" : "tasks", report.actions);
  if (report.unknown_actions > 0)
    text += fmt::format(" ({} more could not be placed)", report.unknown_actions);
  const bool any = !report.held_out.empty();
  text += any ? fmt::format("; held out: {}\n\n", fmt::join(report.held_out, ", ")) : "\n\n";
  text += fmt::format("{:>9}  {:>8}{}\n", "iteration", "return", any ? "  held out" : "");
  for (const auto& one : report.curve) {
    text += fmt::format("{:>9}  {:>8.3f}", one.iteration, one.trained_return);
    text += any ? fmt::format("  {:>8.3f}\n", one.held_out_return) : "\n";
  }
  if (any) text += fmt::format("{:>9}  {:>8}  {:>8.3f}\n", "uniform", "", report.uniform_return);
  if (!report.compared.empty()) {
    text += fmt::format(
        "\nevaluations until {:g} % of the gain that the recorded programs allow, {}, {} seeds:\n",
        100 * given.asked.share,
        given.asked.leave_one_out ? "each task by a policy of the others" : "on what was held out",
        given.asked.seeds);
    text += fmt::format("{:<20}  {:>6}  {:<18}  {:<18}  {}\n", "policy", "number", "of uniform", "of weights",
                        "fewer than uniform");
    const auto ratio = [](const evaluations_ratio& one) {
      return fmt::format("{:.2f} [{:.2f}, {:.2f}]", one.value, one.low, one.high);
    };
    for (const auto& one : report.compared)
      text +=
          fmt::format("{:<20}  {:>6.1f}  {:<18}  {:<18}  in {} of {} tasks\n", one.policy, one.evaluations,
                      ratio(one.to_uniform), ratio(one.to_weights), one.better, report.compared_tasks);
  }
  fmt::print("{}\npolicy: {}\n", format::printable(text), given.output);
}

void write_output(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw error(error_code::environment, "cannot write the policy", {.file = path},
                "name a file in a folder that exists and can be written: -o FILE");
}

void run_learn(learn_options given, bool as_json) {
  interrupts user;
  given.asked.hidden = given.model == "network" ? given.hidden : 0;
  const learn_report report = learn_policy(given.asked, [&user] {
    user.poll();
    return user.graceful_stop().stop_requested();
  });
  write_output(given.output, report.policy_json);
  as_json ? print_json(report, given) : print_words(report, given);
}

}  // namespace

void add_learn(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("learn", "Learn from finished runs");
  verb->require_subcommand(1);
  auto* policy =
      verb->add_subcommand("policy", "Train a policy that chooses the actions of the operator rewrite");
  auto given = std::make_shared<learn_options>();
  policy->add_option("runs", given->asked.runs, "Folders of runs, of any tasks")->required()->expected(1, -1);
  policy->add_option("-o,--output", given->output, "File to write the policy to (JSON)")->required();
  policy
      ->add_option("--hold-out", given->asked.hold_out,
                   "Task to test on instead of training on it (repeatable); default: every fourth task")
      ->allow_extra_args(false);
  policy->add_flag("--leave-one-out", given->asked.leave_one_out,
                   "Train on all tasks; test on each one with another policy that is trained on the others");
  policy->add_option("--model", given->model, "linear or network")
      ->check(CLI::IsMember({"linear", "network"}))
      ->capture_default_str();
  policy->add_option("--hidden", given->hidden, "Number of hidden units of a network")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  policy->add_option("--iterations", given->asked.iterations, "Number of iterations of PPO")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  policy->add_option("--horizon", given->asked.horizon, "Maximum number of steps of an episode")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  policy->add_option("--seeds", given->asked.seeds, "Number of searches of each task that are compared")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  policy->add_option("--share", given->asked.share, "Share of the possible gain that a search has to find")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  policy->add_option("--seed", given->asked.seed, "Seed of all random numbers")->capture_default_str();
  add_json_flag(*policy, shared);
  policy->callback([given, &shared] { run_learn(*given, shared.json); });
}

}  // namespace kevo::cli
