#pragma once
// The content id of a task.

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/task.hpp>

namespace kevo {

namespace detail {

struct task_hasher {
  content_hasher hash;

  void add(const std::string& text) { hash.text(text); }
  void add(std::int64_t value) { hash.number(static_cast<std::uint64_t>(value)); }
  void add(bool value) { hash.number(value ? 1 : 0); }
  void add(double value) { hash.number(std::bit_cast<std::uint64_t>(value)); }
  void add(const expression& value) { hash.text(value.text()); }
  // Fields that later versions added are hashed only if they are used, so that older tasks keep their ids.
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
  void add(const reference_source& value) {
    add(value.language), add(value.source);
    if (!value.form.empty()) add(value.form), add(value.entry), add(value.init);
  }
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
    // Ids of tasks without a contract are as they were before there were contracts.
    if (value.has_contract()) add(value.min_cosine), add(value.max_relative_l1), add(value.max_rmse);
    if (value.fast_math) add(std::string("fast math"));
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

/// The content id of everything on which an evaluation depends: name, axes, tensors, constraints, reference,
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
