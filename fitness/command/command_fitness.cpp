#include "fitness/command/command_fitness.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <unistd.h>

#include <boost/json.hpp>

#include <kevo/error.hpp>

#include "fitness/command/judging.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/process/find_program.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace json = boost::json;
namespace {

constexpr const char* placeholder = "{candidate}";
constexpr const char* default_path = "/usr/local/bin:/usr/bin:/bin";
constexpr std::size_t output_bytes = 2000;  // of standard output, where it is no object
constexpr std::size_t baseline_bytes = 60;

/// The key of the first value in broken JSON that is a nan or an infinity; empty if there is none.
std::string non_finite_key(std::string_view text) {
  for (auto colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    std::string word;
    std::size_t at = std::min(text.find_first_not_of(" \t\r\n", colon + 1), text.size());
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    for (; at < text.size() && word.size() < 9 && std::isalpha(static_cast<unsigned char>(text[at])); ++at)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
    if (word != "nan" && word != "inf" && word != "infinity") continue;
    const auto end = text.find_last_not_of(" \t\r\n", colon - (colon > 0 ? 1 : 0));
    if (end == std::string_view::npos || end == 0 || text[end] != '"') continue;
    const auto begin = text.rfind('"', end - 1);
    if (begin != std::string_view::npos) return std::string(text.substr(begin + 1, end - begin - 1));
  }
  return {};
}

std::string not_finite(const std::string& key) {
  return '"' + key + "\" is not a finite number";
}

/// The last JSON object that begins a line and ends the output but for white space; empty if there is none.
/// An object that an indented one contains begins later, so that the outermost is found from the front.
std::string object_at_the_end(std::string_view output) {
  for (std::size_t line = 0; line < output.size();) {
    const auto begin = output.find_first_not_of(" \t", line);
    if (begin != std::string_view::npos && output[begin] == '{') {
      const std::string_view rest = output.substr(begin);
      try {
        if (parse_json_exactly(rest, true).is_object()) return std::string(rest);
      } catch (const error&) {  // NOLINT(bugprone-empty-catch): another line may be its beginning
      }
    }
    const auto end = output.find('\n', line);
    if (end == std::string_view::npos) break;
    line = end + 1;
  }
  return {};
}

// The whole output; or else its last line that looks like an object; or else an object of several lines at
// its end: programs like to print progress first.
std::optional<json::object> metrics_in(const std::string& output, std::string& problem) {
  const auto parse = [&problem](const std::string& text) -> std::optional<json::object> {
    try {
      auto value = parse_json_exactly(text, true);
      if (value.is_object()) return std::move(value.as_object());
      problem = "its output is not a JSON object";
    } catch (const error& e) {
      const std::string key = non_finite_key(text);  // Python's json.dumps writes NaN and Infinity
      problem = key.empty() ? "its output is not JSON: " + e.message() : not_finite(key);
    }
    return std::nullopt;
  };
  const auto first = output.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    problem = "it printed nothing on standard output";
    return std::nullopt;
  }
  if (auto whole = parse(output)) return whole;
  const std::string whole_problem = problem;
  std::istringstream lines(output);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line[begin] == '{') last = line;
  }
  if (last.empty()) {
    problem = whole_problem;
    return std::nullopt;
  }
  // The last line that begins with a brace may be a part of an object of several lines.
  const std::string at_the_end = object_at_the_end(output);
  if (auto found = parse(at_the_end.empty() ? last : at_the_end)) return found;
  if (const std::string key = non_finite_key(output); !key.empty()) problem = not_finite(key);
  return std::nullopt;
}

void incorrect(evaluation& e, const std::string& reason) {
  e.outcome = outcome::incorrect;
  e.reasons.push_back(reason);
}

/// "./judge" is looked for in the folder, as a shell there would.
/// @throws kevo::error (environment) if there is no such program
std::string program_in(const std::string& folder, const std::string& name) {
  const bool beside = name.find('/') != std::string::npos && name.front() != '/' && !folder.empty();
  const std::string sought = beside ? (fs::path(folder) / name).lexically_normal().string() : name;
  std::string path = find_program(sought);
  if (!path.empty()) return path;
  std::error_code code;
  if (fs::is_regular_file(sought, code)) {
    throw error(error_code::environment, sought + " is not executable", {"", 0, 0, "fitness.command"},
                "chmod +x " + sought + ", or name its interpreter first: [python3, " + name + "]");
  }
  throw error(error_code::environment, "there is no program called " + sought, {"", 0, 0, "fitness.command"},
              "give its path, or add its folder to PATH");
}

