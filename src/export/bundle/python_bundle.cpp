// Bundles of programs of PyTorch: one file of Python, which takes the time of the run's program.

#include <memory>
#include <string>

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
  files[b.name + ".py"] = fmt::format(
      "{0}{1}\n\n# The program by the name of the bundle.\n"
      "{2} = next(globals()[name] for name in ({3}) if name in globals())\n",
      text, text.ends_with('\n') ? "" : "\n", b.name, entries_of(*b.what));
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
