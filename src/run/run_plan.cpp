#include "src/run/run_plan.hpp"

#include <filesystem>
#include <utility>

#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>

#include <kevo/fitness/draft_tools.hpp>
#include <kevo/load_task.hpp>
#include <kevo/plugins.hpp>

#include "src/base/settings/overrides.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/llm/decode.hpp"
#include "src/plugins/filter.hpp"
#include "src/plugins/screen.hpp"
#include "src/run/output_folder.hpp"
#include "src/run/same_plan.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

void decode_confirm(settings& root, confirmation_rules& rules) {
  settings confirm = root.child_or_empty("confirm", "when the best candidate may be called confirmed");
  rules.widest = confirm.real(
      "widest", {.def = 0.10,
                 .min = 0.001,
                 .max = 10.0,
                 .unit = "of the speedup",
                 .doc = "largest width of the interval of a confirmed speedup, as a fraction of the speedup; "
                        "a champion whose interval is wider or contains 1 is called undecided"});
  rules.further = static_cast<int>(confirm.integer(
      "further",
      {.def = 3,
       .min = 0,
       .max = 100,
       .unit = "confirmations",
       .doc = "maximum number of further confirmations of an undecided candidate; the readings of all its "
              "confirmations are combined. None begins after a stop rule has ended the run"}));
  rules.after = static_cast<int>(confirm.integer(
      "after", {.def = 8,
                .min = 0,
                .max = 1000,
                .unit = "evaluations",
                .doc = "number of evaluations to wait before a candidate that looks better than the champion "
                       "is confirmed, or an undecided champion is confirmed again. During the wait, a better "
                       "candidate may take the place of the waiting one; if this happens again and again, "
                       "the wait lasts at most four times as long. The wait grows by this number with each "
                       "consecutive confirmation that brings no new champion, up to eight times this number. "
                       "There is no wait if there is no champion, or if nothing else is left to evaluate"}));
}

void decode_run(settings& root, session_plan& plan) {
  settings run = root.child_or_empty("run", "the run: name, seed, folder and parallelism");
  plan.name = run.text("name", {.def = "run", .doc = "name of the run"});
  plan.search.seed = static_cast<std::uint64_t>(
      run.integer("seed", {.def = 1, .min = 0, .doc = "seed of all random decisions of the search"}));
  plan.folder =
      run.text("output", {.def = "runs/" + plan.name,
                          .doc = "folder of the run; if it already holds a run, a number is appended to the "
                                 "name; if it holds other files, the run is refused"});
  if (plan.folder.empty()) run.fail("output", "the folder of the run has no name", "for example, runs/first");
  if (plan.folder.starts_with('~') || plan.folder.find('$') != std::string::npos)
    run.fail(
        "output",
        fmt::format("'{}' would be a folder of that name: '~' and variables are not replaced", plan.folder),
        "write the whole path, or let the shell replace them: --set run.output=\"$HOME/x\"");
  plan.finish_s = run.real(
      "finish", {.def = plan.finish_s,
                 .min = 0.0,
                 .unit = "s",
                 .doc = "time limit for work that a stop rule does not interrupt: confirmations of possible "
                        "champions, first measurements of seeds and of programs written by models, and model "
                        "requests in progress. All other work gets 1 s. Work that is unfinished by then is "
                        "cancelled; `kevo resume` starts with the cancelled evaluations"});
  settings parallel = run.child_or_empty("parallel", "limits of parallel work");
  plan.variations = static_cast<std::size_t>(
      parallel.integer("variations", {.def = 2,
                                      .min = 1,
                                      .max = 4096,
                                      .unit = "turns",
                                      .doc = "maximum number of operator turns at the same time"}));
  plan.evaluations = static_cast<std::size_t>(
      parallel.integer("builds", {.def = 2,
                                  .min = 1,
                                  .max = 4096,
                                  .unit = "evaluations",
                                  .doc = "maximum number of evaluations at the same time; their builds run "
                                         "in parallel, their measurements one after the other"}));
  plan.search.proposals_ahead = static_cast<std::size_t>(parallel.integer(
      "proposals_ahead", {.def = 4,
                          .min = 0,
                          .max = 1'000'000,
                          .unit = "candidates",
                          .doc = "maximum number of candidates that wait for an evaluation; "
                                 "while so many wait, no new turn is started. 0, for a single "
                                 "line of descent: no turn is started while a candidate waits, "
                                 "is being evaluated, or has to be confirmed before it is known "
                                 "whether it is better than the champion"}));
  decode_confirm(root, plan.search.confirm);
}

