#include "src/import/kernelbench.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/fitness/torch.hpp>

#include "fitness/machine/available_memory.hpp"
#include "fitness/machine/core_plan.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/ask_python.hpp"
#include "fitness/torch/check_by_programs.hpp"
#include "fitness/torch/check_torch_task.hpp"
#include "fitness/torch/python_server.hpp"
#include "src/base/text/text_file.hpp"
#include "src/base/time/seconds_since.hpp"
#include "src/import/kernelbench_script.hpp"
#include "src/import/kernelbench_tolerance.hpp"
#include "src/import/model_configs.hpp"
#include "src/import/python_failure.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace json = boost::json;
namespace {

constexpr std::size_t largest_file = std::size_t{4} << 20U;
// Behind kernelbench.py: ten times as much for a call of the test.
constexpr const char* larger_sizes = "\nMOST_FLOPS, MOST_BYTES = 10 * MOST_FLOPS, 10 * MOST_BYTES\n";
// The same: get_inputs of the file makes all inputs.
constexpr const char* all_own = "\nALL_OWN = True\n";

std::vector<std::string> problem_files(const std::string& from) {
  std::error_code failed;
  if (fs::is_regular_file(from, failed)) return {from};
  if (!fs::is_directory(from, failed))
    throw error(error_code::input, "there is no file or folder '" + from + "'", {},
                "name a file of KernelBench or a folder of them, for example KernelBench/level1");
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".py") continue;
    if (read_text_file(entry.path().string(), largest_file).find("def get_inputs") == std::string::npos)
      continue;
    found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  if (found.empty())
    throw error(error_code::input, "no file in '" + from + "' defines get_inputs, as those of KernelBench do",
                {}, "name a folder of KernelBench, for example KernelBench/level1");
  return found;
}

void write_text_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.flush();
  if (!out)
    throw error(error_code::environment, "cannot write this file", {path},
                "check the permissions of the folder and the free disk space");
}

// "KernelBench/level1/19_ReLU.py" becomes "level1_19_relu".
std::string name_of(const std::string& file) {
  const fs::path path(file);
  std::string name = path.stem().string();
  if (const auto folder = path.parent_path().filename().string(); folder.starts_with("level"))
    name = folder + "_" + name;
  for (auto& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '_';
  }
  return name.empty() || (name[0] >= '0' && name[0] <= '9') ? "kernelbench_" + name : name;
}

// The largest modules that are tested have parameters of 1 GiB, and the processes of a test hold them several
// times, in float64 among others.
int jobs_of(const kernelbench_import& what, std::size_t files) {
  constexpr std::uint64_t bytes_per_job = std::uint64_t{8} << 30U;
  std::uint64_t jobs = what.jobs > 0 ? static_cast<std::uint64_t>(what.jobs) : physical_cores().size();
  if (const auto memory = available_memory(); what.jobs <= 0 && memory)
    jobs = std::min<std::uint64_t>(jobs, static_cast<std::uint64_t>(*memory) / bytes_per_job);
  if (what.jobs <= 0 && what.device != "cpu") jobs = 1;
  return static_cast<int>(std::clamp<std::uint64_t>(jobs, 1, std::max<std::size_t>(files, 1)));
}

std::string text_of(const json::value& value) {
  return std::string(value.as_string());
}

