#include "src/rejudge/rejudge.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/registry.hpp>
#include <kevo/task_id.hpp>

#include "src/base/settings/overrides.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/journal/database_file.hpp"
#include "src/journal/journal.hpp"
#include "src/journal/rejudged.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/load.hpp"
#include "src/report/run_archive.hpp"
#include "src/report/run_report.hpp"
#include "src/task/task_loader.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t best_by_default = 5;

/// The candidates to judge: the champion first, then by score.
std::vector<candidate_id> elites_of(const report_content& content, const rejudge_request& request) {
  const auto& candidates = content.history.candidates();
  std::vector<candidate_id> ranked;
  for (candidate_id id = 0; id < candidates.size(); ++id) {
    if (candidates[id].ranked()) ranked.push_back(id);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](candidate_id a, candidate_id b) { return candidates[a].score > candidates[b].score; });
  std::set<candidate_id> wanted;
  if (content.best) wanted.insert(*content.best);
  const std::size_t best = request.all ? ranked.size() : request.top > 0 ? request.top : best_by_default;
  for (std::size_t i = 0; i < std::min(best, ranked.size()); ++i) wanted.insert(ranked[i]);
  if (!request.all && request.top == 0) {
    for (const auto& kept : content.archive.kept) wanted.insert(kept.candidate);
  }
  std::vector<candidate_id> elites;
  if (content.best) elites.push_back(*content.best);
  for (const candidate_id id : ranked) {
    if (wanted.contains(id) && id != content.best) elites.push_back(id);
  }
  return elites;
}

std::string task_path_of(const journal& run, const rejudge_request& request) {
  std::string path = request.task.empty() ? run.header().task_path : request.task;
  if (!path.empty() && fs::exists(path)) return path;
  throw error(error_code::input, "the task file of this run no longer exists", {.file = path},
              "give its new path with --task FILE");
}

/// Makes the config of a journal that anybody may have written one that cannot harm: candidates stay in the
/// whole sandbox, caches in memory, and no program is run that the config names.
void harden(settings_node& tree, const std::string& directory) {
  settings_node* fitness = tree.find("fitness");
  if (fitness == nullptr || !fitness->is_map()) return;  // whoever reads it says what is wrong
  const settings_node* backend = fitness->find("backend");
  if (backend == nullptr || (backend->text != "cpu" && backend->text != "cuda")) {
    throw error(error_code::usage,
                "the config of this run names a program that judges the candidates, and it would be executed",
                {.file = directory, .key = "fitness.backend"}, "if you trust this run, add --trust");
  }
  fitness->set("sandbox", settings_node::of("required"));
  fitness->set("cache", settings_node::of(""));
}

/// The fitness function of the run's config. Keys that this kevo does not know any more are passed over, so
/// that old runs can be judged.
struct recorded_fitness {
  registry plugins = builtin_plugins();
  any_fitness function;
  std::string settings_text;

  recorded_fitness(const journal& run, std::shared_ptr<const task> t, const rejudge_request& request) {
    const auto& header = run.header();
    settings_node tree = parse_yaml(header.config_yaml, run.directory() + "/journal.sqlite: config");
    if (!request.trust) harden(tree, run.directory());
    for (const auto& assignment : request.overrides) {
      if (!assignment.starts_with("fitness.")) {
        throw error(error_code::usage, "rejudge can only change fitness settings, not '" + assignment + "'",
                    {.file = {}, .key = "--set"}, "write --set fitness.key=value");
      }
      apply_override(tree, assignment);
    }
    const auto directory = header.more.find("config_directory");
    const build_context context{.task = std::move(t),
                                .directory = directory == header.more.end() ? "." : directory->second,
                                .run_directory = run.directory(),
                                .plugins = &plugins};
    settings root(tree);
    if (request.trust) {
      for (const auto& path : root.texts("plugins", {}, std::vector<std::string>{}))
        load_plugin((fs::path(context.directory) / path).string(), plugins, root.place("plugins"));
    }
    settings inner = root.child("fitness", "how candidates are evaluated");
    function = plugins.fitness.make(inner, context, "backend");
    if (!request.overrides.empty()) inner.finish();
    if (const auto* said = tree.find("fitness")) settings_text = dump_yaml(*said);
  }
};

