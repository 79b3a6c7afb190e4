#include "src/export/bundle/bundle.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/export/bundle/bundle_parts.hpp"

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

}  // namespace

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
  summary.name = bundle::identifier(options.name.empty() ? t.name : options.name);
  const bundle::bundled b{summary.name,   &t, source.get(), shown.result.get(), record.directory(),
                          options.sandbox};
  bundle::folder_text files;
  for (const auto& file : source->files) files["source/" + file.path] = file.text;
  if (source->language == "cpp") {
    bundle::add_cpp_files(b, files, summary);
  } else if (source->language == "cuda") {
    bundle::add_cuda_files(b, files, summary);
  } else if (source->language == "triton") {
    bundle::add_triton_files(b, files, summary);
  } else {
    throw error(error_code::input,
                "a bundle can only contain programs in C++, CUDA and Triton, not in " + source->language,
                {.file = record.directory(), .key = {}}, "--format jsonl has the sources of all candidates");
  }
  bundle::add_card(b, record, summary, files);
  bundle::write_all(directory, files);
  return summary;
}

}  // namespace kevo
