#pragma once
// The task: what is optimized. Field names and meaning follow FlashInfer-Bench's Definition and Workload and
// SOL-ExecBench's per-workload tolerance; `reference`, `generate`, `cost`, `seeds` and `baselines` are
// kevo's.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/expression.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// A named extent. `value` is set for constant axes; variable ones get theirs from each workload.
struct axis {
  std::string name;
  std::optional<std::int64_t> value;
  std::string description;
};

/// How random contents of an input are drawn. Kinds: "normal" (mean a, deviation b), "uniform" [a, b),
/// "integers" [a, b], "sorted" (integers in [a, b], non-decreasing), "zipf" (integers in [a, b], the k-th
/// most frequent as often as k^-parameter), "permutation" (of 0..n-1, flat), "offsets" (non-decreasing, 0
/// first, last = a; if b > 0, neighbours differ by b at most), "columns" (for each row whose offsets the
/// input `rows` holds: distinct integers in [0, a), ascending).
struct generator {
  std::string kind = "normal";
  double a = 0;
  double b = 1;
  /// In place of `a` and `b` where they depend on the axes of a workload; see `resolved`.
  std::optional<expression> a_of, b_of;
  /// offsets: how the lengths of the rows are distributed. "" (ends of the rows drawn uniformly), "equal"
  /// (lengths differ by one at most), "uniform" (each length from 0 to twice the mean), "power_law" (the k-th
  /// longest row as long as k^-parameter).
  std::string law;
  double parameter = 0;  ///< the exponent of a power law
  std::string rows;      ///< columns: the input that holds the offsets
  friend bool operator==(const generator&, const generator&) = default;
};

/// A tensor or scalar that a candidate reads or writes.
struct tensor {
  std::string name;
  std::vector<std::string> shape;  ///< axis names or expressions of axes, outermost first; row major
  bool scalar = false;             ///< FlashInfer's `shape: null`: passed by value
  std::string dtype;               ///< an open string: "float32", "int32", "bfloat16", ...
  generator generate;              ///< inputs only
  std::string description;
};

/// When an output element is accepted. Exactly one rule is in force.
struct tolerance {
  /// "accumulation": |error| <= factor * u * sqrt(length) * scale[i], scale from the reference's extra output
  /// `scale` "bounds": |error| <= max_atol + max_rtol * |expected| "exact": equal (integers)
  std::string rule = "bounds";
  double max_atol = 1e-5;
  double max_rtol = 1e-5;
  double required_matched_ratio = 1.0;  ///< share of elements that must be accepted
  std::optional<double>
      max_error_cap;  ///< upper limit of the error of each element, including those that need not be accepted
  bool allow_negative_inf = false;
  std::string scale;                 ///< accumulation: name of the scale tensor the reference writes
  double factor = 4.0;               ///< accumulation: c, the factor of the bound
  std::optional<expression> length;  ///< accumulation: K, the number of terms that are summed in an element
};

/// Contents of an input that were read from a file when the task was loaded.
struct tensor_contents {
  std::string file;                 ///< as the task names it
  std::vector<std::int64_t> shape;  ///< as the file gives it, outermost first
  std::vector<std::byte> bytes;     ///< elements of the input's dtype, row major, little-endian
};

/// How an input of a workload is made if the generator of the task is not used.
struct workload_input {
  std::string kind;                                 ///< "random", "scalar" or "file"
  double value = 0;                                 ///< scalar
  std::shared_ptr<const tensor_contents> contents;  ///< file
  /// file: whether a call is given the elements as they are. Otherwise each element is one of the file's,
  /// drawn at random, so that nobody knows the contents of a call in advance.
  bool kept = true;
  /// file: whether some calls are given contents of the input's generator instead, with those of all other
  /// inputs from files.
  bool alternates = false;
};

/// One concrete size and input recipe. Hidden workloads check correctness only and no operator ever sees
/// them.
struct workload {
  std::string uuid;
  std::map<std::string, std::int64_t> axes;  ///< the variable axes
  std::map<std::string, workload_input> inputs;
  std::map<std::string, generator> generate;    ///< overrides of the task's generators
  std::map<std::string, tolerance> tolerances;  ///< by output; "" speaks of every output
  std::string cache = "warm";                   ///< "warm" | "cold"
  bool hidden = false;
  double weight = 1;  ///< weight in the geometric mean of the speedups
};

/// FLOPs and compulsory bytes as expressions of the axes. `min_flops` bounds from below what any algorithm
/// needs.
struct cost_model {
  std::optional<expression> flops;
  std::optional<expression> bytes;
  std::optional<expression> min_flops;
};

/// The reference. Native ("cpp"): `extern "C" void reference(inputs as const double* or int64_t*..., outputs
/// as double* or int64_t*..., scale tensors as double*..., axes as int64_t...)`. FlashInfer's Python text has
/// language "python".
struct reference_source {
  std::string language;
  program source;
};

/// A named trusted program that candidates are compared with.
struct baseline {
  std::string name;
  program source;
  std::vector<std::string> link;  ///< libraries it is linked with, e.g. "openblas"; baselines are trusted
  bool optional = false;          ///< left out, and reported as such, if it does not build
};

