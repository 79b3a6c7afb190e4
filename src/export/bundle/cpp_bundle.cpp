// Bundles of programs in C++.

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/build/build_choices.hpp"
#include "fitness/build/compiler.hpp"
#include "fitness/build/compiler_process.hpp"
#include "fitness/oracle/signature.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/cpp_program.hpp"
#include "src/export/bundle/literals.hpp"

namespace kevo::bundle {
namespace {

// "(const float* A, int64_t M)" from the prototype of the task.
std::string parameter_list(const task& t) {
  auto text = prototype(t);
  const auto at = text.find("run(");
  return at == std::string::npos ? text : text.substr(at + 3);
}

// `run` is the namespace's alone, and the name that the linker sees has the bundle's name in it.
std::string header_of(const bundled& b) {
  const auto parameters = parameter_list(*b.what);
  return fmt::format(
      "#pragma once\n// {0}\n// Written by kevo. Link the target {1}.\n\n#include <cstdint>\n\nnamespace {1} "
      "{{\n\n"
      "using std::int8_t, std::int16_t, std::int32_t, std::int64_t;\n"
      "using std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t;\n\n"
      "extern \"C\" void {1}_run{2};\n\n"
      "/// {3}. Tensors are dense and row-major.\ninline void run{2} {{\n  {1}_run({4});\n}}\n\n}}  // "
      "namespace {1}\n",
      b.what->name, b.name, parameters, b.what->description.empty() ? b.what->name : b.what->description,
      argument_names(*b.what));
}

std::string cmake_words(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + cmake_word(word);
  return cmake_literal(text);
}

std::string cmake_list(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ";"));
}

std::vector<std::string> choices_of(const program& source, const fast_math_permission& fast) {
  return cpp_words(build_choices_of(source, build_family::cpp, fast));
}

// Empty where the compiler is not here.
std::string version_of(const std::string& compiler_name, sandbox_mode sandbox) {
  try {
    compiler_settings settings;
    settings.sandbox = sandbox;
    return compiler(settings).version_of(compiler_name);
  } catch (const error&) {
    return {};
  }
}

std::string main_file(const program& source) {
  return source.files.front().path;
}

// The baseline that the run's figure speaks of; otherwise why it is not in the bundle.
std::string find_baseline(bundled& b) {
  if (!(b.result->speedup > 0)) return "the run did not measure a speedup";
  for (const auto& one : b.what->baselines) {
    if (one.name != b.result->baseline) continue;
    if (one.source.language != "cpp") return "the baseline is not in C++";
    if (!one.link.empty()) return "the baseline needs the library " + one.link.front();
    b.compared_with = &one;
    return {};
  }
  return "the task has no baseline '" + b.result->baseline + "'";
}

}  // namespace

std::string argument_names(const task& t) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const auto& x : t.inputs) add(x.name);
  for (const auto& x : t.outputs) add(x.name);
  for (const auto& a : t.axes) {
    if (!a.value) add(a.name);
  }
  return names;
}

cpp_build cpp_build_of(const bundled& b) {
  return {context_of(*b.result, "compiler", "g++"), words_of(context_of(*b.result, "flags"))};
}

void add_cpp_files(bundled& b, folder_text& files, bundle_summary& summary) {
  const auto build = cpp_build_of(b);
  const auto test = reason_against_test(*b.what);
  const bool tested = test.empty() && b.what->reference->language == "cpp";
  if (!tested) {
    summary.remarks.push_back("there is no test: " + (test.empty() ? "the reference is not in C++" : test));
  } else if (const auto why = find_baseline(b); !why.empty()) {
    summary.remarks.push_back("there is no test of the speed: " + why);
  }
  files[fmt::format("include/{}.hpp", b.name)] = header_of(b);
  files["CMakeLists.txt"] = cpp_build_file(b);
  if (tested) add_cpp_test(b, files);
}

std::string cpp_build_file(const bundled& b) {
  const auto build = cpp_build_of(b);
  std::map<std::string, std::string> values = {
      {"name", b.name},
      {"version", cmake_literal(version_of(build.compiler, b.sandbox))},
      {"options", cmake_words(unit_options(build.flags))},
      {"compilers", cmake_literal(build.compiler)},
      {"main", cmake_literal(main_file(*b.source))},
      {"offset", std::to_string(b.places.program)},
      {"choices", cmake_list(choices_of(*b.source, fast_math_of(*b.what)))},
      {"libraries", fmt::format("{}", fmt::join(library_flags(build.flags), " "))},
      {"reference", ""},
      {"reference_choices", ""},
      {"baseline", "\"\""},
      {"baseline_offset", std::to_string(b.places.baseline)},
      {"baseline_choices", ""}};
  // What a task's own programs choose is the task's choice, fast math included.
  if (b.what->reference) {
    values["reference"] = cmake_literal(main_file(b.what->reference->source));
    if (b.what->reference->language == "cpp")
      values["reference_choices"] = cmake_list(choices_of(b.what->reference->source, {true, {}}));
  }
  if (b.compared_with != nullptr) {
    values["baseline"] = cmake_literal(main_file(b.compared_with->source));
    values["baseline_choices"] = cmake_list(choices_of(b.compared_with->source, {true, {}}));
  }
  return filled("cpp_bundle.cmake", values);
}

}  // namespace kevo::bundle
