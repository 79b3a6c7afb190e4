#include "fitness/evaluator/evaluator_fitness.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/command/judging.hpp"
#include "fitness/evaluator/interpreter.hpp"
#include "fitness/evaluator/writable_folders.hpp"
#include "fitness/sandbox/open_folders.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace json = boost::json;

struct evaluator_fitness::interpreter : python_interpreter {};

/// One call of an evaluator.
struct evaluator_fitness::attempt {
  evaluation judged;
  std::vector<std::string> unwritable;  ///< absolute paths that the evaluator could not write to
  std::vector<std::string> folders;     ///< absolute paths of folders where it wanted a file
  std::string refused;                  ///< why the folder was read-only after all; empty if it was not
};

namespace {

constexpr int most_attempts = 4;

constexpr std::size_t result_bytes = std::size_t{1} << 20U;
constexpr int result_number = 3;  ///< of the result's file inside
constexpr double longer_s = 15;   ///< [s] for Python to start and to end itself
constexpr const char* inside_results = "/results";
constexpr const char* inside_candidate = "/tmp/kevo_candidate";  ///< OpenEvolve's evaluators expect /tmp
constexpr const char* inside_runner = "/kevo";

/// Software that looks for its own settings below /etc.
constexpr const char* settings_of_software[] = {"/etc/R", "/etc/julia", "/etc/localtime"};

bool is_shinka(const evaluator_settings& settings) {
  return settings.system == evaluator_system::shinka;
}

const char* name_of(evaluator_system system) {
  return system == evaluator_system::shinka ? "shinka" : "openevolve";
}

/// A file in memory of a fixed size, which others cannot make grow.
detail::descriptor result_file() {
  detail::descriptor file(::memfd_create("kevo-result", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(result_bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw error(error_code::environment, std::string("cannot create a memory file: ") + std::strerror(errno));
  }
  return file;
}

/// What was written to it, up to the first zero byte.
std::string text_in(const detail::descriptor& file) {
  std::string text(result_bytes, '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t length = ::pread(file.get(), text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (length <= 0) break;
    at += static_cast<std::size_t>(length);
  }
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

void write_readable(const std::string& path, std::string_view text) {
  if (!(std::ofstream(path, std::ios::binary) << text) || ::chmod(path.c_str(), 0644) != 0)
    throw error(error_code::environment, "cannot write a temporary file", {path, 0, 0, {}});
}

/// The folders of one evaluation on the host.
struct evaluation_folders {
  explicit evaluation_folders(bool contained)
      : scratch(contained),
        candidate(scratch.folder("candidate")),
        results(scratch.folder("results")),
        runner(scratch.folder("runner")) {
    ::chmod(runner.c_str(), 0755);
    write_readable(runner + "/kevo_evaluator.py", evaluator_script());
    // Programs ask who they are, and where their home is.
    write_readable(runner + "/passwd", "kevo:x:65534:65534:kevo:/tmp:/bin/sh\n");
    write_readable(runner + "/group", "kevo:x:65534:\n");
  }
  scratch_folder scratch;
  std::string candidate, results, runner;
};

json::object request_of(const evaluator_settings& settings, const evaluation_folders& on_host,
                        const program& candidate, bool contained, bool first_stage_alone) {
  const auto inside = [contained](const char* path, const std::string& host) {
    return contained ? std::string(path) : host;
  };
  json::object asked;
  asked["system"] = name_of(settings.system);
  asked["evaluator"] = settings.folder + "/" + settings.evaluator;
  asked["program"] = inside(inside_candidate, on_host.candidate) + "/" + candidate.files.front().path;
  asked["results"] = inside(inside_results, on_host.results);
  asked["descriptor"] = result_number;
  asked["timeout"] = settings.timeout_s;
  asked["cascade"] = settings.cascade;
  asked["thresholds"] = json::value_from(settings.thresholds);
  asked["features"] = json::value_from(settings.features);
  asked["stages"] = first_stage_alone ? 1 : 3;
  return asked;
}

std::vector<std::string> environment_of(const evaluator_settings& settings, const python_interpreter& python,
                                        const std::string& home) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets variables
  const char* variable = std::getenv("PATH");
  std::string path = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  path = fs::path(python.path).parent_path().string() + ":" + path;
  std::vector<std::string> all = {"PATH=" + path, "HOME=" + home,       "TMPDIR=" + home,
                                  "USER=kevo",    "LOGNAME=kevo",       "SHELL=/bin/sh",
                                  "LANG=C.UTF-8", "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1"};
  if (!python.environment.empty()) all.push_back("VIRTUAL_ENV=" + python.environment);
  all.insert(all.end(), settings.environment.begin(), settings.environment.end());  // the last one counts
  return all;
}

launch_spec spec_for(const evaluator_settings& settings, const python_interpreter& python,
                     const evaluation_folders& on_host, const json::object& asked, bool contained) {
  launch_spec spec;
  spec.argv = {python.path, std::string(inside_runner) + "/kevo_evaluator.py", json::serialize(asked)};
  spec.environment = environment_of(settings, python, contained ? "/tmp" : on_host.scratch.path());
  spec.directory = settings.folder;
  for (const char* part : system_software) spec.mounts.push_back({part, part, false, true});
  for (const char* part : settings_of_software) spec.mounts.push_back({part, part, false, true});
  for (const auto& folder : python.prefixes) spec.mounts.push_back({folder, folder});
  spec.mounts.insert(spec.mounts.end(), settings.mounts.begin(), settings.mounts.end());
  spec.mounts.push_back({settings.folder, settings.folder});
  spec.mounts.push_back({on_host.runner, inside_runner});
  spec.mounts.push_back({on_host.runner + "/passwd", "/etc/passwd"});
  spec.mounts.push_back({on_host.runner + "/group", "/etc/group"});
  spec.mounts.push_back({on_host.candidate, inside_candidate, true});
  spec.mounts.push_back({on_host.results, inside_results, true});
  spec.hidden = settings.hidden;
  spec.own_proc = true;
  spec.usual_devices = true;
  spec.limits = settings.limits;
  const double stages = is_shinka(settings) || !settings.cascade ? 1 : 3;
  spec.limits.wall_s = stages * settings.timeout_s + longer_s;
  spec.sandbox = settings.sandbox;
  spec.policy = syscall_policy::command;
  spec.cpus = settings.cpus;
  return spec;
}

std::string text_at(const json::object& from, const char* key) {
  const auto* value = from.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

void take_numbers(std::map<std::string, double>& to, const json::object& from, const char* key) {
  const auto* numbers = from.if_contains(key);
  if (numbers == nullptr || !numbers->is_object()) return;
  for (const auto& each : numbers->as_object()) {
    if (each.value().is_number()) to[each.key()] = each.value().to_number<double>();
  }
}

std::vector<std::string> texts_in(const json::object& from, const char* key) {
  std::vector<std::string> all;
  const auto* texts = from.if_contains(key);
  if (texts == nullptr || !texts->is_array()) return all;
  for (const auto& each : texts->as_array()) {
    if (each.is_string()) all.emplace_back(each.as_string());
  }
  return all;
}

/// Error and artifacts as one text, the error first.
std::string feedback_in(const json::object& said) {
  std::string text = text_at(said, "error");
  if (!text.empty()) text += '\n';
  if (const auto* artifacts = said.if_contains("artifacts"); artifacts != nullptr && artifacts->is_object()) {
    for (const auto& each : artifacts->as_object()) {
      if (!each.value().is_string()) continue;
      const std::string_view content = each.value().as_string();
      const bool lines = content.find('\n') != std::string_view::npos;
      text += fmt::format("{}:{}{}{}", std::string_view(each.key()), lines ? "\n" : " ", content,
                          content.ends_with('\n') ? "" : "\n");
    }
  }
  return text;
}

/// The beginning and the end: the error comes first, and what went wrong last is mostly at the end.
std::string cut(const std::string& text) {
  if (text.size() <= feedback_bytes) return text;
  return text.substr(0, feedback_bytes / 2) + "\n...\n" + text.substr(text.size() - feedback_bytes / 2);
}

/// What the runner wrote becomes the evaluation.
void take_result(evaluation& e, const json::object& said) {
  const auto named = parse_outcome(text_at(said, "outcome"));
  const auto* score = said.if_contains("score");
  const bool scored = score != nullptr && score->is_number();
  e.outcome = !named ? outcome::crashed : *named == outcome::valid && !scored ? outcome::incorrect : *named;
  take_numbers(e.measures, said, "metrics");
  std::map<std::string, double> hidden;
  take_numbers(hidden, said, "private");  // ShinkaEvolve shows these to nobody who writes programs
  for (const auto& [name, value] : hidden) e.context["private " + name] = fmt::format("{}", value);
  const auto* stages = said.if_contains("stages");
  const auto* defined = said.if_contains("stages_defined");
  if (defined != nullptr && stages != nullptr && defined->is_int64() && stages->is_int64() &&
      defined->as_int64() > 1)
    e.measures["stages"] = static_cast<double>(stages->as_int64());
  e.feedback = cut(feedback_in(said));
  if (!e.valid()) {
    const std::string why = text_at(said, "error");
    e.reasons.push_back(why.empty()
                            ? "the evaluator reported the outcome " + std::string(to_string(e.outcome))
                            : tail(why.substr(0, why.find('\n')), 300));
    return;
  }
  e.score = score->to_number<double>();
  e.stage = evaluation_stage::timed_full;
}

std::optional<json::object> result_in(const std::string& text) {
  try {
    auto value = parse_json_exactly(text, true);
    if (value.is_object()) return std::move(value.as_object());
  } catch (const error&) {  // NOLINT(bugprone-empty-catch): a killed process has written half of it
  }
  return std::nullopt;
}

std::vector<std::string> without(std::vector<std::string> all, const std::vector<std::string>& those) {
  std::erase_if(all, [&those](const std::string& each) {
    return std::find(those.begin(), those.end(), each) != those.end();
  });
  return all;
}

/// An evaluator that cannot write to its folder gets advice for its user.
void explain_read_only(evaluation& e, const std::string& folder, const std::vector<std::string>& objections) {
  if (!e.feedback.empty() && !e.feedback.ends_with('\n')) e.feedback += '\n';
  e.feedback += "The evaluator's folder '" + folder +
                "' is read-only in the sandbox. An evaluator can write to /tmp, and can make new files in "
                "the subfolders that the setting fitness.writable names.\n";
  for (const auto& each : objections) e.feedback += each + '\n';
}

}  // namespace

process_limits evaluator_settings::default_limits() {
  process_limits limits;
  limits.processes = 4096;  // a pool of processes, each with a pool of threads
  limits.open_files = 4096;
  limits.output_bytes = std::uint64_t{16} << 20U;
  limits.scratch_bytes = std::uint64_t{1} << 30U;
  limits.shared_memory_bytes = std::uint64_t{1} << 30U;
  return limits;
}

evaluator_fitness::evaluator_fitness(evaluator_settings settings) : settings_(std::move(settings)) {
  settings_.folder = working_folder(settings_.folder);
  if (settings_.evaluator.empty())
    settings_.evaluator = is_shinka(settings_) ? "evaluate.py" : "evaluator.py";
  const std::string file = settings_.folder + "/" + settings_.evaluator;
  std::error_code code;
  if (settings_.folder.empty() || !fs::is_regular_file(file, code))
    throw error(error_code::input, "there is no evaluator '" + file + "'", {"", 0, 0, "fitness.folder"},
                "fitness.folder is the folder of the evaluator, and fitness.evaluator the name of its file");
  writable_ = std::make_shared<writable_folders>(settings_.folder, settings_.writable);
  python_ = std::make_shared<const interpreter>(interpreter{find_interpreter(settings_.python)});
}

evaluator_fitness::attempt evaluator_fitness::judge_once(const evaluation_request& request,
                                                         const std::vector<std::string>& writable) const {
  const program& candidate = *request.program;
  attempt made;
  evaluation& e = made.judged;
  e.backend = name_of(settings_.system);
  e.protocol = e.backend + " 1";
  e.context["evaluator"] = settings_.folder + "/" + settings_.evaluator;
  e.context["python"] = python_->path;
  e.context["sandbox"] = describe_layers(settings_.sandbox);
  if (!has_files(candidate, e)) return made;

  const bool contained = contains(settings_.sandbox);
  const evaluation_folders on_host(contained);
  if (!write_candidate(candidate, on_host.candidate, e)) return made;
  const bool first_stage_alone = request.wanted <= evaluation_stage::checked;
  const auto asked = request_of(settings_, on_host, candidate, contained, first_stage_alone);
  launch_spec spec = spec_for(settings_, *python_, on_host, asked, contained);
  if (contained) {
    auto opened = open_subfolders(settings_.folder, writable, settings_.limits.scratch_bytes);
    made.refused = std::move(opened.refused);
    spec.parts = std::move(opened.parts);
    if (!spec.parts.empty()) e.context["writable"] = fmt::format("{}", fmt::join(writable, ", "));
  }
  const detail::descriptor answer = result_file();
  spec.file_descriptors = {{answer.get(), result_number}};
  const auto report = run(spec, request.stop);
  e.cost.wall_s = report.wall_s;
  e.cost.device_s = report.wall_s;
  e.measures["wall_s"] = report.wall_s;
  const std::string said = tail(report.err, feedback_bytes);
  const outcome end = outcome_of(report, python_->path, request.stop);
  // A result counts whatever became of the process after it.
  if (const auto result = result_in(text_in(answer))) {
    take_result(e, *result);
    made.unwritable = texts_in(*result, "unwritable");
    made.folders = texts_in(*result, "folders");
  } else {
    e.outcome = end == outcome::valid ? outcome::crashed : end;
    e.reasons.push_back(end == outcome::valid ? "the evaluator ended the process"
                                              : "the evaluator " + kevo::describe(report));
    if (said.empty()) e.feedback = tail(report.out, feedback_bytes / 8);
  }
  add_error_output(e, said);
  if (e.valid() && first_stage_alone) e.stage = evaluation_stage::checked;
  if (e.valid() && request.wanted == evaluation_stage::confirmed) e.stage = evaluation_stage::confirmed;
  return made;
}

evaluation evaluator_fitness::evaluate(const evaluation_request& request) const {
  auto writable = writable_->list();
  attempt made = judge_once(request, writable);
  if (!contains(settings_.sandbox)) return std::move(made.judged);
  for (int more = 1; more < most_attempts && writable_->failed(made.unwritable, writable); ++more) {
    const auto had = std::exchange(writable, writable_->list());
    const auto added = without(writable, had);
    attempt next = judge_once(request, writable);
    next.judged.cost.wall_s += made.judged.cost.wall_s;
    next.judged.cost.device_s += made.judged.cost.device_s;
    std::vector<std::string> wants_file = added;
    std::erase_if(wants_file, [&](const std::string& each) {
      const std::string path = settings_.folder + '/' + each;
      return std::find(next.folders.begin(), next.folders.end(), path) == next.folders.end();
    });
    if (wants_file.empty()) {
      made = std::move(next);
    } else {  // the first attempt says what the evaluator lacks
      writable_->drop(wants_file, "the evaluator needs a file of this name, not a folder");
      made.judged.cost = next.judged.cost;
      writable = had;
    }
  }
  auto objections = writable_->objections();
  if (!made.refused.empty()) objections.push_back("Nothing was writable: " + made.refused + ".");
  const bool told = made.judged.feedback.find(std::strerror(EROFS)) != std::string::npos;
  if (told || !made.unwritable.empty()) explain_read_only(made.judged, settings_.folder, objections);
  return std::move(made.judged);
}

std::string evaluator_fitness::describe() const {
  return std::string(name_of(settings_.system)) + ": " + settings_.folder + "/" + settings_.evaluator;
}

}  // namespace kevo
