#include "src/import/solution_program.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/import/destination_wrapper.hpp"

namespace kevo::importing {
namespace {

namespace json = boost::json;

[[noreturn]] void cannot_import(const std::string& why) {
  throw error(error_code::input, why);
}

std::string field_text(const json::object& o, std::string_view key) {
  const auto* found = o.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

std::vector<std::string> field_texts(const json::object& o, std::string_view key) {
  std::vector<std::string> all;
  if (const auto* list = o.if_contains(key); list != nullptr && list->is_array()) {
    for (const auto& one : list->as_array())
      all.push_back(one.is_string() ? std::string(one.as_string()) : std::string());
  }
  return all;
}

/// What the spec of a Solution says.
struct solution_spec {
  bool compiled = false;  ///< sources in C++ or CUDA
  bool cuda = false;
  std::string binding;  ///< of compiled ones: torch or tvm-ffi
  std::string file;     ///< of the entry point
  std::string entry;
  bool destination = true;  ///< it writes into outputs that it is given
  std::vector<std::string> cflags, cuda_cflags, ldflags;
};

constexpr std::array<std::string_view, 3> in_python = {"python", "pytorch", "triton"};
constexpr std::array<std::string_view, 5> in_cpp = {"cpp", "cuda", "cuda_cpp", "cublas", "cudnn"};

template <class All>
bool is_among(const All& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// FlashInfer-Bench has one language, SOL-ExecBench a list.
void read_languages(const json::object& spec, solution_spec& made) {
  auto languages = field_texts(spec, "languages");
  const bool listed = !languages.empty();
  if (const auto one = field_text(spec, "language"); !one.empty()) languages.push_back(one);
  if (languages.empty()) cannot_import("it names no language");
  bool python = false;
  for (const auto& one : languages) {
    const bool needs = is_among(in_cpp, one) && is_among(field_texts(spec, "dependencies"), "cutlass");
    if (one == "cutlass" || needs)
      cannot_import("it needs the headers of CUTLASS, which kevo's sandbox for compilers does not have");
    if (!is_among(in_python, one) && !is_among(in_cpp, one))
      cannot_import(fmt::format(
          "it is written in '{}'; kevo imports only solutions in Python, Triton, C++ and CUDA", one));
    python = python || is_among(in_python, one);
    made.compiled = made.compiled || is_among(in_cpp, one);
    made.cuda = made.cuda || (is_among(in_cpp, one) && one != "cpp");
  }
  if (python && made.compiled) cannot_import("it mixes languages that are compiled with Python");
  if (!made.compiled) return;
  made.binding = field_text(spec, "binding");
  // Where it is not said, FlashInfer-Bench takes tvm-ffi, and SOL-ExecBench, which has no other, torch.
  if (made.binding.empty()) made.binding = listed ? "torch" : "tvm-ffi";
  if (made.binding != "torch" && made.binding != "tvm-ffi")
    cannot_import(
        fmt::format("kevo does not know the binding '{}'; it knows torch and tvm-ffi", made.binding));
}

solution_spec read_spec(const json::object& solution) {
  const auto* found = solution.if_contains("spec");
  if (found == nullptr || !found->is_object()) cannot_import("'spec' is missing");
  const json::object& spec = found->as_object();
  solution_spec made;
  read_languages(spec, made);
  const std::string entry_point = field_text(spec, "entry_point");
  const auto colon = entry_point.rfind("::");
  if (colon == std::string::npos) cannot_import("its entry point does not have the form FILE::FUNCTION");
  made.file = entry_point.substr(0, colon);
  made.entry = python_name(std::string_view(entry_point).substr(colon + 2));
  const auto* style = spec.if_contains("destination_passing_style");
  made.destination = style == nullptr || !style->is_bool() || style->as_bool();  // their default
  if (const auto* options = spec.if_contains("compile_options"); options != nullptr && options->is_object()) {
    made.cflags = field_texts(options->as_object(), "cflags");
    made.cuda_cflags = field_texts(options->as_object(), "cuda_cflags");
    made.ldflags = field_texts(options->as_object(), "ld_flags");
  }
  return made;
}

std::vector<source_file> read_sources(const json::object& solution) {
  const auto* sources = solution.if_contains("sources");
  if (sources == nullptr || !sources->is_array() || sources->as_array().empty())
    cannot_import("it has no sources");
  // Parts begin with a letter, a digit or '_', so that none is "..".
  static const std::regex allowed("[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*");
  std::vector<source_file> files;
  std::set<std::string> paths;
  for (const auto& one : sources->as_array()) {
    if (!one.is_object()) cannot_import("it has no sources");
    source_file file{field_text(one.as_object(), "path"), field_text(one.as_object(), "content")};
    if (file.path.size() > 200 || !std::regex_match(file.path, allowed))
      cannot_import(fmt::format("the path '{}' of a source is not allowed", file.path));
    if (!paths.insert(file.path).second) cannot_import(fmt::format("it has two sources '{}'", file.path));
    if (file.text.empty()) cannot_import("its source is empty");
    files.push_back(std::move(file));
  }
  return files;
}

/// Lines behind those that define `_kevo_solution`: the function that kevo calls.
std::string run_lines(const json::object& definition, const solution_spec& spec) {
  if (spec.destination) return destination_wrapper(definition);
  if (spec.binding != "tvm-ffi") return "run = _kevo_solution\n";
  return "\n\ndef run(*inputs):\n    import torch\n    result = _kevo_solution(*inputs)\n"
         "    many = not isinstance(result, torch.Tensor) and not hasattr(result, \"__dlpack__\")\n"
         "    tensors = [one if isinstance(one, torch.Tensor) else torch.from_dlpack(one)\n"
         "               for one in (result if many else [result])]\n"
         "    return tensors if many else tensors[0]\n";
}

std::string python_list(const std::vector<std::string>& all) {
  json::array made;
  for (const auto& one : all) made.emplace_back(one);
  return json::serialize(made);
}

/// The options for the linker: those of the Solution, and the libraries of CUDA that the sources call. The
/// suites link some of them always.
std::vector<std::string> libraries_of(const solution_spec& spec, const std::vector<source_file>& sources) {
  struct library {
    const char* option;
    std::regex called;
  };
  static const std::array<library, 4> known = {{{"-lcublas", std::regex("\\bcublas[A-Z]")},
                                                {"-lcublasLt", std::regex("\\bcublasLt[A-Z]")},
                                                {"-lcudnn", std::regex("\\bcudnn[A-Z]")},
                                                {"-lcuda", std::regex("\\bcu[A-Z][A-Za-z]+ *\\(")}}};
  std::vector<std::string> options = spec.ldflags;
  for (const auto& one : known) {
    const bool calls = spec.cuda && std::any_of(sources.begin(), sources.end(), [&](const source_file& file) {
                         return std::regex_search(file.text, one.called);
                       });
    if (calls && !is_among(options, one.option)) options.emplace_back(one.option);
  }
  return options;
}

std::string extension_main(const solution_spec& spec, const std::vector<source_file>& sources) {
  constexpr std::array<std::string_view, 5> units = {".cu", ".cpp", ".cc", ".cxx", ".c"};
  std::vector<std::string> files;
  for (const auto& one : sources) {
    const auto dot = one.path.rfind('.');
    if (dot != std::string::npos && is_among(units, std::string_view(one.path).substr(dot)))
      files.push_back(one.path);
  }
  if (files.empty()) cannot_import("it has no source in C++ or CUDA");
  const bool torch = spec.binding == "torch";
  return fmt::format(
      "# Written by kevo import: builds the sources of the solution and calls its entry point.\n"
      "import os\n\nfrom {0} import load\n\n"
      "_folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), \"sources\")\n"
      "_built = load(\n    name=\"solution\",\n"
      "    sources=[os.path.join(_folder, one) for one in {1}],\n    extra_include_paths=[_folder],\n"
      "    extra_cflags={2},\n    extra_cuda_cflags={3},\n    extra_ldflags={4},\n{5})\n"
      "_kevo_solution = _built.{6}\n",
      torch ? "torch.utils.cpp_extension" : "tvm_ffi.cpp", python_list(files), python_list(spec.cflags),
      python_list(spec.cuda_cflags), python_list(libraries_of(spec, sources)),
      !spec.cuda ? ""
      : torch    ? "    with_cuda=True,\n"
                 : "    backend=\"cuda\",\n",
      spec.entry);
}

/// Imports the module of the entry point. Files that import each other find each other relatively, as the
/// parts of a package, and by their names alone.
std::string python_main(const solution_spec& spec) {
  std::string module = "sources";
  std::string_view rest = spec.file;
  if (!rest.ends_with(".py")) cannot_import("its entry point is not in a Python file");
  rest.remove_suffix(3);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('/'), rest.size());
    module += "." + python_name(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fmt::format(
      "# Written by kevo import: imports the sources of the solution and calls its entry point.\n"
      "import os\nimport sys\n\n"
      "sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), \"sources\"))\n\n"
      "from {} import {} as _kevo_solution\n",
      module, spec.entry);
}

}  // namespace

std::vector<source_file> solution_program(const json::object& definition, const json::object& solution) {
  const auto spec = read_spec(solution);
  auto sources = read_sources(solution);
  const bool found = std::any_of(sources.begin(), sources.end(),
                                 [&](const source_file& file) { return file.path == spec.file; });
  if (!found)
    cannot_import(fmt::format("the file '{}' of its entry point is not among its sources", spec.file));
  if (!spec.compiled && sources.size() == 1) {
    std::string text = std::move(sources.front().text);
    if (spec.destination || spec.entry != "run") {
      text += "\n\n# Added by kevo import: the entry point as kevo calls it.\n";
      text += spec.destination ? "_kevo_solution = " + spec.entry + "\n" + destination_wrapper(definition)
                               : "run = " + spec.entry + "\n";
    }
    return {{"main.py", std::move(text)}};
  }
  std::vector<source_file> files = {
      {"main.py", spec.compiled ? extension_main(spec, sources) : python_main(spec)}};
  files.front().text += run_lines(definition, spec);
  for (auto& one : sources) files.push_back({"sources/" + one.path, std::move(one.text)});
  return files;
}

}  // namespace kevo::importing
