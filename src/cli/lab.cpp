// kevo lab: policies compared on problems whose answer is known, and ablations of programs.

#include "src/lab/lab.hpp"

#include <chrono>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/cli/command.hpp"
#include "src/cli/lab_ablation.hpp"
#include "src/cli/standard_error.hpp"
#include "src/run/interrupts.hpp"

namespace kevo::cli {
namespace {

namespace json = boost::json;

struct lab_options {
  std::string config;
  std::vector<std::string> overrides;
  bool print_config = false;
};

json::array range(const estimate& e) {
  return {e.range.low, e.range.high};
}

json::array table_json(const lab_results& results) {
  json::array rows;
  for (const auto& r : results.rows) {
    rows.push_back(json::object{
        {"policy", r.policy},
        {"budget", r.budget},
        {"seeds", r.seeds},
        {"mean_share", r.mean.value},
        {"mean_interval", range(r.mean)},
        {"median_share", r.median.value},
        {"median_interval", range(r.median)},
        {"geometric_mean_speedup", r.speedup > 0 ? json::value(r.speedup) : json::value(nullptr)},
        {"optimal", r.optimal}});
  }
  return rows;
}

json::array differences_json(const lab_results& results) {
  json::array rows;
  for (const auto& d : results.differences) {
    rows.push_back(json::object{{"policy", d.pair.policy},
                                {"against", d.pair.against},
                                {"budget", d.budget},
                                {"mean_difference", d.mean.value},
                                {"interval", range(d.mean)},
                                {"wins", d.wins},
                                {"ties", d.ties},
                                {"losses", d.losses},
                                {"p", d.p},
                                {"p_holm", d.p_holm}});
  }
  return rows;
}

void print_json(const lab_plan& plan, const lab_outcome& ended) {
  json::array files;
  for (const auto& file : ended.files) files.push_back(json::value(file));
  fmt::print("{}\n", json::serialize(json::object{{"lab", ended.folder},
                                                  {"cells", ended.cells},
                                                  {"reused", ended.reused},
                                                  {"finished", ended.finished},
                                                  {"interrupted", ended.interrupted},
                                                  {"unit", std::string(to_string(plan.unit))},
                                                  {"policies", table_json(ended.results)},
                                                  {"differences", differences_json(ended.results)},
                                                  {"files", std::move(files)}}));
}

std::size_t widest(const lab_plan& plan) {
  std::size_t most = 6;
  for (const auto& policy : plan.policies) most = std::max(most, policy.name.size());
  return most;
}

void print_words(const lab_plan& plan, const lab_outcome& ended) {
  if (ended.interrupted) {
    fmt::print("stopped: {} of {} searches are finished; run the same command again to continue\n",
               ended.finished, ended.cells);
    return;
  }
  const std::size_t name = widest(plan);
  std::string text;
  text += fmt::format("{:<{}}  {:>11}  {:>24}  {:>24}  {:>8}  {:>7}\n", "policy", name, to_string(plan.unit),
                      "mean share", "median share", "speedup", "optimal");
  for (const auto& r : ended.results.rows) {
    text += fmt::format(
        "{:<{}}  {:>11g}  {:>7.3f} [{:>6.3f}, {:>6.3f}]  {:>7.3f} [{:>6.3f}, {:>6.3f}]  {:>7.2f}x  "
        "{:>6.0f}%\n",
        r.policy, name, r.budget, r.mean.value, r.mean.range.low, r.mean.range.high, r.median.value,
        r.median.range.low, r.median.range.high, r.speedup, 100 * r.optimal);
  }
  if (!ended.results.differences.empty()) text += "\n";
  for (const auto& d : ended.results.differences) {
    text += fmt::format(
        "{:<{}} - {:<{}}  {:>8g}  {:>+7.3f} [{:>+6.3f}, {:>+6.3f}]  {} better, {} same, {} worse, p {:.3g}\n",
        d.pair.policy, name, d.pair.against, name, d.budget, d.mean.value, d.mean.range.low,
        d.mean.range.high, d.wins, d.ties, d.losses, d.p_holm);
  }
  text += fmt::format(
      "\n{} searches ({} from earlier runs of this lab); share: log(speedup) / log(optimal speedup), with "
      "{:g} % confidence intervals\n{}/lab.html\n",
      ended.cells, ended.reused, 100 * plan.confidence, ended.folder);
  fmt::print("{}", format::printable(text));
}

/// Takes Ctrl-C in, and writes a line now and then, on a terminal alone.
auto progress_lines(interrupts& user) {
  using clock = std::chrono::steady_clock;
  return [&user, last = clock::now(), talks = ::isatty(STDERR_FILENO) != 0](std::size_t done,
                                                                            std::size_t all) mutable {
    user.poll();
    if (!talks || done == all || clock::now() - last < std::chrono::seconds(2)) return;
    last = clock::now();
    say(fmt::format("{} of {} searches", done, all));
  };
}

}  // namespace

void add_lab(CLI::App& program, invocation& shared) {
  auto* verb =
      program.add_subcommand("lab",
                             "Compare search policies on problems whose optimum is known, or measure "
                             "what each part of a program is worth (ablation)");
  auto given = std::make_shared<lab_options>();
  verb->add_option("config", given->config, "Lab config (YAML)")->required();
  verb->add_option("--set", given->overrides, "Override a key of the config: --set lab.seeds=5")
      ->allow_extra_args(false);
  verb->add_flag("--print-config", given->print_config,
                 "Print the complete config, including all defaults, and exit");
  add_json_flag(*verb, shared);
  verb->callback([given, &shared] {
    const config_source config = read_config(given->config, given->overrides);
    if (is_ablation(config)) {
      const ablation_plan ablation = plan_ablation(config);
      given->print_config ? fmt::print("{}\n", ablation.resolved_config)
                          : run_and_print_ablation(ablation, shared);
      return;
    }
    const lab_plan plan = plan_lab(config);
    if (given->print_config) {
      fmt::print("{}\n", plan.resolved_config);
      return;
    }
    interrupts user;
    const lab_outcome ended = run_lab(plan, progress_lines(user), user.graceful_stop());
    shared.json ? print_json(plan, ended) : print_words(plan, ended);
    if (ended.interrupted) shared.exit_code = 130;
  });
}

}  // namespace kevo::cli