std::vector<any_variation> decode_operators(settings& vary, const registry& plugins,
                                            const build_context& context) {
  std::vector<any_variation> operators;
  for (settings& one :
       vary.children("operators", true, "the variation operators; type is the name of the plug-in")) {
    operators.push_back(plugins.operators.make(one, context));
  }
  if (operators.empty())
    vary.fail("operators", "a search needs at least one operator", "for example, [{type: tune}]");
  return operators;
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

/// The description of a plug-in as a sentence.
std::string sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text + ".";
}

std::string table(const std::vector<setting_description>& keys) {
  std::string text;
  for (const auto& key : keys) {
    if (key.type == "map" || key.type.rfind("list of maps", 0) == 0) continue;
    text += "| `" + cell(key.path) + "` | " + cell(key.type) + " | " + cell(key.unit) + " | " +
            (key.required      ? "required"
             : key.def.empty() ? ""
                               : "`" + cell(key.def) + "`") +
            " | " + cell(key.range) + " | " + cell(key.doc) + " |\n";
  }
  if (text.empty()) return "No keys.\n";
  return "| key | type | unit | default | allowed | meaning |\n| --- | --- | --- | --- | --- | --- |\n" +
         text;
}

template <class T>
std::string tables_of(const char* title, const char* where, const plugin_table<T>& plugins,
                      const build_context& context) {
  std::string text = std::string("\n## ") + title + "\n";
  for (const auto& name : plugins.names()) {
    settings probe = settings::probe();
    plugins.make_named(name, probe, context);
    text += "\n### `" + std::string(where) + name + "`\n\n" + sentence(plugins.doc(name)) + "\n\n" +
            table(probe.descriptions());
  }
  return text;
}

std::string filter_tables(const registry& plugins, const build_context& context) {
  settings filter = settings::probe();
  filtering_from(filter, context, plugins);
  return "\n## Proposal filters\n\nUnder `filter:`. If it is absent, every proposal of an unknown program is "
         "evaluated.\n\n" +
         table(filter.descriptions()) + tables_of("Filters", "filter.type: ", plugins.filters, context);
}

std::string screening_tables(const registry& plugins, const build_context& context) {
  settings screen = settings::probe();
  screening_from(screen, context, plugins);
  return "\n## Screening\n\nUnder `screen:`. If it is absent, every proposal is evaluated, oldest "
         "first.\n\n" +
         table(screen.descriptions()) +
         tables_of("Models for screening", "screen.type: ", plugins.rankers, context);
}

}  // namespace

std::string config_reference() {
  const registry plugins = builtin_plugins();
  const build_context context{.directory = ".", .plugins = &plugins};
  session_plan plan;
  settings run = settings::probe();
  decode_run(run, plan);
  settings llm = settings::probe();
  decode_models(llm, ".", plugins, false);
  settings model = settings::probe();
  decode_model(model, ".", false);
  return "## The run\n\n" + table(run.descriptions()) + "\n## Language models\n\nUnder `llm:`.\n\n" +
         table(llm.descriptions()) + "\n### An entry of `llm.models`\n\n" + table(model.descriptions()) +
         tables_of("Fitness", "fitness.backend: ", plugins.fitness, context) +
         tables_of("Archives", "archive.type: ", plugins.archives, context) +
         tables_of("Selectors", "select.type: ", plugins.selectors, context) +
         tables_of("Operators", "vary.operators[].type: ", plugins.operators, context) +
         tables_of("Portfolios", "vary.portfolio.type: ", plugins.portfolios, context) +
         filter_tables(plugins, context) + screening_tables(plugins, context) +
         tables_of("Stop rules", "stop: ", plugins.stop_rules, context) +
         tables_of("Rules of rewards", "kevo export --rule ", plugins.reward_rules, context);
}

