// Bundles of programs in C++.

#include <fmt/format.h>

#include "fitness/build/build_choices.hpp"
#include "fitness/oracle/signature.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/literals.hpp"

namespace kevo::bundle {
namespace {

std::string context_of(const evaluation& e, const std::string& key) {
  const auto found = e.context.find(key);
  return found == e.context.end() ? std::string() : found->second;
}

// "run(const float* A, int64_t M)" from the prototype of the task.
std::string declaration(const task& t) {
  auto text = prototype(t);
  const auto at = text.find("run(");
  return at == std::string::npos ? text : text.substr(at + 3);
}

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

// The options of the config, then those that the program chooses.
std::string flags_of(const bundled& b) {
  std::string flags;
  const auto add = [&](const std::string& word) { flags += (flags.empty() ? "" : " ") + cmake_word(word); };
  for (const auto& word : words_of(context_of(*b.result, "flags"))) add(word);
  const auto chosen = build_choices_of(*b.source, build_family::cpp, fast_math_of(*b.what));
  for (const auto& word : cpp_words(chosen)) add(word);
  return cmake_literal(flags);
}

}  // namespace

void add_cpp_files(const bundled& b, folder_text& files, bundle_summary& summary) {
  const auto& main = b.source->files.front().path;
  files[fmt::format("include/{}.hpp", b.name)] = fmt::format(
      "#pragma once\n// {}\n// Written by kevo. Link the target {}.\n\n#include <cstdint>\n\nnamespace {} "
      "{{\n\n"
      "using std::int8_t, std::int16_t, std::int32_t, std::int64_t;\n"
      "using std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t;\n\n"
      "/// {}. Tensors are dense and row-major.\nvoid run{};\n\n}}  // namespace {}\n",
      b.what->name, b.name, b.name, b.what->description.empty() ? b.what->name : b.what->description,
      declaration(*b.what), b.name);
  // The program's `run` gets a name of its own, so that several bundles can be linked together.
  files[fmt::format("src/{}.cpp", b.name)] = fmt::format(
      "#define run kevo_{0}_run\n#include \"../source/{1}\"\n#undef run\n#include \"{0}.hpp\"\n\nnamespace "
      "{0} "
      "{{\n\nvoid run{2} {{\n  kevo_{0}_run({3});\n}}\n\n}}  // namespace {0}\n",
      b.name, main, declaration(*b.what), argument_names(*b.what));
  files["CMakeLists.txt"] =
      filled("cpp_bundle.cmake",
             {{"name", b.name}, {"flags", flags_of(b)}, {"compiler", context_of(*b.result, "compiler")}});
  if (const auto why = reason_against_test(*b.what); why.empty() && b.what->reference->language == "cpp") {
    add_cpp_test(b, files);
  } else {
    summary.remarks.push_back("there is no test: " + (why.empty() ? "the reference is not in C++" : why));
  }
}

}  // namespace kevo::bundle
