#include "src/export/bundle/bundle.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/bundle_time.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace bundle {
namespace {

// A name that C++, CMake and Python take.
std::string identifier(const std::string& text) {
  std::string result;
  for (const char c : text) result += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result.front())) != 0) result = "k_" + result;
  return result;
}

void write_all(const std::string& directory, const folder_text& files) {
  for (const auto& [name, text] : files) {
    const auto path = fs::path(directory) / name;
    std::error_code code;
    fs::create_directories(path.parent_path(), code);
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out)
      throw error(error_code::environment, "this file cannot be written; check the free disk space",
                  {.file = path.string(), .key = {}});
  }
}

recorded_evaluation evaluation_to_show(const journal& record, candidate_id id) {
  auto all = record.evaluations(id);
  for (auto e = all.rbegin(); e != all.rend(); ++e) {
    if (e->result->valid() && e->result->stage == evaluation_stage::confirmed) return *e;
  }
  for (auto e = all.rbegin(); e != all.rend(); ++e) {
    if (e->result->valid()) return *e;
  }
  throw error(error_code::input, fmt::format("candidate {} has no valid evaluation", id),
              {.file = record.directory(), .key = {}}, "kevo show lists the candidates that have one");
}

// What kevo wrote has the bundle's name in its namespaces, so that bundles of two versions of kevo can be
// linked together.
void name_runtime(const bundled& b, folder_text& files) {
  const std::string common = "kevo_bundle";
  for (auto& [path, text] : files) {
    if (path.starts_with("source/") || path.starts_with("test/reference/") ||
        path.starts_with("test/baseline/"))
      continue;
    const auto own = b.name + "_runtime";
    for (auto at = text.find(common); at != std::string::npos; at = text.find(common, at + own.size()))
      text.replace(at, common.size(), own);
  }
}

// A key of `fitness` in the run's config; empty if it has none.
std::string fitness_setting(const journal& record, const std::string& key) {
  const auto& text = record.header().config_yaml;
  if (text.empty()) return {};
  const auto tree = parse_yaml(text, record.directory() + "/journal.sqlite: config");
  const auto* fitness = tree.find("fitness");
  const auto* found = fitness == nullptr || !fitness->is_map() ? nullptr : fitness->find(key);
  return found == nullptr ? std::string() : found->text;
}

// Builds and times a bundle, and refuses one that takes another time than what the run measured, or says it
// in `summary`.
void time_bundle(bundled& b, folder_text& files, bundle_summary& summary, const journal& record,
                 const bundle_options& options) {
  const int threads = std::max(1, std::atoi(fitness_setting(record, "threads").c_str()));
  const auto device = fitness_setting(record, "device");
  const auto [ratio, why_not] =
      b.source->language == "cpp"
          ? time_cpp_bundle(b, files, threads, options.waiting)
          : time_python_bundle(b, files, device.empty() ? "cpu" : device, threads, options.waiting);
  summary.time_ratio = ratio;
  if (!ratio) {
    summary.remarks.push_back("the bundle was not built and timed: " + why_not);
    return;
  }
  const auto [low, high] = ratio->range;
  if (equal_time.low <= low && high <= equal_time.high) return;
  const auto found = fmt::format(
      "a call of the bundle takes {:.3f} [{:.3f}, {:.3f}] of the time of the {} that the run measured",
      ratio->value, low, high, b.source->language == "cpp" ? "object" : "program");
  const bool undecided = low <= equal_time.high && equal_time.low <= high;
  if (undecided) {
    summary.remarks.push_back(found +
                              ", which is too wide to tell whether they are equal; a machine without "
                              "other work gives a narrower interval");
  } else if (options.timing == bundle_timing::told) {
    summary.remarks.push_back(found);
  } else {
    throw error(error_code::input,
                fmt::format("{}; it should be within [{}, {}]", found, equal_time.low, equal_time.high),
                {.file = b.run_folder, .key = {}},
                "nothing was written; export again on a machine without other work, or with --timing told");
  }
}

}  // namespace

std::string context_of(const evaluation& e, const std::string& key, const std::string& otherwise) {
  const auto found = e.context.find(key);
  return found == e.context.end() ? otherwise : found->second;
}

// Goes through the file once, so that a value may contain what looks like a key.
std::string filled(std::string_view name, const std::map<std::string, std::string>& values) {
  const std::string_view file = shipped_file(name);
  std::string text;
  for (std::size_t at = 0; at < file.size();) {
    const auto end = file[at] == '@' ? file.find('@', at + 1) : std::string_view::npos;
    const auto found = end == std::string_view::npos
                           ? values.end()
                           : values.find(std::string(file.substr(at + 1, end - at - 1)));
    if (found == values.end()) {
      text += file[at++];
    } else {
      text += found->second;
      at = end + 1;
    }
  }
  return text;
}

}  // namespace bundle

bundle_summary export_bundle(const journal& record, const task& t, const std::string& directory,
                             const bundle_options& options) {
  const auto chosen = options.candidate ? options.candidate : record.best();
  if (!chosen)
    throw error(error_code::input, "the run has no valid candidate", {.file = record.directory(), .key = {}},
                "kevo report shows why candidates failed");
  const auto candidate = record.candidate(*chosen);
  if (!candidate)
    throw error(error_code::input, fmt::format("the run has no candidate {}", *chosen),
                {.file = record.directory(), .key = {}}, "kevo show lists the best candidates");
  if (fs::exists(directory) && !fs::is_empty(directory))
    throw error(error_code::usage, "the folder of a bundle must be empty", {.file = directory, .key = {}},
                "name another folder with --output");
  const auto source = record.source(candidate->program);
  const auto shown = bundle::evaluation_to_show(record, *chosen);
  bundle_summary summary;
  summary.candidate = *chosen;
  summary.name = bundle::identifier(!options.name.empty()          ? options.name
                                    : source->language == "triton" ? t.name
                                                                   : "kevo_" + t.name);
  bundle::bundled b{summary.name, &t, source.get(), shown.result.get(), record.directory(), options.sandbox};
  bundle::folder_text files;
  for (const auto& file : source->files) files["source/" + file.path] = file.text;
  if (source->language == "cpp") {
    bundle::add_cpp_files(b, files, summary);
    if (options.timing != bundle_timing::off) bundle::time_bundle(b, files, summary, record, options);
  } else if (source->language == "python" && t.reference && t.reference->source.language == "python") {
    files.clear();  // the source is in the one file
    bundle::add_python_files(b, files);
    if (options.timing != bundle_timing::off) bundle::time_bundle(b, files, summary, record, options);
  } else if (source->language == "cuda") {
    bundle::add_cuda_files(b, files, summary);
  } else if (source->language == "triton") {
    bundle::add_triton_files(b, files, summary);
  } else {
    throw error(
        error_code::input,
        "a bundle can only contain programs in C++, CUDA, Triton and PyTorch, not in " + source->language,
        {.file = record.directory(), .key = {}}, "--format jsonl has the sources of all candidates");
  }
  bundle::add_card(b, record, summary, files);
  bundle::name_runtime(b, files);
  bundle::write_all(directory, files);
  return summary;
}

}  // namespace kevo