evaluation evaluate(const any_fitness& fitness, std::shared_ptr<const program> source,
                    evaluation_stage wanted, const wait_listener& waiting) {
  return fitness.evaluate(
      {.program = std::move(source), .wanted = wanted, .fresh = true, .waiting = waiting});
}

std::string now_in_utc() {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

/// The rules of today, for looking up what was judged under them. Protocol and device are known only to the
/// fitness function, which tells them with any evaluation: a build is the cheapest one.
rejudge_rules rules_of(const any_fitness& fitness, const std::shared_ptr<const program>& any,
                       rejudge_rules made, const wait_listener& waiting) {
  const evaluation built = evaluate(fitness, any, evaluation_stage::built, waiting);
  made.protocol = built.protocol;
  made.device = built.device;
  return made;
}

}  // namespace

std::size_t rejudge_report::count(rejudge_word word) const {
  return static_cast<std::size_t>(std::count_if(
      elites.begin(), elites.end(), [word](const rejudged_elite& one) { return one.verdict.word == word; }));
}

rejudge_report rejudge_run(const rejudge_request& request) {
  const journal run = journal::open_read_only(request.run);
  const report_content content =
      content_of(run, empty_archive_of(run, request.trust ? run_plugins::load : run_plugins::leave));
  const auto t = std::make_shared<const task>(load_task(task_path_of(run, request)));
  rejudge_rules rules{.task_id = to_string(id_of(*t))};
  rejudge_report report{
      .run = request.run,
      .task = t->name,
      .task_changed = !run.header().task_id.empty() && run.header().task_id != rules.task_id};
  const auto elites = elites_of(content, request);
  if (elites.empty()) return report;
  const recorded_fitness fitness(run, t, request);
  rules.fitness = fitness.settings_text;
  auto file = rejudged_file::open(request.run);
  report.file = file.path();
  bool look_up = !request.again && !file.rows().empty();

  for (const candidate_id id : elites) {
    const shown_candidate shown = shown_candidate_of(run, id);
    rejudged_elite one{.id = id,
                       .program = to_string(content.history.candidates()[id].program),
                       .champion = content.best == id,
                       .old = shown.evaluation};
    if (!shown.program || !shown.evaluation) {
      one.verdict = {rejudge_word::undecided,
                     "the source or the evaluation of this candidate is not in the journal"};
      report.elites.push_back(std::move(one));
      continue;
    }
    if (look_up && rules.protocol.empty())
      rules = rules_of(fitness.function, shown.program, rules, request.waiting);
    if (auto found = look_up ? file.find(one.program, rules) : std::nullopt) {
      one.now = std::make_shared<const evaluation>(std::move(found->result));
      one.known = true;
      one.verdict = compare(*one.old, *one.now);
    } else {
      one.now = std::make_shared<const evaluation>(
          evaluate(fitness.function, shown.program, evaluation_stage::confirmed, request.waiting));
      one.verdict = compare(*one.old, *one.now);
      rules.protocol = one.now->protocol;
      rules.device = one.now->device;
      file.append({.judged_at = now_in_utc(),
                   .kevo_version = detail::program_version(),
                   .candidate = id,
                   .program = one.program,
                   .rules = rules,
                   .verdict = std::string(to_string(one.verdict.word)),
                   .reason = one.verdict.reason,
                   .result = *one.now});
    }
    report.protocol = rules.protocol;
    if (request.told) request.told(one);
    report.elites.push_back(std::move(one));
  }
  return report;
}

}  // namespace kevo
