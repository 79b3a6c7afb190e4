#include "src/json/evaluation_json.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <boost/json.hpp>

#include <kevo/error.hpp>

#include "src/json/exact_parse.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

// How numbers are written, and where values live until they are text: an evaluation is hundreds of small
// ones.
struct writer {
  bool exact = false;
  json::storage_ptr memory;

  json::value number(double x) const {
    if (std::isfinite(x)) return x;
    if (!exact) return nullptr;
    return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
  }
  // A time or ratio of 0 means "not measured".
  json::value measured(double x) const {
    const bool nothing = exact ? x == 0 && !std::signbit(x) : !(x > 0);
    return nothing ? json::value(nullptr) : number(x);
  }
  json::value measured(const interval& x) const {
    if (x.low == 0 && x.high == 0 && !std::signbit(x.low) && !std::signbit(x.high)) return nullptr;
    return json::array({number(x.low), number(x.high)}, memory);
  }
  json::object numbers(const std::map<std::string, double>& map) const {
    json::object result(memory);
    for (const auto& [key, value] : map) result[key] = number(value);
    return result;
  }
};

json::object workload_json(const workload_result& w, const evaluation_json_options& options,
                           const writer& write) {
  json::object o(write.memory);
  if (w.hidden && !options.hidden_details) {
    o["hidden"] = true;
    o["outcome"] = to_string(w.outcome);
    return o;
  }
  o["uuid"] = w.uuid;
  json::object axes(write.memory);
  for (const auto& [name, value] : w.axes) axes[name] = value;
  o["axes"] = std::move(axes);
  o["hidden"] = w.hidden;
  o["outcome"] = to_string(w.outcome);
  const auto put = [&](std::string_view key, json::value value) {
    if (!options.exact || !value.is_null()) o[key] = std::move(value);
  };
  put("time_ns", write.measured(w.time_ns));
  put("interval_ns", write.measured(w.time_interval));
  put("baseline_ns", write.measured(w.baseline_ns));
  put("speedup", write.measured(w.speedup));
  put("sol_fraction", write.measured(w.sol_fraction));
  if (w.sustained_ns > 0) put("sustained_ns", write.measured(w.sustained_ns));
  o["samples"] = w.samples.size();
  o["weight"] = write.number(w.weight);
  if (options.raw_samples && !(options.exact && w.samples.empty())) {
    json::array pairs(write.memory);
    pairs.reserve(w.samples.size());
    for (const auto& pair : w.samples)
      pairs.push_back(
          json::array({write.number(pair.candidate_ns), write.number(pair.baseline_ns)}, write.memory));
    o["pairs"] = std::move(pairs);
  }
  return o;
}

// Reading: every accessor names the key in its complaint.
[[noreturn]] void wrong_type(std::string_view key, const char* expected) {
  throw error(error_code::input, std::string("expected ") + expected, {.file = {}, .key = std::string(key)});
}

const json::value* find(const json::object& o, std::string_view key) {
  const auto* value = o.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

double as_number(const json::value& v, std::string_view key) {
  if (v.is_null()) return 0;
  if (v.is_string()) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (v.get_string() == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (v.get_string() == "inf") return infinity;
    if (v.get_string() == "-inf") return -infinity;
  }
  if (!v.is_number()) wrong_type(key, "a number");
  return v.to_number<double>();
}

std::string as_text(const json::value& v, std::string_view key) {
  if (!v.is_string()) wrong_type(key, "a string");
  return {v.get_string().begin(), v.get_string().end()};
}

void read(const json::object& o, std::string_view key, double& target) {
  if (const auto* v = find(o, key)) target = as_number(*v, key);
}
void read(const json::object& o, std::string_view key, std::string& target) {
  if (const auto* v = find(o, key)) target = as_text(*v, key);
}
void read(const json::object& o, std::string_view key, bool& target) {
  if (const auto* v = find(o, key)) {
    if (!v->is_bool()) wrong_type(key, "true or false");
    target = v->get_bool();
  }
}
void read(const json::object& o, std::string_view key, outcome& target) {
  std::string name;
  read(o, key, name);
  if (name.empty()) return;
  const auto parsed = parse_outcome(name);
  if (!parsed) wrong_type(key, "an outcome");
  target = *parsed;
}
const json::array& as_array(const json::value& v, std::string_view key) {
  if (!v.is_array()) wrong_type(key, "an array");
  return v.get_array();
}
const json::object& as_object(const json::value& v, std::string_view key) {
  if (!v.is_object()) wrong_type(key, "an object");
  return v.get_object();
}
std::pair<double, double> as_two(const json::value& v, std::string_view key) {
  const auto& a = as_array(v, key);
  if (a.size() != 2) wrong_type(key, "two numbers");
  return {as_number(a[0], key), as_number(a[1], key)};
}
void read(const json::object& o, std::string_view key, interval& target) {
  if (const auto* v = find(o, key)) std::tie(target.low, target.high) = as_two(*v, key);
}
void read(const json::object& o, std::string_view key, std::map<std::string, double>& target) {
  if (const auto* v = find(o, key)) {
    for (const auto& item : as_object(*v, key))
      target[std::string(item.key())] = as_number(item.value(), item.key());
  }
}

workload_result read_workload(const json::object& o) {
  workload_result w;
  read(o, "uuid", w.uuid);
  if (const auto* axes = find(o, "axes")) {
    for (const auto& item : as_object(*axes, "axes")) {
      if (!item.value().is_int64()) wrong_type(item.key(), "an integer");
      w.axes[std::string(item.key())] = item.value().get_int64();
    }
  }
  read(o, "hidden", w.hidden);
  read(o, "outcome", w.outcome);
  read(o, "time_ns", w.time_ns);
  read(o, "interval_ns", w.time_interval);
  read(o, "baseline_ns", w.baseline_ns);
  read(o, "speedup", w.speedup);
  read(o, "sol_fraction", w.sol_fraction);
  read(o, "sustained_ns", w.sustained_ns);
  read(o, "weight", w.weight);
  if (const auto* pairs = find(o, "pairs")) {
    for (const auto& pair : as_array(*pairs, "pairs")) {
      const auto [candidate, baseline] = as_two(pair, "pairs");
      w.samples.push_back({candidate, baseline});
    }
  }
  return w;
}

}  // namespace

