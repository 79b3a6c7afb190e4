#include "src/export/flashinfer_schema.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/oracle/input_maker.hpp"
#include "src/base/text/utf8.hpp"

namespace kevo::flashinfer {
namespace {

namespace json = boost::json;
namespace files = std::filesystem;

constexpr std::array<std::string_view, 11> their_dtypes = {
    "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1",
    "int64",   "int32",   "int16",    "int8",          "bool"};

/// An extent that is an expression: their shapes are names of axes, so that it becomes an axis of its own.
struct computed_axis {
  std::string name;    ///< "row_start_0": the tensor, and the place in its shape
  std::string extent;  ///< the expression
};

/// The name of an extent of a tensor: its axis, or that of a computed one.
std::string axis_name(const task& t, const tensor& of, std::size_t place) {
  const auto& extent = of.shape[place];
  const bool axis =
      std::any_of(t.axes.begin(), t.axes.end(), [&](const auto& each) { return each.name == extent; });
  if (axis) return extent;
  // All axes and computed ones of other tensors share one map of names.
  auto name = fmt::format("{}_{}", of.name, place);
  const auto taken = [&] {
    return std::any_of(t.axes.begin(), t.axes.end(), [&](const auto& each) { return each.name == name; });
  };
  while (taken()) name += '_';
  return name;
}

std::vector<computed_axis> computed_axes(const task& t) {
  std::vector<computed_axis> found;
  for (const auto* all : {&t.inputs, &t.outputs}) {
    for (const auto& one : *all) {
      for (std::size_t i = 0; i < one.shape.size(); ++i) {
        const auto name = axis_name(t, one, i);
        if (name != one.shape[i]) found.push_back({name, one.shape[i]});
      }
    }
  }
  return found;
}

json::object tensors(const task& t, const std::vector<tensor>& all) {
  json::object o;
  for (const auto& one : all) {
    if (std::find(their_dtypes.begin(), their_dtypes.end(), one.dtype) == their_dtypes.end()) {
      throw error(
          error_code::input,
          fmt::format("'{}' has the dtype {}, which FlashInfer-Bench does not support", one.name, one.dtype),
          {.file = t.file, .key = {}}, "export as csv or jsonl");
    }
    json::object spec;
    if (one.scalar) {
      spec["shape"] = nullptr;
    } else {
      json::array shape;
      for (std::size_t i = 0; i < one.shape.size(); ++i) shape.push_back(json::value(axis_name(t, one, i)));
      spec["shape"] = std::move(shape);
    }
    spec["dtype"] = one.dtype;
    if (!one.description.empty()) spec["description"] = one.description;
    o[one.name] = std::move(spec);
  }
  return o;
}

/// Their references are Python. A native one travels as a comment under a `run` that says so when it is
/// called.
std::string python_reference(const task& t) {
  if (t.reference && t.reference->language == "python") return std::string(t.reference->source.text());
  std::string text =
      "def run(*inputs):\n    raise NotImplementedError(\n        \"the reference of this task is native; "
      "its source is below\")\n";
  if (!t.reference) return text;
  text += "\n\n# " + t.reference->language + ":\n#\n# ";
  for (const char c : t.reference->source.text()) {
    if (c == '\r' || c == '\0') continue;
    text += c;
    if (c == '\n') text += "# ";
  }
  return text += '\n';
}

/// kevo's expressions in Python's words; nothing for those that it says in another way.
std::optional<std::string> python_expression(const std::string& text) {
  std::string python;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '?') return std::nullopt;
    if (c == '&' && next == '&') {
      python += " and ", ++i;
    } else if (c == '|' && next == '|') {
      python += " or ", ++i;
    } else if (c == '!' && next != '=') {
      python += " not ";
    } else if (c == '!') {
      python += "!=", ++i;
    } else if (c == '/') {
      python += "//";
    } else {
      python += c;
    }
  }
  const auto begin = python.find_first_not_of(' ');
  return begin == std::string::npos ? std::nullopt : std::optional(python.substr(begin));
}

/// Where the contents of a workload's inputs from files are, below the root of the data set.
std::string contents_path(const task& t, const workload& w) {
  const auto number = &w - t.workloads.data();  // names may differ in characters that files cannot have
  return fmt::format("blob/workloads/{}/{}/{}_{}.safetensors", file_name(op_type_of(t)), file_name(t.name),
                     number, file_name(w.uuid.substr(0, 100)));
}

}  // namespace

std::string file_name(std::string_view name) {
  std::string safe;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    safe += plain ? c : '_';
  }
  return safe.empty() ? "unnamed" : safe;
}

std::string op_type_of(const task& t) {
  return t.op_type.empty() ? "other" : t.op_type;
}

std::ofstream open_file(const files::path& path) {
  std::error_code failed;
  files::create_directories(path.parent_path(), failed);
  std::ofstream out(path, std::ios::binary);
  if (!out)
    throw error(error_code::environment, "cannot write this file", {.file = path.string(), .key = {}},
                "check the permissions of the folder and the free disk space");
  return out;
}
void close_file(std::ofstream& out, const files::path& path) {
  out.close();
  if (!out) {
    throw error(error_code::environment, "the write failed; check the free disk space",
                {.file = path.string(), .key = {}});
  }
}
std::string line(const json::object& o) {
  return as_utf8(json::serialize(o)) + '\n';
}

