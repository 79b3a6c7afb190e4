// kevo attack: generic exploits, made for a task's signature, against the evaluator that judges that task.

#include "fitness/attack/attack.hpp"

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/attack/instantiate.hpp"
#include "src/base/json/evaluation_json.hpp"
#include "src/base/text/format.hpp"
#include "src/cli/announced_waits.hpp"
#include "src/cli/command.hpp"
#include "src/cli/fitness_options.hpp"
#include "src/display/terminal.hpp"
#include "src/plugins/builtin.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace kevo::cli {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

struct attack_options {
  std::string task;
  std::vector<std::string> honest;
  std::vector<std::string> corpora;
  std::vector<std::string> only;
  fitness_options fitness;
  std::string write;
  bool list = false;
  bool fail = false;
};

bool is_wanted(const exploit& one, const std::vector<std::string>& patterns) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
           return ::fnmatch(pattern.c_str(), one.name.c_str(), 0) == 0 ||
                  one.name.find(pattern) != std::string::npos;
         });
}

/// The shipped exploits and those of the user's folders that the patterns name. A name is one exploit's: that
/// of a later folder stands for the earlier one. Controls come first.
std::vector<exploit> wanted_exploits(const attack_options& given) {
  auto all = shipped_exploits();
  for (const auto& folder : given.corpora) {
    for (auto& one : load_exploits(folder)) {
      std::erase_if(all, [&](const exploit& known) { return known.name == one.name; });
      all.push_back(std::move(one));
    }
  }
  std::erase_if(all, [&](const exploit& one) { return !is_wanted(one, given.only); });
  std::stable_sort(all.begin(), all.end(), [](const exploit& a, const exploit& b) {
    return (a.aim == exploit_aim::control) > (b.aim == exploit_aim::control);
  });
  if (all.empty())
    throw error(error_code::usage, "no exploit matches this name", {.file = {}, .key = "--only"},
                "list the names with: kevo attack --list");
  return all;
}

/// What exploits may be made of: what the user names, else the seeds, then the baselines that need no
/// library.
std::vector<program> honest_programs(const attack_options& given, const task& t) {
  std::vector<program> all;
  for (const auto& path : given.honest) all.push_back(load_program(path));
  if (!all.empty()) return all;
  all = t.seeds;
  for (const auto& one : t.baselines) {
    if (one.link.empty()) all.push_back(one.source);
  }
  return all;
}

void list(const std::vector<exploit>& exploits, const invocation& shared) {
  json::array all;
  for (const auto& one : exploits) {
    if (shared.json) {
      all.push_back(json::object{{"name", one.name}, {"mechanism", one.mechanism}});
    } else {
      fmt::print("{:36} {}\n", one.name, one.mechanism);
    }
  }
  if (shared.json) fmt::print("{}\n", json::serialize(json::object{{"exploits", std::move(all)}}));
}

/// Writes each exploit as it is made for the task: `kevo eval` takes these files.
void write_programs(const std::vector<exploit>& exploits, const task& t, const std::vector<program>& honest,
                    const std::string& folder) {
  for (const auto& one : exploits) {
    if (!is_written_for(one, t) || honest.empty()) continue;
    const auto made = instantiate(one, t, honest_for(one.form, honest));
    if (!made.program) continue;
    const fs::path path =
        fs::path(folder) / (one.name + fs::path(made.program->files.front().path).extension().string());
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    std::ofstream out(path, std::ios::binary);
    out << made.program->text();
    out.close();
    if (!out)
      throw error(error_code::environment, "cannot write this file", {.file = path.string()},
                  "check the permissions of the folder and the free disk space");
  }
}

std::string speed_of(const attack_finding& one) {
  if (!one.result || !one.result->valid() || !(one.result->speedup > 0)) return "";
  const auto& e = *one.result;
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", e.speedup, e.speedup_interval.low, e.speedup_interval.high);
}

void print_finding(const attack_finding& one) {
  const std::string found = one.result ? std::string(to_string(one.result->outcome)) : "";
  fmt::print("{:14} {:30} {:13} {:20} {}\n", to_string(one.word), one.name, found, speed_of(one),
             format::one_line(one.word == attack_word::got_through ? one.mechanism + "; " + one.why
                              : one.why.empty()                    ? one.mechanism
                                                                   : one.why,
                              !locale_is_utf8()));
  std::fflush(stdout);
}