std::string to_json(const evaluation& e, const evaluation_json_options& options) {
  std::array<unsigned char, 8192> first_block;
  json::monotonic_resource memory(first_block.data(), first_block.size());
  const writer write{options.exact, &memory};
  json::object o(write.memory);
  if (!options.task.empty()) o["task"] = options.task;
  if (!options.program.empty()) o["program"] = options.program;
  o["outcome"] = to_string(e.outcome);
  o["speedup"] = write.measured(e.speedup);
  o["speedup_interval"] = write.measured(e.speedup_interval);
  o["score"] = write.number(e.score);
  o["sol_fraction"] = write.measured(e.sol_fraction);
  o["baseline"] = e.baseline.empty() ? json::value(nullptr) : json::value(e.baseline);
  o["other_speedups"] = write.numbers(e.other_speedups);
  o["stage"] = to_string(e.stage);
  o["cached"] = e.cached;
  o["device"] = e.device;
  o["backend"] = e.backend;
  o["protocol"] = e.protocol;
  json::array workloads(write.memory);
  for (const auto& w : e.workloads) workloads.push_back(workload_json(w, options, write));
  o["workloads"] = std::move(workloads);
  o["feedback"] = e.feedback;
  json::array reasons(write.memory);
  for (const auto& reason : e.reasons) reasons.push_back(json::value(reason));
  o["reasons"] = std::move(reasons);
  o["measures"] = write.numbers(e.measures);
  o["cost"] =
      json::object{{"wall_s", write.number(e.cost.wall_s)}, {"device_s", write.number(e.cost.device_s)}};
  json::object context(write.memory);
  for (const auto& [key, value] : e.context) context[key] = value;
  o["context"] = std::move(context);
  return json::serialize(o);
}

evaluation evaluation_from_json(std::string_view text) {
  const auto document = parse_json_exactly(text, true);
  const auto& o = as_object(document, "evaluation");
  evaluation e;
  read(o, "outcome", e.outcome);
  read(o, "speedup", e.speedup);
  read(o, "speedup_interval", e.speedup_interval);
  read(o, "score", e.score);
  read(o, "sol_fraction", e.sol_fraction);
  read(o, "baseline", e.baseline);
  read(o, "other_speedups", e.other_speedups);
  std::string stage;
  read(o, "stage", stage);
  if (const auto known = parse_evaluation_stage(stage)) e.stage = *known;
  read(o, "cached", e.cached);
  read(o, "device", e.device);
  read(o, "backend", e.backend);
  read(o, "protocol", e.protocol);
  if (const auto* workloads = find(o, "workloads")) {
    for (const auto& w : as_array(*workloads, "workloads"))
      e.workloads.push_back(read_workload(as_object(w, "workloads")));
  }
  read(o, "feedback", e.feedback);
  if (const auto* reasons = find(o, "reasons")) {
    for (const auto& reason : as_array(*reasons, "reasons")) e.reasons.push_back(as_text(reason, "reasons"));
  }
  read(o, "measures", e.measures);
  if (const auto* cost = find(o, "cost")) {
    read(as_object(*cost, "cost"), "wall_s", e.cost.wall_s);
    read(as_object(*cost, "cost"), "device_s", e.cost.device_s);
  }
  if (const auto* context = find(o, "context")) {
    for (const auto& item : as_object(*context, "context")) {
      e.context[std::string(item.key())] = as_text(item.value(), item.key());
    }
  }
  return e;
}

}  // namespace kevo