/// Files that the arguments name and that neither the folder nor the system's parts hold.
std::vector<mount> files_named(const std::vector<std::string>& command, const std::string& folder) {
  std::vector<mount> found;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const bool absolute = command[i].starts_with('/');
    if (!absolute && folder.empty()) continue;
    const std::string path = (fs::path(folder) / command[i]).lexically_normal().string();
    std::error_code code;
    const bool seen = (!folder.empty() && lies_in(path, folder)) ||
                      std::any_of(system_software.begin(), system_software.end(),
                                  [&](const char* part) { return lies_in(path, part); });
    if (!seen && fs::is_regular_file(path, code)) found.push_back({path, path});
  }
  return found;
}

/// true, false, and 1 and 0, which is how some languages write them.
std::optional<bool> truth_of(const json::value& value) {
  if (value.is_bool()) return value.as_bool();
  if (!value.is_number()) return std::nullopt;
  const auto number = value.to_number<double>();
  return number == 0 || number == 1 ? std::optional(number == 1) : std::nullopt;
}

void take_metrics(evaluation& e, const json::object& metrics) {
  bool valid = true;
  std::optional<double> score;
  std::optional<double> combined;  // what OpenEvolve and ShinkaEvolve call the score
  std::optional<double> speedup;
  for (const auto& item : metrics) {
    const std::string key = item.key();
    const json::value& value = item.value();
    if (key == "feedback" && value.is_string()) {
      e.feedback = tail(std::string(value.as_string()), feedback_bytes);
    } else if (key == "baseline" && value.is_string()) {
      e.baseline = tail(std::string(value.as_string()), baseline_bytes);
    } else if (key == "valid") {
      const auto told = truth_of(value);
      if (!told) return incorrect(e, "\"valid\" is neither true nor false");
      valid = *told;
    } else if (key == "outcome") {
      const auto named =
          value.is_string() ? parse_outcome(std::string_view(value.as_string())) : std::nullopt;
      if (!named) return incorrect(e, "\"outcome\" is not the name of an outcome");
      e.outcome = *named;
    } else if (key == "reasons" && value.is_array()) {
      for (const auto& reason : value.as_array()) {
        if (reason.is_string()) e.reasons.emplace_back(reason.as_string());
      }
    } else if (value.is_number()) {
      const auto number = value.to_number<double>();
      if (!std::isfinite(number)) return incorrect(e, not_finite(key));  // 1e400
      if (key == "score") {
        score = number;
      } else if (key == "combined_score") {
        combined = number;
      } else if (key == "speedup") {
        speedup = number;
      } else {
        e.measures[key] = number;
      }
    } else if (key == "score" || key == "combined_score" || key == "speedup") {
      return incorrect(e, '"' + key + "\" is not a number");
    } else if (value.is_bool()) {
      e.measures[key] = value.as_bool() ? 1 : 0;
    }
  }
  if (!valid && e.outcome == outcome::valid) e.outcome = outcome::incorrect;
  if (e.outcome != outcome::valid) {
    if (e.reasons.empty())
      e.reasons.emplace_back("the program reported the outcome " + std::string(to_string(e.outcome)));
    return;
  }
  if (!score) score = combined;
  if (!score && !speedup) return incorrect(e, "its output has no \"score\"");
  if (speedup.value_or(1) <= 0) return incorrect(e, "a speedup must be above 0 (larger is better)");
  e.score = score ? *score : *speedup;
  if (speedup) {  // what kevo did not compare with a baseline is no speedup: the score alone speaks
    e.speedup = *speedup;
    e.speedup_interval = {*speedup, *speedup};
    if (e.baseline.empty()) e.baseline = "the program's own baseline";
  } else {
    e.baseline.clear();
  }
  e.stage = evaluation_stage::timed_full;
}