json::object object_of(const attack_finding& one) {
  return {{"name", one.name},
          {"mechanism", one.mechanism},
          {"word", to_string(one.word)},
          {"why", one.why},
          {"expected", one.expected},
          {"evaluation",
           one.result ? json::parse(to_json(*one.result, {.raw_samples = false})) : json::value(nullptr)}};
}

void print_attacks(const attack_report& report, bool as_json) {
  const auto count = [&](attack_word word) { return report.count(word); };
  const std::size_t tried =
      report.findings.size() - count(attack_word::not_applicable) - count(attack_word::control);
  if (as_json) {
    json::array all;
    for (const auto& one : report.findings) all.push_back(object_of(one));
    fmt::print("{}\n", json::serialize(json::object{{"task", report.task},
                                                    {"fitness", report.fitness},
                                                    {"tried", tried},
                                                    {"got_through", count(attack_word::got_through)},
                                                    {"caught", count(attack_word::caught)},
                                                    {"harmless", count(attack_word::harmless)},
                                                    {"undecided", count(attack_word::undecided)},
                                                    {"not_applicable", count(attack_word::not_applicable)},
                                                    {"exploits", std::move(all)}}));
    return;
  }
  fmt::print(
      "{}: {} of {} exploits got through, {} were caught, {} were harmless, {} undecided, {} not "
      "applicable\n",
      report.task, count(attack_word::got_through), tried, count(attack_word::caught),
      count(attack_word::harmless), count(attack_word::undecided), count(attack_word::not_applicable));
}

void attack(const attack_options& given, invocation& shared) {
  auto exploits = wanted_exploits(given);
  if (given.task.empty()) {
    if (!given.list)
      throw error(error_code::usage, "the task file is missing", {.file = {}, .key = "task"},
                  "write kevo attack TASK, or kevo attack --list");
    return list(exploits, shared);
  }
  const task t = load_task(given.task);
  std::erase_if(exploits, [&](const exploit& one) { return !is_written_for(one, t); });
  if (given.list) return list(exploits, shared);
  const auto honest = honest_programs(given, t);
  if (!given.write.empty()) write_programs(exploits, t, honest, given.write);
  registry plugins = builtin_plugins();
  const fitness_choice choice = read_fitness_options(given.fitness, plugins);
  attack_settings settings;
  settings.fitness = [&](std::shared_ptr<const task> attacked) {
    return make_fitness(choice, plugins, {.task = std::move(attacked), .plugins = &plugins});
  };
  announced_waits waits;
  settings.waiting = waits.listener();
  if (!shared.json) settings.told = print_finding;
  const attack_report report = attack_task(t, honest, exploits, settings);
  print_attacks(report, shared.json);
  if (given.fail && report.count(attack_word::got_through) > 0) shared.exit_code = 2;
}

}  // namespace

void add_attack(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand(
      "attack",
      "Run generic exploits against the evaluation of a task and report which ones it does not catch");
  auto given = std::make_shared<attack_options>();
  verb->add_option("task", given->task, "Task file");
  verb->add_option("--honest", given->honest,
                   "Honest program from which the exploits are built and with which they are compared "
                   "(default: the first seed of the task)")
      ->allow_extra_args(false);
  verb->add_option("--corpus", given->corpora, "Folder of additional exploits (.cpp and .cu files)")
      ->allow_extra_args(false);
  verb->add_option(
          "--only", given->only,
          "Run only exploits whose name contains this text or matches this pattern: --only 'cpp/cache_*'")
      ->allow_extra_args(false);
  add_fitness_options(*verb, given->fitness);
  verb->add_option("--write", given->write,
                   "Also write the exploits, as built for this task, to this folder");
  verb->add_flag("--list", given->list,
                 "Print the names and mechanisms of the exploits without running them");
  verb->add_flag("--fail", given->fail, "Exit with code 2 if an exploit got through");
  add_json_flag(*verb, shared);
  verb->callback([given, &shared] { attack(*given, shared); });
}

}  // namespace kevo::cli
