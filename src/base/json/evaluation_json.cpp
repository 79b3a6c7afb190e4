#include "src/base/json/evaluation_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <boost/json.hpp>

#include <kevo/error.hpp>

#include "src/base/json/exact_parse.hpp"
#include "src/base/json/json_text.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

// How an evaluation's values are written.
struct writer {
  bool exact = false;
  json_text& text;

  void number(double x) const {
    if (exact || std::isfinite(x)) {
      text.exact_number(x);
    } else {
      text.null();
    }
  }
  // A time or ratio of 0 means "not measured".
  bool nothing(double x) const { return exact ? x == 0 && !std::signbit(x) : !(x > 0); }
  static bool nothing(const interval& x) {
    return x.low == 0 && x.high == 0 && !std::signbit(x.low) && !std::signbit(x.high);
  }
  void measured(double x) const {
    if (nothing(x)) return text.null();
    number(x);
  }
  void measured(const interval& x) const {
    if (nothing(x)) return text.null();
    two(x.low, x.high);
  }
  void two(double first, double second) const {
    text.begin_array();
    number(first);
    number(second);
    text.end_array();
  }
  void put(std::string_view key, std::string_view value) const {
    text.key(key);
    text.value(value);
  }
  void put(std::string_view key, bool value) const {
    text.key(key);
    text.value(value);
  }
  void put(std::string_view key, const std::optional<outcome>& value) const {
    text.key(key);
    if (value) return text.value(to_string(*value));
    text.null();
  }
  void put(std::string_view key, const char* value) const = delete;
  void put(std::string_view key, const std::map<std::string, double>& map) const {
    text.key(key);
    text.begin_object();
    for (const auto& [name, value] : map) {
      text.key(name);
      number(value);
    }
    text.end_object();
  }
  void put(std::string_view key, const std::map<std::string, interval>& map) const {
    text.key(key);
    text.begin_object();
    for (const auto& [name, ends] : map) {
      text.key(name);
      two(ends.low, ends.high);
    }
    text.end_object();
  }
};

bool any_time_of(const workload_result& w) {
  return w.device != time_figures{} || w.host != time_figures{};
}

void write_time(const std::string& name, const time_figures& time, const auto& put) {
  put(name + "_ns", time.ns);
  put(name + "_interval_ns", time.range);
  put(name + "_baseline_ns", time.baseline_ns);
  put(name + "_speedup", time.speedup);
}