config_source read_config(const std::string& path, const std::vector<std::string>& overrides) {
  config_source source{.tree = load_yaml(path), .directory = fs::path(path).parent_path().string()};
  if (source.directory.empty()) source.directory = ".";
  for (const auto& assignment : overrides) apply_override(source.tree, assignment);
  return source;
}

void decode_policies(settings& root, const registry& plugins, const build_context& context,
                     search_parts& parts) {
  settings archive = root.child("archive", "which candidates are kept as elites");
  parts.archive = plugins.archives.make(archive, context);
  settings select = root.child("select", "how parents are chosen");
  parts.select = plugins.selectors.make(select, context);
  settings vary = root.child("vary", "how new candidates are made");
  settings portfolio = vary.child_or_empty("portfolio", "how the next operator is chosen");
  parts.portfolio = plugins.portfolios.make(portfolio, context, "type", "ucb1");
  parts.operators = decode_operators(vary, plugins, context);
  if (root.has("filter")) {
    settings filter = root.child(
        "filter", "which proposals are never evaluated; if absent, all of unknown programs are evaluated");
    parts.filter = filtering_from(filter, context, plugins);
  }
  if (root.has("screen")) {
    settings screen = root.child(
        "screen", "which proposals are evaluated first; if absent, all are evaluated, oldest first");
    parts.screen = screening_from(screen, context, plugins);
  }
}

session_plan decode_plan(const config_source& config, const config_options& options,
                         const std::string& run_directory, plan_use use) {
  registry plugins = options.plugins != nullptr ? *options.plugins : builtin_plugins();
  settings root(config.tree);
  session_plan plan;
  decode_run(root, plan);
  const std::string task_path =
      path_from(root, "task", {.doc = "task file, relative to the config"}, config.directory);
  for (const auto& path :
       paths_from(root, "plugins",
                  {.doc = "shared libraries that register additional plug-ins, relative to the config"},
                  config.directory, std::vector<std::string>{})) {
    load_plugin(path, plugins, root.place("plugins"));
  }
  if (!fs::exists(task_path)) root.fail("task", "there is no file '" + task_path + "'", path_rule);
  plan.parts.task = std::make_shared<const task>(load_task(task_path));

  if (root.has("llm")) {
    settings llm = root.child("llm", "language models");
    plan.models =
        decode_models(llm, config.directory, plugins, use == plan_use::session && !run_directory.empty());
  }
  services offered;
  offered.put(plan.models);
  offered.put(std::make_shared<draft_tools>());  // the fitness function sets those that it has
  const build_context context{.task = plan.parts.task,
                              .directory = config.directory,
                              .run_directory = run_directory,
                              .seed = plan.search.seed,
                              .builds = plan.evaluations,
                              .plugins = &plugins,
                              .services = std::move(offered)};
  if (use == plan_use::session) {
    settings fitness = root.child("fitness", "how candidates are evaluated");
    plan.fitness = plugins.fitness.make(fitness, context, "backend");
  } else {
    root.raw("fitness");  // whatever it says was right when the run began
  }
  decode_policies(root, plugins, context, plan.parts);
  settings stop = root.child("stop", "when the run stops");
  plan.parts.stop = plugins.make_stop_rule(stop, context);
  root.finish();
  if (!run_directory.empty()) plan.folder = run_directory;
  plan.origin.config = dump_yaml(root.resolved());
  plan.origin.config_directory = fs::absolute(config.directory).string();
  return plan;
}

