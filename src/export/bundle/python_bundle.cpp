// Bundles of programs of PyTorch: one file of Python, which takes the time of the run's program.

#include <memory>
#include <string>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/fitness/torch.hpp>

#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/bundle_time.hpp"

namespace kevo::bundle {
namespace {

// Under which a program of the task may define what is called.
std::string entries_of(const task& t) {
  const std::string own = t.reference->entry.empty() ? "run" : t.reference->entry;
  return t.reference->form == "module" ? fmt::format("'ModelNew', '{}'", own)
                                       : fmt::format("'{}', 'run', 'kernel_function'", own);
}

// Statements whose names every program of the task finds, a module that is not there left out.
std::string imports_of(const task& t) {
  if (t.reference->init.empty()) return {};
  const auto init = boost::json::parse(t.reference->init);
  const auto* given = init.as_object().if_contains("imports");
  std::string text;
  if (given != nullptr) {
    for (const auto& one : given->as_array())
      text += fmt::format("try:\n    {}\nexcept ImportError:\n    pass\n", std::string_view(one.as_string()));
  }
  return text;
}

}  // namespace

void add_python_files(const bundled& b, folder_text& files) {
  const auto refuse = [&](const std::string& why, const std::string& next) {
    throw error(error_code::input, why, {.file = b.run_folder, .key = {}}, next);
  };
  if (b.source->files.size() != 1)
    refuse("a bundle of PyTorch can only contain a program in one file",
           "export another candidate with --candidate N, or the sources with --format jsonl");
  const auto& text = b.source->files.front().text;
  if (text.find(b.name) != std::string::npos)
    refuse("the program uses the name " + b.name, "choose another name of the bundle with --name");
  const auto imports = imports_of(*b.what);
  if (!imports.empty() && text.find("from __future__") != std::string::npos)
    refuse("the program begins with `from __future__`, and needs the imports of its task before",
           "add these to the program: " + imports);
  files[b.name + ".py"] = fmt::format(
      "{4}{0}{1}\n\n# The program by the name of the bundle.\n"
      "{2} = next(globals()[name] for name in ({3}) if name in globals())\n",
      text, text.ends_with('\n') ? "" : "\n", b.name, entries_of(*b.what), imports);
}

bundle_time time_python_bundle(const bundled& b, const folder_text& files, const std::string& device,
                               int threads, const wait_listener& waiting) {
  if (device != "cpu")
    return {std::nullopt, "programs of PyTorch are timed here where the run measured them on a CPU"};
  auto compared = std::make_shared<task>(*b.what);
  compared->baselines = {{"the run's program", *b.source, {}, false}};
  torch_settings settings;
  settings.threads = threads;
  settings.sandbox = b.sandbox;
  settings.timing = bundle_timing_settings();
  const auto program_of_bundle = std::make_shared<const program>(
      single_file_program("python", b.name + ".py", files.at(b.name + ".py")));
  try {
    return judged_bundle(b, torch_fitness(compared, settings)
                                .evaluate({.program = program_of_bundle,
                                           .wanted = evaluation_stage::confirmed,
                                           .fresh = true,
                                           .waiting = waiting}));
  } catch (const error& missing) {
    if (missing.code() != error_code::environment) throw;
    return {std::nullopt, missing.message()};
  }
}

}  // namespace kevo::bundle