// @param path of the program; @param directory it runs in, may be empty; @param folder of the candidate's
// files
launch_spec spec_for(const command_settings& settings, const program& candidate, const std::string& path,
                     const std::string& directory, const std::string& folder) {
  launch_spec spec;
  spec.argv = settings.command;
  spec.argv.front() = path;
  const std::string inside = contains(settings.sandbox) ? "/candidate" : folder;
  const std::string file = inside + "/" + candidate.files.front().path;
  bool named = false;
  for (auto& argument : spec.argv) {
    for (auto at = argument.find(placeholder); at != std::string::npos;
         at = argument.find(placeholder, at + file.size())) {
      argument.replace(at, std::string_view(placeholder).size(), file);
      named = true;
    }
  }
  if (!named) spec.argv.push_back(file);
  spec.environment = settings.environment;
  bool has_path = false;
  for (const auto& variable : spec.environment) has_path = has_path || variable.starts_with("PATH=");
  if (!has_path) {
    const char* variable = std::getenv("PATH");
    spec.environment.push_back(std::string("PATH=") + (variable == nullptr ? default_path : variable));
  }
  spec.limits = settings.limits;
  spec.sandbox = settings.sandbox;
  spec.policy = syscall_policy::command;
  spec.cpus = settings.cpus;
  for (const char* part : system_software) spec.mounts.push_back({part, part, false, true});
  if (!path.starts_with("/usr/") && !path.starts_with("/bin/")) spec.mounts.push_back({path, path});
  for (auto& named_file : files_named(settings.command, directory))
    spec.mounts.push_back(std::move(named_file));
  spec.mounts.insert(spec.mounts.end(), settings.mounts.begin(), settings.mounts.end());
  if (!directory.empty()) spec.mounts.push_back({directory, directory});
  spec.hidden = settings.hidden;
  spec.mounts.push_back({folder, "/candidate", true});
  spec.directory = directory.empty() ? inside : directory;
  return spec;
}

}  // namespace

process_limits command_settings::default_limits() {
  process_limits limits;
  limits.wall_s = 300;
  limits.processes = 256;
  limits.open_files = 1024;
  limits.scratch_bytes = std::uint64_t{1} << 30U;
  return limits;
}

evaluation run_command_fitness(const command_settings& settings, const program& candidate,
                               std::stop_token stop) {
  if (settings.command.empty())
    throw error(error_code::input, "the command fitness has no command", {"", 0, 0, "fitness.command"},
                "for example, command: [./judge, \"{candidate}\"]");
  const std::string directory = working_folder(settings.directory);
  const std::string path = program_in(directory, settings.command.front());
  evaluation e;
  e.backend = "command";
  e.protocol = "command 2";
  e.context["command"] = path;
  e.context["sandbox"] = describe_layers(settings.sandbox);

  if (!has_files(candidate, e)) return e;
  const scratch_folder scratch(settings.sandbox != sandbox_mode::off);
  const std::string folder = scratch.folder("candidate");
  if (!write_candidate(candidate, folder, e)) return e;

  const auto report = run(spec_for(settings, candidate, path, directory, folder), stop);
  e.cost.wall_s = report.wall_s;
  e.cost.device_s = report.wall_s;
  e.measures["wall_s"] = report.wall_s;
  const std::string said = tail(report.err, feedback_bytes);
  e.outcome = outcome_of(report, path, stop);
  if (e.outcome != outcome::valid) {
    e.reasons.push_back("the program " + describe(report));
    e.feedback = said.empty() ? tail(report.out, output_bytes) : said;
    return e;
  }
  std::string problem;
  const auto metrics = metrics_in(report.out, problem);
  if (!metrics) {
    incorrect(e, problem);
    e.feedback = said.empty() ? tail(report.out, output_bytes) : said;
    return e;
  }
  take_metrics(e, *metrics);
  add_error_output(e, said);
  return e;
}

command_fitness::command_fitness(command_settings settings) : settings_(std::move(settings)) {
  if (settings_.command.empty()) {
    throw error(error_code::input, "the command fitness has no command", {"", 0, 0, "fitness.command"},
                "for example, command: [./judge, \"{candidate}\"]");
  }
}

evaluation command_fitness::evaluate(const evaluation_request& request) const {
  auto e = run_command_fitness(settings_, *request.program, request.stop);
  if (e.valid() && request.wanted == evaluation_stage::confirmed) e.stage = evaluation_stage::confirmed;
  return e;
}

std::string command_fitness::describe() const {
  std::string text = "command:";
  for (const auto& word : settings_.command) text += ' ' + word;
  return text;
}

}  // namespace kevo