/// A complete task. A value type; it is made by a loader and not changed afterwards.
struct task {
  std::string name;
  std::string op_type;
  std::string description;
  std::vector<std::string> tags;
  std::vector<axis> axes;      ///< in file order: the order in which `run` takes the variable ones
  std::vector<tensor> inputs;  ///< in file order: the order of the arguments
  std::vector<tensor> outputs;
  std::vector<expression> constraints;
  std::optional<reference_source> reference;
  std::map<std::string, tolerance> tolerances;  ///< by output; "" speaks of every output
  std::vector<workload> workloads;
  cost_model cost;
  std::vector<program> seeds;
  std::vector<baseline> baselines;  ///< speedups are relative to the first one
  std::string file;  ///< path of the task file, for messages; empty if the task was made in code
  std::map<std::string, std::string> extra;  ///< FlashInfer fields that kevo only carries
  /// The files that seeds, baselines and reference came from, as the task names them, by the content id of
  /// the program; for messages.
  std::map<std::string, std::string> source_files;
};

/// The file that a program of the task came from, as the task names it; empty if it is not known.
inline std::string source_file_of(const task& t, const program& source) {
  const auto found = t.source_files.find(to_string(id_of(source)));
  return found == t.source_files.end() ? std::string() : found->second;
}

/// The value of every axis, constant and variable, for `w`. Missing variable axes are left out.
inline std::map<std::string, std::int64_t> axis_values(const task& t, const workload& w) {
  auto values = w.axes;
  for (const auto& a : t.axes) {
    if (a.value) values[a.name] = *a.value;
  }
  return values;
}

/// Extents of a tensor for given axis values; empty for scalars. Axes without a value count as 0.
/// @throws kevo::error (input) where an expression of the shape has no value (overflow, division by zero)
inline std::vector<std::int64_t> extents(const tensor& t, const std::map<std::string, std::int64_t>& values) {
  std::vector<std::int64_t> result;
  const auto value_of = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto it = values.find(std::string(name));
    return it == values.end() ? 0 : it->second;
  };
  for (const auto& extent : t.shape) {
    const auto it = values.find(extent);
    result.push_back(it != values.end() ? it->second : expression::parse(extent).evaluate(value_of));
  }
  return result;
}

/// The generator with the numbers that its expressions have for given axis values.
/// @throws kevo::error (input) where an expression has no value
inline generator resolved(generator g, const std::map<std::string, std::int64_t>& values) {
  const auto value_of = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto it = values.find(std::string(name));
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
  if (g.a_of) g.a = static_cast<double>(g.a_of->evaluate(value_of));
  if (g.b_of) g.b = static_cast<double>(g.b_of->evaluate(value_of));
  g.a_of.reset(), g.b_of.reset();
  return g;
}

/// The tolerance in force for an output of a workload: the workload's own, its "", the task's own, the task's
/// "".
inline tolerance tolerance_for(const task& t, const workload& w, const std::string& output) {
  for (const auto* map : {&w.tolerances, &t.tolerances}) {
    for (const auto& key : {output, std::string()}) {
      if (const auto it = map->find(key); it != map->end()) return it->second;
    }
  }
  return {};
}

namespace detail {

struct task_hasher {
  content_hasher hash;

  void add(const std::string& text) { hash.text(text); }
  void add(std::int64_t value) { hash.number(static_cast<std::uint64_t>(value)); }
  void add(bool value) { hash.number(value ? 1 : 0); }
  void add(double value) { hash.number(std::bit_cast<std::uint64_t>(value)); }
  void add(const expression& value) { hash.text(value.text()); }
  // What later versions added is hashed only where it is used, so that older tasks keep their ids.
  void add(const generator& value) {
    add(value.kind), add(value.a), add(value.b);
    if (value.a_of || value.b_of) add(value.a_of), add(value.b_of);
    if (!value.law.empty() || value.parameter != 0) add(value.law), add(value.parameter);
    if (!value.rows.empty()) add(value.rows);
  }
  void add(const workload_input& value) {
    add(value.kind), add(value.value);
    if (!value.contents) return;
    add(value.kept), add(value.alternates);
    for (const auto extent : value.contents->shape) add(extent);
    const auto& bytes = value.contents->bytes;
    hash.text(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  void add(const axis& value) { add(value.name), add(value.value); }
  void add(const program& value) { add(to_string(id_of(value))); }
  void add(const reference_source& value) { add(value.language), add(value.source); }
  void add(const baseline& value) {
    add(value.name), add(value.source), add(value.link), add(value.optional);
  }
  void add(const tensor& value) {
    add(value.name), add(value.shape), add(value.scalar), add(value.dtype), add(value.generate);
  }
  void add(const tolerance& value) {
    add(value.rule), add(value.max_atol), add(value.max_rtol), add(value.required_matched_ratio);
    add(value.max_error_cap), add(value.allow_negative_inf), add(value.scale), add(value.factor),
        add(value.length);
  }
  void add(const workload& value) {
    add(value.uuid), add(value.axes), add(value.inputs), add(value.generate), add(value.tolerances);
    add(value.cache), add(value.hidden), add(value.weight);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const auto& value : values) add(value);
  }
  template <class T>
  void add(const std::map<std::string, T>& values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const auto& [key, value] : values) add(key), add(value);
  }
};

}  // namespace detail

/// The content id of everything that an evaluation depends on: axes, tensors, constraints, reference,
/// tolerances, workloads, cost model and baselines. Descriptions, seeds and paths of files do not change it.
inline content_id id_of(const task& t) {
  detail::task_hasher hasher;
  hasher.add(std::string("kevo task 1"));
  hasher.add(t.name), hasher.add(t.axes), hasher.add(t.inputs), hasher.add(t.outputs),
      hasher.add(t.constraints);
  hasher.add(t.reference), hasher.add(t.tolerances), hasher.add(t.workloads);
  hasher.add(t.cost.flops), hasher.add(t.cost.bytes), hasher.add(t.cost.min_flops), hasher.add(t.baselines);
  return hasher.hash.finish();
}

}  // namespace kevo