json::object definition_of(const task& t) {
  json::object o{{"name", t.name}, {"op_type", op_type_of(t)}};
  if (!t.description.empty()) o["description"] = t.description;
  json::array tags;
  for (const auto& tag : t.tags) tags.push_back(json::value(tag));
  o["tags"] = std::move(tags);
  json::object axes;
  for (const auto& a : t.axes) {
    json::object spec;
    if (a.value) {
      spec = {{"type", "const"}, {"value", *a.value}};
    } else {
      spec["type"] = "var";
    }
    if (!a.description.empty()) spec["description"] = a.description;
    axes[a.name] = std::move(spec);
  }
  const auto computed = computed_axes(t);
  for (const auto& one : computed)
    axes[one.name] = json::object{{"type", "var"}, {"description", one.extent}};
  o["axes"] = std::move(axes);
  o["inputs"] = tensors(t, t.inputs);
  o["outputs"] = tensors(t, t.outputs);
  o["reference"] = python_reference(t);
  if (const auto name = input_function_of(t); !name.empty()) o["custom_inputs_entrypoint"] = name;
  json::array constraints;
  for (const auto& c : t.constraints) {
    if (const auto python = python_expression(c.text())) constraints.push_back(json::value(*python));
  }
  for (const auto& one : computed) {
    if (const auto python = python_expression(one.extent))
      constraints.push_back(json::value(one.name + " == " + *python));
  }
  if (const auto carried = t.extra.find("constraints"); carried != t.extra.end()) {
    std::string_view rest = carried->second;
    while (!rest.empty()) {
      const auto end = std::min(rest.find('\n'), rest.size());
      if (end > 0) constraints.push_back(json::value(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  o["constraints"] = std::move(constraints);
  return o;
}

void write_contents(const files::path& root, const task& t, const workload& w) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> codes = {
      {{"float32", "F32"},
       {"float16", "F16"},
       {"bfloat16", "BF16"},
       {"int64", "I64"},
       {"int32", "I32"},
       {"int16", "I16"},
       {"int8", "I8"},
       {"bool", "BOOL"}}};
  json::object header;
  std::vector<const tensor_contents*> parts;
  std::size_t end = 0;
  for (const auto& in : t.inputs) {
    const auto given = w.inputs.find(in.name);
    if (given == w.inputs.end() || !given->second.contents) continue;
    const auto& contents = *given->second.contents;
    const auto code =
        std::find_if(codes.begin(), codes.end(), [&](const auto& one) { return one.first == in.dtype; });
    if (code == codes.end()) {
      throw error(error_code::input,
                  fmt::format("'{}' is {} from a file, which cannot be exported", in.name, in.dtype),
                  {.file = t.file, .key = {}}, "export as csv or jsonl");
    }
    json::array shape;
    for (const auto extent : contents.shape) shape.push_back(extent);
    header[in.name] = json::object{{"dtype", code->second},
                                   {"shape", std::move(shape)},
                                   {"data_offsets", json::array{end, end + contents.bytes.size()}}};
    end += contents.bytes.size();
    parts.push_back(&contents);
  }
  if (parts.empty()) return;
  auto text = json::serialize(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data is aligned
  const auto path = root / contents_path(t, w);
  auto out = open_file(path);
  for (unsigned i = 0; i < 8; ++i) out.put(static_cast<char>((text.size() >> (8U * i)) & 0xffU));
  out << text;
  for (const auto* one : parts)
    out.write(reinterpret_cast<const char*>(one->bytes.data()),
              static_cast<std::streamsize>(one->bytes.size()));
  close_file(out, path);
}

json::object workload_of(const task& t, const workload& w) {
  json::object axes;
  for (const auto& a : t.axes) {
    if (a.value) continue;
    if (const auto it = w.axes.find(a.name); it != w.axes.end()) axes[a.name] = it->second;
  }
  const auto values = axis_values(t, w);
  for (const auto& one : computed_axes(t)) {
    axes[one.name] =
        expression::parse(one.extent).evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
          const auto it = values.find(std::string(name));
          return it == values.end() ? std::nullopt : std::optional(it->second);
        });
  }
  json::object inputs;
  for (const auto& in : t.inputs) {
    const auto given = w.inputs.find(in.name);
    if (given != w.inputs.end() && given->second.kind == "scalar") {
      const double value = given->second.value;
      const bool whole = std::nearbyint(value) == value && std::fabs(value) < 0x1p53;
      inputs[in.name] =
          json::object{{"type", "scalar"},
                       {"value", whole ? json::value(static_cast<std::int64_t>(value)) : json::value(value)}};
    } else if (given != w.inputs.end() && given->second.contents) {
      inputs[in.name] =
          json::object{{"type", "safetensors"}, {"path", contents_path(t, w)}, {"tensor_key", in.name}};
    } else {
      const bool made = given != w.inputs.end() && given->second.kind == "custom";
      inputs[in.name] = json::object{{"type", made ? "custom" : "random"}};
    }
  }
  return {{"axes", std::move(axes)}, {"inputs", std::move(inputs)}, {"uuid", w.uuid}};
}

}  // namespace kevo::flashinfer
