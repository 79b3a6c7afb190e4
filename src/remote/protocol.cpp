#include "src/remote/protocol.hpp"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/json/json_text.hpp"

namespace kevo::remote {
namespace {

namespace json = boost::json;

[[noreturn]] void wrong(const std::string& key, const std::string& why) {
  throw error(error_code::input, why, {.file = {}, .key = key});
}

const json::value* given(const json::object& o, std::string_view key) {
  const auto* found = o.if_contains(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string text_at(const json::object& o, const std::string& key, std::size_t longest) {
  const auto* found = given(o, key);
  if (found == nullptr) return {};
  if (!found->is_string()) wrong(key, "expected a string");
  if (found->get_string().size() > longest)
    wrong(key, "is longer than " + std::to_string(longest) + " bytes");
  return std::string(found->get_string());
}

double number_at(const json::object& o, const std::string& key, double least, double most) {
  const auto* found = given(o, key);
  if (found == nullptr) return 0;
  if (!found->is_number()) wrong(key, "expected a number");
  const double x = found->to_number<double>();
  if (!(x >= least && x <= most)) wrong(key, fmt::format("must be from {} to {}", least, most));
  return x;
}

// A name that stays within its folder, wherever it is written.
void require_file_name(const std::string& key, std::string_view name) {
  const bool odd = name.empty() || name.size() > 200 || name.front() == '/' || name.back() == '/' ||
                   name.find('\0') != std::string_view::npos || name.find('\\') != std::string_view::npos;
  std::size_t at = 0;
  bool dots = false;
  while (at <= name.size()) {
    const auto end = std::min(name.find('/', at), name.size());
    const auto part = name.substr(at, end - at);
    dots = dots || part.empty() || part == "." || part == "..";
    at = end + 1;
  }
  if (odd || dots) wrong(key, "a name of a file must be relative and stay within its folder");
}

constexpr std::size_t longest_text = std::size_t{64} << 20U;
constexpr std::size_t most_files = 64;

void read_program(const json::object& o, program& made) {
  const auto* given_program = given(o, "program");
  if (given_program == nullptr) wrong("program", "this key is missing");
  if (!given_program->is_object()) wrong("program", "expected an object with language and files");
  const auto& p = given_program->get_object();
  made.language = text_at(p, "language", 64);
  if (made.language.empty()) wrong("program.language", "this key is missing");
  const auto* files = given(p, "files");
  if (files == nullptr || !files->is_array() || files->get_array().empty())
    wrong("program.files", "expected a list of {path, text}, at least one");
  if (files->get_array().size() > most_files) wrong("program.files", "too many files");
  for (const auto& one : files->get_array()) {
    if (!one.is_object()) wrong("program.files", "expected a list of {path, text}");
    source_file file{text_at(one.get_object(), "path", 200), text_at(one.get_object(), "text", longest_text)};
    require_file_name("program.files.path", file.path);
    made.files.push_back(std::move(file));
  }
  for (const auto& entry : p) {
    if (entry.key() != "language" && entry.key() != "files")
      wrong("program." + std::string(entry.key()), "unknown key");
  }
}

// "task": "NAME", or {"file": NAME, "files": {NAME: TEXT}}.
void read_task(const json::object& o, submission& made) {
  const auto* task = given(o, "task");
  if (task == nullptr) {
    if (made.kernelbench.empty()) wrong("task", "this key is missing");
    return;
  }
  if (task->is_string()) {
    made.task = text_at(o, "task", 200);
    if (made.task.empty()) wrong("task", "is empty");
    return;
  }
  if (!task->is_object()) wrong("task", "expected the name of a task, or an object with file and files");
  const auto& whole = task->get_object();
  made.task_file = text_at(whole, "file", 200);
  const auto* files = given(whole, "files");
  if (files == nullptr || !files->is_object())
    wrong("task.files", "expected an object of texts by file name");
  if (files->get_object().size() > most_files) wrong("task.files", "too many files");
  for (const auto& entry : files->get_object()) {
    if (!entry.value().is_string()) wrong("task.files", "expected an object of texts by file name");
    made.task_files[std::string(entry.key())] = std::string(entry.value().get_string());
  }
  if (!made.task_files.contains(made.task_file)) wrong("task.file", "is not among task.files");
}

void write_task(json_text& text, const submission& what) {
  if (!what.task.empty()) {
    text.key("task");
    text.value(std::string_view(what.task));
  } else if (!what.task_file.empty()) {
    text.key("task");
    text.begin_object();
    text.key("file");
    text.value(std::string_view(what.task_file));
    text.key("files");
    text.begin_object();
    for (const auto& [name, content] : what.task_files) {
      text.key(name);
      text.value(std::string_view(content));
    }
    text.end_object();
    text.end_object();
  }
}

}  // namespace

std::string to_json(const submission& what) {
  json_text text;
  const auto put = [&text](std::string_view key, const std::string& value) {
    if (value.empty()) return;
    text.key(key);
    text.value(std::string_view(value));
  };
  const auto number = [&text](std::string_view key, double value) {
    if (value == 0) return;
    text.key(key);
    text.value(value);
  };
  text.begin_object();
  write_task(text, what);
  put("task_id", what.task_id);
  put("kernelbench", what.kernelbench);
  text.key("program");
  text.begin_object();
  put("language", what.program.language);
  text.key("files");
  text.begin_array();
  for (const auto& file : what.program.files) {
    text.begin_object();
    text.key("path");
    text.value(std::string_view(file.path));
    text.key("text");
    text.value(std::string_view(file.text));
    text.end_object();
  }
  text.end_array();
  text.end_object();
  text.key("stage");
  text.value(to_string(what.stage));
  number("best_speedup", what.best_speedup);
  put("attempt", what.attempt);
  if (what.priority != 0) {
    text.key("priority");
    text.value(what.priority);
  }
  number("deadline_s", what.deadline_s);
  number("limit_s", what.limit_s);
  if (!what.second_try) {
    text.key("second_try");
    text.value(false);
  }
  text.end_object();
  return std::move(text).text();
}

submission submission_from_json(std::string_view text) {
  const auto document = parse_json_exactly(text, true);  // a source may hold any bytes
  if (!document.is_object()) throw error(error_code::input, "expected a JSON object");
  const auto& o = document.get_object();
  static constexpr std::array<std::string_view, 11> known = {
      "task",    "task_id",  "kernelbench", "program", "stage",     "best_speedup",
      "attempt", "priority", "deadline_s",  "limit_s", "second_try"};
  for (const auto& entry : o) {
    if (std::find(known.begin(), known.end(), std::string_view(entry.key())) == known.end())
      wrong(std::string(entry.key()), "unknown key");
  }
  submission made;
  made.kernelbench = text_at(o, "kernelbench", 100000);
  read_task(o, made);
  if (!made.kernelbench.empty() && given(o, "task") != nullptr)
    wrong("kernelbench", "cannot be used together with a task");
  made.task_id = text_at(o, "task_id", 32);
  read_program(o, made.program);
  const std::string stage = text_at(o, "stage", 32);
  if (!stage.empty()) {
    const auto parsed = parse_evaluation_stage(stage);
    if (!parsed || *parsed == evaluation_stage::none)
      wrong("stage", "must be built, checked, timed_short, timed_full or confirmed");
    made.stage = *parsed;
  }
  made.best_speedup = number_at(o, "best_speedup", 0, 1e12);
  made.attempt = text_at(o, "attempt", 64);
  made.priority = static_cast<std::int64_t>(number_at(o, "priority", -100, 100));
  made.deadline_s = number_at(o, "deadline_s", 0, 1e8);
  made.limit_s = number_at(o, "limit_s", 0, 1e6);
  if (const auto* again = given(o, "second_try")) {
    if (!again->is_bool()) wrong("second_try", "must be true or false");
    made.second_try = again->get_bool();
  }
  return made;
}

state state_from_json(std::string_view text) {
  const auto document = parse_json_exactly(text, true);
  if (!document.is_object()) throw error(error_code::input, "expected a JSON object");
  const auto& o = document.get_object();
  state made;
  if (const auto* problem = given(o, "error"); problem != nullptr && problem->is_object()) {
    made.error_code = text_at(problem->get_object(), "code", 100);
    made.error = text_at(problem->get_object(), "message", longest_text);
  }
  made.id = text_at(o, "id", 64);
  const std::string name = text_at(o, "status", 32);
  if (name.empty() && !made.error.empty()) return made;
  const auto progress = parse_progress(name);
  if (!progress) wrong("status", "is not a status that a kevo server gives");
  made.progress = *progress;
  made.age_s = number_at(o, "age_s", 0, 1e12);
  if (const auto* result = given(o, "evaluation"))
    made.evaluation = evaluation_from_json(json::serialize(*result));
  if (made.progress == progress::done && !made.evaluation) wrong("evaluation", "this key is missing");
  return made;
}

}  // namespace kevo::remote