namespace {

/// The config that a run was started with, as its journal keeps it; its task may have moved since.
config_source recorded_config(const journal& record, const std::string& task) {
  const journal_header& header = record.header();
  if (header.config_yaml.empty()) {
    throw error(error_code::input, "this run was started by another program than kevo, not from a config",
                {.file = record.directory()}, "resume or replay it with that program");
  }
  const auto it = header.more.find("config_directory");
  config_source config{.tree = parse_yaml(header.config_yaml, record.directory() + "/journal.sqlite: config"),
                       .directory = it == header.more.end() ? "." : it->second};
  if (!task.empty()) {
    apply_override(config.tree,
                   "task=" + boost::json::serialize(boost::json::value(fs::absolute(task).string())));
  } else if (!header.task_path.empty() && !fs::exists(header.task_path)) {
    throw error(error_code::input, "the task file of this run no longer exists", {.file = header.task_path},
                "give its new path with --task FILE");
  }
  return config;
}

/// Where a model is found, who may ask it and how: `llm.models[0].url=...`. What it is stays.
bool tells_where_a_model_is(const std::string& assignment) {
  if (!assignment.starts_with("llm.models[")) return false;
  const auto dot = assignment.find("].");
  if (dot == std::string::npos) return false;
  const std::string key = assignment.substr(dot + 2, assignment.find('=') - dot - 2);
  for (const std::string one : {"url", "key_env", "key_file", "ca_file", "command", "headers", "timeouts",
                                "retries", "max_tokens_key", "stream", "concurrency", "calls_per_minute"}) {
    if (key == one || key.starts_with(one + ".") || key.starts_with(one + "[")) return true;
  }
  return false;
}

void require_changeable(const std::string& assignment) {
  if (assignment.rfind("stop", 0) == 0 || assignment.rfind("run.parallel", 0) == 0 ||
      assignment.rfind("run.finish", 0) == 0 || assignment.starts_with("llm.patience=") ||
      assignment.starts_with("llm.ask=") || tells_where_a_model_is(assignment))
    return;
  throw error(
      error_code::usage,
      "resume can only change stop, run.parallel, run.finish, llm.patience, llm.ask, and url, command, "
      "key_env, key_file, headers, ca_file, max_tokens_key, stream, timeouts, retries, concurrency and "
      "calls_per_minute of a model, not '" +
          assignment + "'",
      {}, "other changes need a new run");
}

}  // namespace

session_plan recorded_plan(const journal& record, const config_options& options, const std::string& task,
                           plan_use use) {
  config_source config = recorded_config(record, task);
  session_plan past = decode_plan(config, {.plugins = options.plugins}, record.directory(), plan_use::replay);
  require_same_task(record, *past.parts.task);
  if (use == plan_use::replay) return past;
  if (past.models && past.models->settings().mode == cassette_mode::record)
    apply_override(config.tree, "llm.cassette.mode=auto");  // what was paid for is not recorded over
  for (const auto& assignment : options.overrides) {
    require_changeable(assignment);
    apply_override(config.tree, assignment);
  }
  session_plan plan = decode_plan(config, {.plugins = options.plugins}, record.directory(), use);
  plan.search.proposals_ahead = past.search.proposals_ahead;  // it decided what the past was
  return plan;
}

session_plan load_config(const std::string& path, const config_options& options) {
  return new_plan(read_config(path, options.overrides), path, options);
}

session_plan new_plan(const config_source& config, const std::string& path, const config_options& options) {
  // The folder is known only after decoding, and the fitness function wants it: decode the cheap part first.
  const std::string wanted = decode_plan(config, options, {}, plan_use::replay).folder;
  const error_place named = settings(config.tree).child_or_empty("run").place("output");
  session_plan plan = decode_plan(config, options, free_run_folder(wanted, named), plan_use::session);
  if (!path.empty()) plan.origin.config_path = fs::absolute(path).string();
  plan.origin.more["overrides"] = boost::json::serialize(boost::json::value_from(options.overrides));
  return plan;
}

session_plan load_recorded_config(const std::string& folder, const config_options& options,
                                  const std::string& task) {
  return recorded_plan(journal::open_read_only(folder), options, task, plan_use::session);
}

}  // namespace kevo
