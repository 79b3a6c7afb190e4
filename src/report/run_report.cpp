#include "src/report/run_report.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include <boost/json/parse.hpp>

#include <kevo/error.hpp>
#include <kevo/evaluate/pooled.hpp>
#include <kevo/settings.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/base/text/shell_word.hpp"
#include "src/journal/run_folder.hpp"
#include "src/report/html_report.hpp"

namespace kevo {

namespace {

std::string local_time(double unix_s) {
  constexpr double year_10000 = 253402300800;
  if (!(unix_s > 0 && unix_s < year_10000)) return {};
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  char text[64] = "";
  if (localtime_r(&seconds, &parts) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M %Z", &parts);
  return text;
}

/// A word of a shell command.
std::string quoted(const std::string& word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%") ==
          std::string::npos &&
      !word.empty())
    return word;
  return shell_word(word);
}

/// The name that a task file gives itself; empty if it cannot be told.
std::string name_in(const std::string& task_text) {
  try {
    settings root(parse_yaml(task_text));
    return root.text("name", {.def = ""});
  } catch (const error&) {
    return {};
  }
}

/// What was set on the command line, a JSON array of texts; empty if it cannot be told.
std::vector<std::string> overrides_in(const std::string& text) {
  boost::system::error_code wrong;
  const auto all = boost::json::parse(text, wrong);
  std::vector<std::string> overrides;
  if (wrong || !all.is_array()) return overrides;
  for (const auto& one : all.get_array()) {
    if (one.is_string()) overrides.emplace_back(one.get_string());
  }
  return overrides;
}

/// The evaluation that says most: of valid ones the latest of the widest stage (a confirmation rather than a
/// quick look), several confirmations as one, but a failure if that came last.
std::shared_ptr<const evaluation> best_known(const journal& run, candidate_id id, int looks) {
  std::shared_ptr<const evaluation> found;
  std::vector<std::shared_ptr<const evaluation>> confirmed;
  for (const auto& one : run.evaluations(id)) {
    if (!one.result) continue;
    const bool wider = !found || !found->valid() || !one.result->valid() || one.result->stage >= found->stage;
    if (wider) found = one.result;
    if (one.wanted == evaluation_stage::confirmed && one.result->valid()) confirmed.push_back(one.result);
  }
  const bool several = confirmed.size() > 1 && found == confirmed.back();
  return several ? std::make_shared<const evaluation>(pooled(confirmed, looks)) : found;
}

/// How often the run could confirm one candidate: see confirmation_rules.
int looks_of(const journal& run) {
  const auto& more = run.header().more;
  const auto further = more.find("search.confirm.further");
  if (further == more.end()) return 1;
  // A journal may be somebody else's: what is no number counts as 0, and a larger one as the largest.
  constexpr int most = 100;
  const std::string& text = further->second;
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc::result_out_of_range) number = text.starts_with('-') ? 0 : most;
  return 1 + std::clamp(number, 0, most);
}

}  // namespace

report_content content_of(const journal& run, any_archive empty_archive) {
  report_content content;
  const journal_header& header = run.header();
  content.run = header.run_name;
  content.folder = run.directory();
  content.version = header.kevo_version;
  content.seed = std::to_string(header.seed);
  content.config = header.config_yaml;
  content.operator_names = header.operators;
  const auto more = [&](const char* key) {
    const auto it = header.more.find(key);
    return it == header.more.end() ? std::string() : it->second;
  };
  for (const std::string prefix = "seed_file."; const auto& [key, value] : header.more) {
    if (key.starts_with(prefix)) content.seed_files[key.substr(prefix.size())] = value;
  }
  content.task = more("task_name");
  content.device = more("device");
  if (content.task.empty()) content.task = name_in(header.task_json_or_text);
  if (content.task.empty() && !header.task_path.empty())
    content.task = std::filesystem::path(header.task_path).parent_path().filename().string();
  const auto evaluator = overrides_in(more("evaluator_words"));  // --openevolve FOLDER
  if (!header.config_path.empty() || !evaluator.empty()) {
    content.command = "kevo run";
    if (!header.config_path.empty()) content.command += " " + quoted(header.config_path);
    for (const auto& one : evaluator) content.command += " " + quoted(one);
    for (const auto& one : overrides_in(more("overrides"))) content.command += " --set " + quoted(one);
  }
  if (const auto sessions = run.sessions(); !sessions.empty())
    content.started = local_time(sessions.front().opened_unix_s);

  content.history = history_of([&](const auto& visit) { run.for_each_event(visit); },
                               std::move(empty_archive), run.store().program_of);
  content.archive = map_of(content.history.archive());
  content.judged = judgements_of(run.directory());
  content.best = content.history.best();
  if (content.best) {
    const auto store = run.store();
    const auto& all = content.history.candidates();
    content.best_program = store.program_of(all[*content.best].program);
    content.best_evaluation = best_known(run, *content.best, looks_of(run));
    content.root = content.history.main_line(*content.best).front();
    content.root_program = store.program_of(all[content.root].program);
    if (content.device.empty() && content.best_evaluation) content.device = content.best_evaluation->device;
  }
  return content;
}

shown_candidate shown_candidate_of(const journal& run, candidate_id id) {
  const auto recorded = run.candidate(id);
  if (!recorded) return {.id = id};
  return {id, run.store().program_of(recorded->program), best_known(run, id, looks_of(run)),
          recorded->transcript, run.model_calls(id)};
}

std::string write_report(const journal& run, any_archive empty_archive) {
  return write_report(content_of(run, std::move(empty_archive)), run.directory());
}

std::string write_report(const report_content& content, const std::string& directory) {
  const std::string page = html_report(content);
  detail::refuse_links(directory);
  std::string path = directory + "/report.html";
  const std::string draft = path + ".new";
  std::FILE* file = std::fopen(draft.c_str(), "wb");
  bool good = file != nullptr && std::fwrite(page.data(), 1, page.size(), file) == page.size();
  if (file != nullptr) good = std::fclose(file) == 0 && good;
  if (!good || std::rename(draft.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(draft.c_str());
    throw error(error_code::environment, "cannot write the report: " + reason, {.file = path},
                "check the free disk space and the permissions of the folder");
  }
  return path;
}

}  // namespace kevo