// "[n0, "256"]": extents that no axis determines are numbers in quotes.
std::string shape_text(const json::object& said, const json::object& x, std::size_t number, bool input) {
  std::vector<std::string> extents;
  for (const auto& extent : x.at("shape").as_array())
    extents.push_back(fmt::format("\"{}\"", extent.to_number<std::int64_t>()));
  for (const auto& one : said.at("axes").as_array()) {
    const auto& axis = one.as_object();
    if (input) {
      for (const auto& place : axis.at("places").as_array()) {
        if (place.at(0).to_number<std::size_t>() == number)
          extents[place.at(1).to_number<std::size_t>()] = text_of(axis.at("name"));
      }
      continue;
    }
    for (const auto& [place, text] : axis.at("extents").as_object()) {
      const std::string words(place);
      const auto space = words.find(' ');
      if (std::stoul(words.substr(0, space)) == number)
        extents[std::stoul(words.substr(space + 1))] = fmt::format("\"{}\"", text_of(text));
    }
  }
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string tensors_text(const json::object& said, const char* key) {
  const bool input = key[0] == 'i';
  std::string text = fmt::format("{}:\n", key);
  std::size_t number = 0;
  for (const auto& one : said.at(key).as_array()) {
    const auto& x = one.as_object();
    const bool scalar = x.contains("scalar");
    text += fmt::format("  {}: {{shape: {}, dtype: {}}}\n", text_of(x.at("name")),
                        scalar ? "null" : shape_text(said, x, number, input), text_of(x.at("dtype")));
    ++number;
  }
  return text;
}

/// Whether the file itself makes this input, by its get_inputs.
bool is_own(const json::object& input) {
  const auto* own = input.if_contains("own");
  return own != nullptr && own->as_bool();
}

std::string generators_text(const json::object& said, imported_task& result) {
  std::string text;
  for (const auto& one : said.at("inputs").as_array()) {
    const auto& x = one.as_object();
    if (x.contains("scalar")) continue;
    const auto& made = x.at("generate").as_object();
    const auto name = text_of(x.at("name"));
    if (is_own(x)) {
      result.made.push_back(name);
      continue;
    }
    const auto kind = text_of(made.at("kind"));
    const auto number = [&made](const char* key, double otherwise) {
      const auto* found = made.if_contains(key);
      return found == nullptr ? otherwise : found->to_number<double>();
    };
    const double a = number("a", 0);
    const double b = number("b", 1);
    text += kind == "normal" && a == 0 && b == 1 ? fmt::format("  {}: normal\n", name)
            : kind == "integers"                 ? fmt::format("  {}: integers({:.0f}, {:.0f})\n", name, a, b)
                                                 : fmt::format("  {}: {}({}, {})\n", name, kind, a, b);
    if (!x.at("exact").as_bool()) result.guessed.push_back(name);
    if (const auto what = text_of(x.at("structure")); !what.empty())
      result.lost.push_back(fmt::format("{} is {}", name, what));
  }
  return text.empty() ? text : "generate:\n" + text;
}

std::string workloads_text(const json::object& said) {
  std::string inputs;
  for (const auto& one : said.at("inputs").as_array()) {
    const auto& x = one.as_object();
    if (is_own(x))
      inputs += fmt::format("{}{}: {{type: custom}}", inputs.empty() ? "" : ", ", text_of(x.at("name")));
    if (!x.contains("scalar")) continue;
    inputs += fmt::format("{}{}: {{type: scalar, value: {}}}", inputs.empty() ? "" : ", ",
                          text_of(x.at("name")), json::serialize(x.at("value")));
  }
  if (!inputs.empty()) inputs = ", inputs: {" + inputs + "}";
  const auto line = [&](const std::string& uuid, const std::string& axes, bool hidden) {
    return fmt::format("  - {{uuid: {}, axes: {{{}}}{}{}}}\n", uuid, axes, inputs,
                       hidden ? ", hidden: true" : "");
  };
  std::string usual;
  for (const auto& one : said.at("axes").as_array())
    usual += fmt::format("{}{}: {}", usual.empty() ? "" : ", ", text_of(one.at("name")),
                         one.at("values").at(0).to_number<std::int64_t>());
  std::string text = "workloads:\n" + line("given", usual, false);
  int number = 1;
  for (const auto& size : said.at("sizes").as_array()) {
    std::string axes;
    for (const auto& [name, value] : size.as_object())
      axes += fmt::format("{}{}: {}", axes.empty() ? "" : ", ", std::string_view(name),
                          value.to_number<std::int64_t>());
    text += line(fmt::format("hidden_{}", number++), axes, true);
  }
  return text;
}

// The configurations of models, one a line.
std::string pretrained_text(const json::object& said) {
  const auto* models = said.if_contains("pretrained");
  if (models == nullptr || models->as_object().empty()) return {};
  std::string text;
  for (const auto& [name, config] : models->as_object())
    text += fmt::format("{}\n    {}: {}", text.empty() ? "" : ",", json::serialize(json::string(name)),
                        json::serialize(config));
  return ",\n  # Weights are drawn under the seed of an evaluation; none are loaded.\n  pretrained: {" +
         text + "}";
}

std::string task_text(const json::object& said, const std::string& source, imported_task& result) {
  std::string text = fmt::format(
      "# Made by `kevo import kernelbench` from {}.\n"
      "name: {}\nop_type: kernelbench\ndescription: \"KernelBench's problem {}: the module Model of "
      "reference.py.\"\ntags: [{}]\n",
      fs::path(source).filename().string(), result.name, fs::path(source).stem().string(),
      json::serialize(json::string("problem:" + fs::path(source).filename().string())));
  std::string axes;
  for (const auto& one : said.at("axes").as_array())
    axes += fmt::format("  {}: {{type: var}}\n", text_of(one.at("name")));
  if (axes.empty()) axes = "  one: {type: const, value: 1}\n";
  text += "axes:\n" + axes + tensors_text(said, "inputs") + tensors_text(said, "outputs");
  text += fmt::format(
      "reference: {{language: python, file: reference.py, form: module, entry: Model, init: {}{}}}\n",
      json::serialize(said.at("init")), pretrained_text(said));
  if (!said.at("function").as_string().empty()) text += "custom_inputs_entrypoint: kevo_inputs\n";
  text += generators_text(said, result) + workloads_text(said);
  if (result.tolerance > 0) text += tolerance_text(said, result);
  return text;
}

bool has_mutants(const task_report& report, std::vector<std::string>& accepted) {
  accepted.clear();
  for (const auto& one : report.controls) {
    if (!one.honest && !one.ok) accepted.push_back(one.name);
  }
  return !accepted.empty();
}

bool is_honest_right(const task_report& report) {
  return std::all_of(report.controls.begin(), report.controls.end(),
                     [](const control_result& one) { return !one.honest || one.ok; });
}

std::string honest_failures(const task_report& report) {
  std::string text;
  for (const auto& one : report.controls) {
    if (one.honest && !one.ok) text += (text.empty() ? "" : "; ") + one.detail;
  }
  return text;
}

class importer {
 public:
  importer(const kernelbench_import& what, std::shared_ptr<torch::python_server> server)
      : what_(what), server_(std::move(server)) {
    settings_.sandbox = what.sandbox;
    settings_.python = what.python;
    settings_.device = what.device;
  }

  imported_task import(const std::string& file) {
    const auto start = std::chrono::steady_clock::now();
    std::string script(kernelbench_script());
    auto result = attempt(file, script);
    if (result.problem.find("computes NaN or infinity") != std::string::npos) {
      script += all_own;
      if (const auto again = attempt(file, script); again.problem.empty()) result = again;
    }
    if (result.unaccepted) {
      // Layers that normalize over few elements multiply rounding errors. A larger size has more of them.
      const auto first = read_text_file(result.file, largest_file);
      const auto larger = attempt(file, script + larger_sizes);
      if (larger.problem.empty() && !larger.unaccepted) {
        result = larger;
      } else {
        write_text_file(result.file, first);
      }
    }
    result.seconds = seconds_since(start);
    return result;
  }

 private:
  imported_task attempt(const std::string& file, std::string_view script) {
    imported_task result;
    result.source = file;
    result.name = name_of(file);
    try {
      const auto source = load_program(file, "python");
      const auto init = constructor_of(source, result);
      auto said = json::parse(torch::ask_python(*server_, source, script, what_.seconds, init)).as_object();
      if (const auto* models = init.if_contains("pretrained")) said["pretrained"] = *models;
      if (what_.given_size_only) said["sizes"] = json::array();
      write(said, source, result);
      last_was_tried_ = true;
    } catch (const error& failure) {
      // A process that was killed because memory was short concerns one file. If that happens to the first
      // file, or to two in a row, it may concern all.
      const bool tried = failure.code() == error_code::input;
      if (!tried && (failure.code() != error_code::environment || !last_was_tried_)) throw;
      last_was_tried_ = tried;
      result.problem = importing::explained_failure(failure.message());
      if (result.problem.find("the task has no configuration of the model") != std::string::npos)
        result.problem += fmt::format(
            "; its config.json was looked for in '{}': fetch it (`hf download MODEL config.json`), or name "
            "the folder that has it (--models)",
            model_folder());
      result.file.clear();
    }
    return result;
  }

  std::string model_folder() const {
    return what_.models.empty() ? importing::usual_model_folder() : what_.models;
  }

  // What the file is told of models of transformers; it has no network to ask for them.
  json::object constructor_of(const program& source, imported_task& result) const {
    if (source.text().find("from_pretrained") == std::string_view::npos) return {};
    const auto models = importing::model_configs(model_folder(), source.text());
    result.models.clear();
    for (const auto& [name, config] : models) result.models.emplace_back(name);
    return {{"pretrained", models}};
  }

  // The task, with the sizes of the file or with small ones; tested with small ones where those of the file
  // take long.
  void write(const json::object& said, const program& source, imported_task& result) {
    const bool reduced = said.at("small").is_object();
    json::object small = said;
    if (reduced) {
      for (const auto& [key, value] : said.at("small").as_object()) small[key] = value;
    }
    result.tolerance = result.given_tolerance = kernelbench_tolerance(said);
    result.untested = text_of(said.at("untested"));
    result.late = said.at("late").as_bool();
    result.all_made = said.at("all_own").as_bool();
    const fs::path folder = fs::path(what_.to) / result.name;
    fs::create_directories(folder);
    write_text_file((folder / "reference.py").string(),
                    std::string(source.text()) + text_of(said.at("function")));
    result.file = (folder / "task.yaml").string();
    const auto write_with = [&](const json::object& sizes) {
      result.guessed.clear();
      result.made.clear();
      result.lost.clear();
      write_text_file(result.file, task_text(sizes, result.source, result));
    };
    if (const double rounding = rounding_of_sums(small); rounding > result.given_tolerance)
      result.widened = rounded_up(rounding) / result.given_tolerance;
    write_with(small);
    if (what_.check && result.untested.empty()) tighten(result, reduced, small, write_with);
    if (!result.problem.empty()) return;
    if (!reduced || what_.small) return tell_axes(small, result);
    if (result.checked) result.tested_with = tested_with(said, small);
    // What the test says of small sizes, at those of the file.
    if (!result.checked) result.tolerance = result.given_tolerance;
    const double rounding = rounding_of_sums(said);
    const double absolute = std::max(result.tolerance * shrinkage(said, small), rounding);
    if (absolute > 0 && result.tolerance > 0)
      result.widened = absolute == result.tolerance ? 1 : rounded_up(absolute) / result.tolerance;
    auto whole = said;
    write_with(whole);
    if (what_.check && what_.device != "cpu") try_sizes(result, whole, write_with);
    tell_axes(whole, result);
  }

  static void tell_axes(const json::object& said, imported_task& result) {
    result.varies.clear();
    if (said.at("sizes").as_array().empty()) return;
    for (const auto& one : said.at("axes").as_array()) result.varies.push_back(text_of(one.at("name")));
  }

  // The reference in the place of a candidate, at the sizes of the file: what cannot be evaluated would
  // otherwise be found when solutions are judged.
  template <class Write>
  void try_sizes(imported_task& result, json::object& said, const Write& write) {
    for (;;) {
      const auto why = refusal_of(result.file);
      if (why.empty()) return;
      if (leave_out_size(why, said, result)) {
        write(said);
        continue;
      }
      result.problem = "at the sizes of the file the reference itself is not accepted: " + why;
      result.file.clear();
      return;
    }
  }

  std::string refusal_of(const std::string& file) const {
    try {
      return torch::refusal_of_reference(std::make_shared<const task>(load_task(file)), settings_);
    } catch (const error& failure) {
      // A problem that is too large for this device is no fault of the device.
      if (failure.message().find("has no room") == std::string::npos) throw;
      return failure.message();
    }
  }

  // Whether `why` names a hidden workload, "hidden_2". Its size is no longer one of `said`.
  static bool leave_out_size(const std::string& why, json::object& said, imported_task& result) {
    auto& sizes = said.at("sizes").as_array();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::string name = fmt::format("hidden_{}", i + 1);
      const auto at = why.find(name);
      if (at == std::string::npos || (at + name.size() < why.size() &&
                                      std::isdigit(static_cast<unsigned char>(why[at + name.size()])) != 0))
        continue;
      std::string size;
      for (const auto& [axis, value] : sizes[i].as_object())
        size += fmt::format("{}{} = {}", size.empty() ? "" : ", ", std::string_view(axis),
                            value.to_number<std::int64_t>());
      result.dropped.push_back(fmt::format("{}: {}", size, why.substr(0, why.find('\n'))));
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  static std::string tested_with(const json::object& said, const json::object& small) {
    std::string sizes;
    for (const auto& one : small.at("axes").as_array())
      sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", text_of(one.at("name")),
                           one.at("values").at(0).to_number<std::int64_t>());
    return fmt::format("{}: a call at the sizes of the file has {:.3g} GFLOP and writes {:.3g} MiB", sizes,
                       said.at("gflop").to_number<double>(), said.at("mib").to_number<double>());
  }

  // Tightens the tolerance for as long as it accepts a wrong output and the reference itself, in the types of
  // the task, is accepted.
  template <class Write>
  void tighten(imported_task& result, bool reduced, json::object& said, const Write& write_with) {
    const auto write = [&] { write_with(said); };
    constexpr int most_steps = 3;
    double best = result.tolerance;
    std::vector<std::string> accepted;
    for (int step = 0; step <= most_steps; ++step) {
      const auto t = std::make_shared<const task>(load_task(result.file));
      const auto report = torch::check_torch_task(t, settings_, server_);
      if (!is_honest_right(report)) {
        if (step > 0) break;
        if (!reduced && leave_out_size(honest_failures(report), said, result)) {
          write();
          --step;
          continue;
        }
        if (reduced) {
          // Of a deep module with few elements in its last layers this says nothing about the sizes of the
          // file.
          result.unaccepted = true;
          result.untested =
              "at a size that a processor can call many times, the reference in the types of "
              "the task is not accepted";
        } else {
          result.problem = fmt::format("the reference itself is not accepted: {} ({})", report.advice,
                                       importing::explained_failure(honest_failures(report)));
          result.file.clear();
        }
        return;
      }
      if (report.fixed_exactly) {
        result.problem = fixed_result_advice(report.fixed_result);
        result.file.clear();
        return;
      }
      const bool mutants = has_mutants(report, accepted);
      // A tolerance that refuses no more than a wider one only harms honest programs.
      if (step == 0 || accepted.size() < result.accepted.size()) {
        result.accepted = accepted;
        best = result.tolerance;
      }
      result.checked = true;
      if (!mutants || result.tolerance <= 0 || step == most_steps) break;
      result.tolerance /= 10;
      write();
    }
    if (result.tolerance == best) return;
    result.tolerance = best;
    write();
  }

  kernelbench_import what_;
  std::shared_ptr<torch::python_server> server_;
  torch_settings settings_;
  bool last_was_tried_ = false;  // whether the machine let the last file be examined to its end
};

}  // namespace

