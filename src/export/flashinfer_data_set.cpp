// Definition, Workload, Solution and Trace of FlashInfer-Bench, as its data classes of version 0.1.2 accept
// them.

#include "src/export/flashinfer_data_set.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/text/utf8.hpp"

namespace kevo {
namespace {

namespace json = boost::json;
namespace files = std::filesystem;

constexpr std::array<std::string_view, 11> their_dtypes = {
    "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1",
    "int64",   "int32",   "int16",    "int8",          "bool"};
constexpr std::array<std::string_view, 5> their_languages = {"python", "triton", "cpp", "cuda", "tilelang"};

template <class Names>
bool contains(const Names& names, std::string_view one) {
  return std::find(names.begin(), names.end(), one) != names.end();
}

/// A name that is one path component.
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
    throw error(error_code::environment, "cannot write this file", {.file = path.string(), .key = {}});
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
    if (!contains(their_dtypes, one.dtype)) {
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

/// Where the contents of a workload's inputs from files are, below the root of the data set.
std::string contents_path(const task& t, const workload& w) {
  const auto number = &w - t.workloads.data();  // names may differ in characters that files cannot have
  return fmt::format("blob/workloads/{}/{}/{}_{}.safetensors", file_name(op_type_of(t)), file_name(t.name),
                     number, file_name(w.uuid.substr(0, 100)));
}

/// Writes the inputs of a workload that come from files, as its tensors in the format safetensors; nothing
/// for a workload without.
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
      inputs[in.name] = json::object{{"type", "random"}};
    }
  }
  return {{"axes", std::move(axes)}, {"inputs", std::move(inputs)}, {"uuid", w.uuid}};
}

json::object solution_of(const task& t, const flashinfer_solution& s) {
  const program& source = *s.source;
  if (!contains(their_languages, source.language)) {
    throw error(error_code::input,
                fmt::format("{} is written in '{}', a language that FlashInfer-Bench does not support",
                            s.shown_as, source.language),
                {.file = s.origin, .key = {}}, "export as csv or jsonl");
  }
  const bool on_gpu = source.language != "cpp" && source.language != "python";
  json::object spec{{"language", source.language},
                    {"target_hardware", json::array{on_gpu ? "cuda" : "cpu"}},
                    {"entry_point", source.files.front().path + "::run"},
                    {"dependencies", json::array()},
                    {"destination_passing_style", true}};
  json::array sources;
  for (const auto& file : source.files) {
    // Their schema refuses empty files.
    sources.push_back(json::object{{"path", file.path}, {"content", file.text.empty() ? "\n" : file.text}});
  }
  return {{"name", s.name},          {"definition", t.name},
          {"author", s.author},      {"description", s.description},
          {"spec", std::move(spec)}, {"sources", std::move(sources)}};
}

std::string_view status_of(outcome o) {
  switch (o) {
    case outcome::valid:
      return "PASSED";
    case outcome::build_failed:
      return "COMPILE_ERROR";
    case outcome::timed_out:
      return "TIMEOUT";
    case outcome::incorrect:
      return "INCORRECT_NUMERICAL";
    case outcome::launch_failed:
    case outcome::crashed:
    case outcome::rejected:  // their schema has no word for cheating; the log says it
    case outcome::suspect:
      return "RUNTIME_ERROR";
  }
  return "RUNTIME_ERROR";
}

std::string log_of(const evaluation& e, outcome shown, bool own) {
  if (shown == outcome::valid) return "reference_latency_ms is of the baseline '" + e.baseline + "'";
  std::string text(to_string(shown));
  if (own && e.outcome != outcome::valid) text += " (the candidate failed another workload)";
  for (const auto& reason : e.reasons) text += "\n" + reason;
  if (!e.feedback.empty()) text += "\n" + e.feedback;
  return text;
}