void write_workload(const workload_result& w, const evaluation_json_options& options, const writer& write) {
  json_text& text = write.text;
  text.begin_object();
  if (w.hidden && !options.hidden_details) {
    write.put("hidden", true);
    write.put("outcome", w.outcome);
    return text.end_object();
  }
  write.put("uuid", w.uuid);
  text.key("axes");
  text.begin_object();
  for (const auto& [name, value] : w.axes) {
    text.key(name);
    text.value(value);
  }
  text.end_object();
  write.put("hidden", w.hidden);
  write.put("outcome", w.outcome);
  const auto put = [&](std::string_view key, const auto& value) {
    if (options.exact && write.nothing(value)) return;
    text.key(key);
    write.measured(value);
  };
  put("time_ns", w.time_ns);
  put("interval_ns", w.time_interval);
  put("baseline_ns", w.baseline_ns);
  put("speedup", w.speedup);
  put("sol_fraction", w.sol_fraction);
  if (w.sustained_ns > 0) put("sustained_ns", w.sustained_ns);
  if (w.placements > 0) {
    text.key("placements");
    text.value(static_cast<std::int64_t>(w.placements));
  }
  if (any_time_of(w)) {
    write_time("device", w.device, put);
    write_time("host", w.host, put);
  }
  text.key("samples");
  text.value(static_cast<std::int64_t>(w.samples.size()));
  text.key("weight");
  write.number(w.weight);
  if (options.raw_samples && !(options.exact && w.samples.empty())) {
    text.key("pairs");
    text.begin_array();
    for (const auto& pair : w.samples) write.two(pair.candidate_ns, pair.baseline_ns);
    text.end_array();
  }
  text.end_object();
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
void read(const json::object& o, std::string_view key, std::optional<outcome>& target) {
  if (find(o, key) == nullptr) return;
  outcome found = outcome::valid;
  read(o, key, found);
  target = found;
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
void read(const json::object& o, std::string_view key, std::map<std::string, interval>& target) {
  if (const auto* v = find(o, key)) {
    for (const auto& item : as_object(*v, key)) {
      const auto [low, high] = as_two(item.value(), item.key());
      target[std::string(item.key())] = {low, high};
    }
  }
}

void read_time(const json::object& o, const std::string& name, time_figures& time) {
  read(o, name + "_ns", time.ns);
  read(o, name + "_interval_ns", time.range);
  read(o, name + "_baseline_ns", time.baseline_ns);
  read(o, name + "_speedup", time.speedup);
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
  double placements = 0;
  read(o, "placements", placements);
  w.placements = static_cast<std::size_t>(std::max(placements, 0.0));
  read_time(o, "device", w.device);
  read_time(o, "host", w.host);
  read(o, "weight", w.weight);
  if (const auto* pairs = find(o, "pairs")) {
    for (const auto& pair : as_array(*pairs, "pairs")) {
      const auto [candidate, baseline] = as_two(pair, "pairs");
      w.samples.push_back({candidate, baseline});
    }
  }
  return w;
}

bool any_speedup_by_time(const evaluation& e) {
  return e.device_speedup != 0 || e.host_speedup != 0 || e.device_speedup_interval != interval{} ||
         e.host_speedup_interval != interval{};
}

}  // namespace

std::string to_json(const evaluation& e, const evaluation_json_options& options) {
  json_text text;
  const writer write{options.exact, text};
  text.begin_object();
  if (!options.task.empty()) write.put("task", options.task);
  if (!options.program.empty()) write.put("program", options.program);
  write.put("outcome", to_string(e.outcome));
  text.key("speedup");
  write.measured(e.speedup);
  text.key("speedup_interval");
  write.measured(e.speedup_interval);
  text.key("score");
  write.number(e.score);
  text.key("sol_fraction");
  write.measured(e.sol_fraction);
  text.key("baseline");
  if (e.baseline.empty()) {
    text.null();
  } else {
    text.value(e.baseline);
  }
  if (any_speedup_by_time(e)) {
    text.key("device_speedup");
    write.measured(e.device_speedup);
    text.key("device_speedup_interval");
    write.measured(e.device_speedup_interval);
    text.key("host_speedup");
    write.measured(e.host_speedup);
    text.key("host_speedup_interval");
    write.measured(e.host_speedup_interval);
  }
  write.put("other_speedups", e.other_speedups);
  if (!e.other_speedup_intervals.empty()) write.put("other_speedup_intervals", e.other_speedup_intervals);
  write.put("stage", to_string(e.stage));
  write.put("cached", e.cached);
  write.put("device", e.device);
  write.put("backend", e.backend);
  write.put("protocol", e.protocol);
  text.key("workloads");
  text.begin_array();
  for (const auto& w : e.workloads) write_workload(w, options, write);
  text.end_array();
  write.put("feedback", e.feedback);
  text.key("reasons");
  text.begin_array();
  for (const auto& reason : e.reasons) text.value(reason);
  text.end_array();
  write.put("measures", e.measures);
  text.key("cost");
  text.begin_object();
  text.key("wall_s");
  write.number(e.cost.wall_s);
  text.key("device_s");
  write.number(e.cost.device_s);
  text.key("waited_s");
  write.number(e.cost.waited_s);
  if (!e.cost.parts_s.empty()) write.put("parts_s", e.cost.parts_s);
  text.end_object();
  text.key("context");
  text.begin_object();
  for (const auto& [key, value] : e.context) write.put(key, value);
  text.end_object();
  text.end_object();
  return std::move(text).text();
}

evaluation evaluation_from_json(std::string_view text) {
  brief_json_memory memory;
  const auto document = parse_json_exactly(text, true, memory.storage());
  const auto& o = as_object(document, "evaluation");
  evaluation e;
  read(o, "outcome", e.outcome);
  read(o, "speedup", e.speedup);
  read(o, "speedup_interval", e.speedup_interval);
  read(o, "score", e.score);
  read(o, "sol_fraction", e.sol_fraction);
  read(o, "baseline", e.baseline);
  read(o, "device_speedup", e.device_speedup);
  read(o, "device_speedup_interval", e.device_speedup_interval);
  read(o, "host_speedup", e.host_speedup);
  read(o, "host_speedup_interval", e.host_speedup_interval);
  read(o, "other_speedups", e.other_speedups);
  read(o, "other_speedup_intervals", e.other_speedup_intervals);
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
    read(as_object(*cost, "cost"), "waited_s", e.cost.waited_s);
    read(as_object(*cost, "cost"), "parts_s", e.cost.parts_s);
  }
  if (const auto* context = find(o, "context")) {
    for (const auto& item : as_object(*context, "context")) {
      e.context[std::string(item.key())] = as_text(item.value(), item.key());
    }
  }
  return e;
}

}  // namespace kevo