std::vector<imported_task> import_kernelbench(const kernelbench_import& what) {
  const auto files = problem_files(what.from);
  auto server = std::make_shared<torch::python_server>(torch::find_torch(what.python, contains(what.sandbox)),
                                                       what.sandbox);
  std::vector<imported_task> results(files.size());
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  const auto work = [&] {
    try {
      importer with(what, server);
      for (std::size_t i = next++; i < files.size(); i = next++) {
        results[i] = with.import(files[i]);
        const std::scoped_lock lock(telling);
        if (what.done) what.done(results[i]);
      }
    } catch (...) {
      next = files.size();  // the others finish what they have begun
      throw;
    }
  };
  std::vector<std::future<void>> others;
  for (int i = 1; i < jobs_of(what, files.size()); ++i)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& one : others) one.get();
  return results;
}

std::string write_kernelbench_suite(const kernelbench_import& what, const std::vector<imported_task>& all) {
  std::string tasks;
  for (const auto& one : all) {
    if (!one.file.empty()) tasks += fmt::format("  - {}/task.yaml\n", one.name);
  }
  if (tasks.empty()) return {};
  auto file = (fs::path(what.to) / "suite.yaml").string();
  write_text_file(file,
                  fmt::format("# Made by `kevo import kernelbench`: the tasks that could be imported. The "
                              "solution of a task NAME is solutions/NAME.py.\n"
                              "suite: {{name: kernelbench}}\nfitness: {{backend: torch, device: {}}}\n"
                              "solutions: solutions\ntasks:\n{}",
                              what.device, tasks));
  return file;
}

}  // namespace kevo