/// The trace of one workload; nothing if it was not timed and did not fail.
std::optional<json::object> evaluation_of(const evaluation& e, const std::string& uuid,
                                          const std::string& timestamp, const std::string& version) {
  const workload_result* found = nullptr;
  for (const auto& w : e.workloads) {
    if (w.uuid == uuid && !w.hidden) found = &w;
  }
  // A candidate that failed anywhere passes nowhere: a fast wrong kernel is no record.
  const bool failed_here = found != nullptr && found->outcome.has_value() && found->outcome != outcome::valid;
  const outcome shown = failed_here ? *found->outcome : e.outcome;
  const std::string_view status = status_of(shown);
  if (shown == outcome::valid && (found == nullptr || !(found->time_ns > 0))) return std::nullopt;

  json::object libs{{"kevo", version.empty() ? "unknown" : version}};
  for (const auto& [key, value] : e.context) libs[key] = value;
  json::object o{{"status", status},
                 {"environment", json::object{{"hardware", e.device.empty() ? "unknown" : e.device},
                                              {"libs", std::move(libs)}}},
                 {"timestamp", timestamp},
                 {"log", log_of(e, shown, !failed_here)}};
  if (status == "PASSED" || status == "INCORRECT_NUMERICAL") {
    // kevo checks every element by the task's own rule and keeps no maximum; 0, their default, would be
    // untrue.
    o["correctness"] =
        json::object{{"max_relative_error", "NaN"},
                     {"max_absolute_error", "NaN"},
                     {"extra", json::object{{"checked_by", "kevo"}, {"protocol", e.protocol}}}};
  }
  if (status == "PASSED") {
    const auto positive = [](double x) { return std::isfinite(x) && x > 0 ? x : 0; };
    o["performance"] = json::object{{"latency_ms", positive(found->time_ns) / 1e6},
                                    {"reference_latency_ms", positive(found->baseline_ns) / 1e6},
                                    {"speedup_factor", positive(found->speedup)}};
  }
  return o;
}

}  // namespace

struct flashinfer_data_set::state {
  const task& subject;
  files::path root;
  files::path group;
  std::string name;
  std::vector<std::pair<std::string, json::object>> workloads;
  files::path traces_path;
  std::ofstream traces;
  flashinfer_summary summary;
};

flashinfer_data_set::flashinfer_data_set(const task& t, const std::string& directory)
    : state_(std::make_unique<state>(state{.subject = t,
                                           .root = directory,
                                           .group = file_name(op_type_of(t)),
                                           .name = file_name(t.name),
                                           .workloads = {},
                                           .traces_path = {},
                                           .traces = {},
                                           .summary = {}})) {
  state& s = *state_;
  {
    const auto path = s.root / "definitions" / s.group / (s.name + ".json");
    const std::string text = line(definition_of(t));
    auto out = open_file(path);
    out << text;
    close_file(out, path);
  }
  {
    const auto path = s.root / "workloads" / s.group / (s.name + ".jsonl");
    auto out = open_file(path);
    for (const auto& w : t.workloads) {
      if (w.hidden) continue;
      write_contents(s.root, t, w);
      s.workloads.emplace_back(w.uuid, workload_of(t, w));
      out << line({{"definition", t.name},
                   {"workload", s.workloads.back().second},
                   {"solution", nullptr},
                   {"evaluation", nullptr}});
    }
    close_file(out, path);
  }
  s.traces_path = s.root / "traces" / s.group / (s.name + ".jsonl");
  s.traces = open_file(s.traces_path);
}

flashinfer_data_set::~flashinfer_data_set() = default;

void flashinfer_data_set::add(const flashinfer_solution& given) {
  state& s = *state_;
  const task& t = s.subject;
  const auto path =
      s.root / "solutions" / file_name(given.author) / s.group / s.name / (file_name(given.name) + ".json");
  const std::string text = line(solution_of(t, given));
  auto out = open_file(path);
  out << text;
  close_file(out, path);
  ++s.summary.solutions;
  for (const auto& [uuid, w] : s.workloads) {
    auto e = evaluation_of(*given.result, uuid, given.timestamp, given.kevo_version);
    if (!e) continue;
    s.traces << line(
        {{"definition", t.name}, {"workload", w}, {"solution", given.name}, {"evaluation", std::move(*e)}});
    ++s.summary.traces;
  }
}

flashinfer_summary flashinfer_data_set::finish() {
  close_file(state_->traces, state_->traces_path);
  return state_->summary;
}

}  // namespace kevo
