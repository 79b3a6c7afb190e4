#include "fitness/cuda/hosted/entry.hpp"

#include <cctype>
#include <cstring>

#include <fmt/format.h>

#include <kevo/annotation.hpp>
#include <kevo/error.hpp>

#include "fitness/cuda/launch/launch_signature.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo::cuda {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// `run` as a word of its own, with a parenthesis behind it.
bool speaks_of_run(const std::string& text) {
  for (std::size_t at = 0; (at = text.find("run", at)) != std::string::npos; at += 3) {
    if (at > 0 && is_word(text[at - 1])) continue;
    auto next = at + 3;
    while (next < text.size() && (text[next] == ' ' || text[next] == '\n')) ++next;
    if (next < text.size() && text[next] == '(') return true;
  }
  return false;
}

// Reads as any pointer to elements of the right size, and as any value of the right size.
constexpr const char* conversions = R"(#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <type_traits>
namespace kevo_hosted {
template <std::size_t Bytes, class T>
constexpr bool fits() {
  if constexpr (std::is_void_v<T>) return true;
  else return sizeof(T) == Bytes;
}
template <std::size_t Bytes>
struct input_pointer {
  const void* at;
  template <class T, class = std::enable_if_t<fits<Bytes, T>()>>
  operator const T*() const { return static_cast<const T*>(at); }
};
template <std::size_t Bytes>
struct output_pointer {
  void* at;
  template <class T, class = std::enable_if_t<!std::is_const_v<T> && fits<Bytes, T>()>>
  operator T*() const { return static_cast<T*>(at); }
};
template <class T>
T value(const std::uint64_t& word) {
  T result;
  std::memcpy(&result, &word, sizeof result);
  return result;
}
}  // namespace kevo_hosted
)";

std::string parameters(const task& t) {
  std::string text;
  const auto add = [&](const std::string& type, const std::string& name) {
    std::string shown = type;
    if (shown.starts_with("std::")) shown.erase(0, 5);
    text += (text.empty() ? "" : ", ") + shown + " " + name;
  };
  for (const auto& input : t.inputs) {
    const std::string type(element_type_of(input).c_type);
    add(input.scalar ? type : "const " + type + "*", input.name);
  }
  for (const auto& output : t.outputs) add(std::string(element_type_of(output).c_type) + "*", output.name);
  for (const auto& axis : t.axes) {
    if (!axis.value) add("int64_t", axis.name);
  }
  return text + ", cudaStream_t stream";
}

}  // namespace

bool is_hosted(const program& source) {
  if (source.language == "triton") return false;
  bool stream = false;
  bool run = false;
  for (const auto& file : source.files) {
    stream = stream || file.text.find("cudaStream_t") != std::string::npos;
    run = run || speaks_of_run(file.text);
  }
  if (!stream || !run) return false;
  try {
    return parse_annotations(source).directives.empty();
  } catch (const error&) {  // whoever reads its annotations says what is wrong
    return true;
  }
}

std::string hosted_prototype(const task& t) {
  return fmt::format("extern \"C\" int run({})", parameters(t));
}

std::string hosted_entry(const task& t, const std::string& main_file) {
  std::string values;
  std::size_t pointer = 0;
  std::size_t word = 0;
  const auto add = [&](const std::string& value) { values += (values.empty() ? "" : ",\n      ") + value; };
  const auto scalar_or_pointer = [&](const tensor& x, const char* kind) {
    const auto& type = element_type_of(x);
    if (x.scalar) return;
    add(fmt::format("kevo_hosted::{}<{}>{{pointers[{}]}}", kind, type.size, pointer++));
  };
  // Scalars keep their place among the inputs; their words come before those of the axes.
  for (const auto& input : t.inputs) {
    if (input.scalar) {
      add(fmt::format("kevo_hosted::value<{}>(words[{}])", element_type_of(input).c_type, word++));
    } else {
      scalar_or_pointer(input, "input_pointer");
    }
  }
  for (const auto& output : t.outputs) scalar_or_pointer(output, "output_pointer");
  for (const auto& axis : t.axes) {
    if (!axis.value) add(fmt::format("static_cast<std::int64_t>(words[{}])", word++));
  }
  add("static_cast<cudaStream_t>(stream)");
  return fmt::format(
      "{0}#include \"{1}\"\n"
      "// What the task calls: {2}\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) int {3}(void* const* pointers, const "
      "std::uint64_t* "
      "words, void* stream) {{\n"
      "  static_cast<void>(pointers), static_cast<void>(words);\n"
      "  return run({4});\n"
      "}}\n",
      conversions, main_file, hosted_prototype(t), hosted_symbol, values);
}

plan hosted_plan(const task& t, const workload& w) {
  const auto signature = signature_of(t, w);
  plan made;
  made.inputs = static_cast<std::uint32_t>(signature.inputs.size());
  made.outputs = static_cast<std::uint32_t>(signature.outputs.size());
  kernel_launch call;
  for (std::uint32_t i = 0; i < made.inputs + made.outputs; ++i)
    call.arguments.emplace_back(buffer_argument{i, 0});
  const auto add = [&](const void* bytes) {
    scalar_argument word;
    std::memcpy(word.bytes.data(), bytes, 8);
    word.size = 8;
    call.arguments.emplace_back(word);
  };
  for (const auto& scalar : signature.scalars) add(scalar.bytes.data());
  for (const auto value : axis_arguments(t, w)) add(&value);
  made.steps.emplace_back(std::move(call));
  return made;
}

}  // namespace kevo::cuda
