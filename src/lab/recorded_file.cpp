#include "src/lab/recorded_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <kevo/settings_node.hpp>

#include "src/base/settings/json.hpp"
#include "src/base/text/text_file.hpp"

namespace kevo {
namespace {

constexpr double milliseconds = 1e-3;

using kind = settings_node::kind;

[[noreturn]] void fail(const settings_node& at, const std::string& message, const std::string& hint = {}) {
  throw error(error_code::input, message, at.place, hint);
}

const settings_node& member(const settings_node& map, std::string_view key) {
  if (!map.is_map()) fail(map, "expected a map, found " + describe(map));
  const settings_node* found = map.find(key);
  if (found == nullptr) fail(map, "the key '" + std::string(key) + "' is missing");
  return *found;
}
const std::vector<settings_node>& list(const settings_node& node) {
  if (!node.is_list()) fail(node, "expected a list, found " + describe(node));
  return node.items;
}
std::string text(const settings_node& node) {
  if (node.type != kind::text) fail(node, "expected a text, found " + describe(node));
  return node.text;
}
std::optional<double> number_in(const settings_node& node) {
  if (node.type == kind::integer) return static_cast<double>(node.integer);
  if (node.type == kind::real) return node.real;
  return std::nullopt;
}
/// [s] from a key that may be absent or null; `unit` is that of the file, in seconds.
double seconds(const settings_node& map, std::string_view key, double unit = milliseconds) {
  const settings_node* found = map.find(key);
  if (found == nullptr || found->type == kind::null) return 0;
  const auto value = number_in(*found);
  if (!value || !(*value >= 0)) fail(*found, "expected a duration, found " + describe(*found));
  return *value * unit;
}

/// A value as one literal of a source line.
std::string literal_of(const settings_node& value) {
  if (!value.is_scalar() || value.type == kind::null)
    fail(value, "expected a number, a text, or true or false");
  if (value.type != kind::text) return value.text;
  if (value.text.find_first_of("\"\\\n\r") != std::string::npos)
    fail(value, "quotes, backslashes and line breaks in values are not supported");
  return '"' + value.text + '"';
}

void add_value(recorded_parameter& p, const settings_node& value) {
  p.values.push_back(literal_of(value));
  p.numbers.push_back(number_in(value).value_or(std::numeric_limits<double>::quiet_NaN()));
}
/// 16 and 16.0 are one value.
std::optional<std::uint32_t> place_of(const recorded_parameter& p, const settings_node& value) {
  const auto number = number_in(value);
  const std::string literal = number ? std::string() : literal_of(value);
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    if (number ? p.numbers[i] == *number : p.values[i] == literal) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}
void check_name(const recorded_parameter& p, const settings_node& at) {
  const bool good = !p.name.empty() && std::all_of(p.name.begin(), p.name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!good) fail(at, "the name of a parameter must consist of letters, digits and underscores");
}

recorded_setting setting_of(const std::vector<recorded_parameter>& parameters,
                            const settings_node& configuration) {
  recorded_setting setting;
  for (const auto& p : parameters) {
    const settings_node& value = member(configuration, p.name);
    const auto place = place_of(p, value);
    if (!place) fail(value, "this value of '" + p.name + "' is not in its list of values");
    setting.push_back(*place);
  }
  return setting;
}

double objective_in(const settings_node& node) {
  const auto value = number_in(node);
  if (!value || !(*value > 0) || !std::isfinite(*value))
    fail(node, "expected a positive number, found " + describe(node),
         "only positive objectives can be compared");
  return *value;
}
std::vector<double> samples_in(const settings_node* node) {
  std::vector<double> samples;
  if (node == nullptr || node->type == kind::null) return samples;
  for (const auto& one : list(*node)) samples.push_back(objective_in(one));
  return samples;
}

bool direction_of(const std::string& objective, const recorded_source& from, const settings_node& root) {
  const auto known = from.larger_is_better ? from.larger_is_better : larger_is_better(objective);
  if (!known)
    fail(root, "the name of the objective '" + objective + "' does not tell whether larger values are better",
         "say it with larger_is_better: true or false");
  return *known;
}

// The cache of Kernel Tuner.

/// A tuning run appends a line an evaluation and closes the braces at its end.
settings_node parse_cache(const std::string& whole, const std::string& path) {
  std::string_view body(whole);
  while (!body.empty() &&
         (body.back() == '\n' || body.back() == ' ' || body.back() == '\r' || body.back() == '\t'))
    body.remove_suffix(1);
  if (!body.empty() && body.back() == ',')
    return parse_json(std::string(body.substr(0, body.size() - 1)) + "}}", path);
  try {
    return parse_json(whole, path);
  } catch (const error& wrong) {
    std::optional<settings_node> closed;
    try {
      closed = parse_json(whole + "}}", path);
    } catch (const error&) {
      throw wrong;
    }
    return *std::move(closed);
  }
}

/// Failures stand where the objective would; caches of old versions have 1e20 there.
std::optional<outcome> failure_in(const settings_node& objective) {
  if (const auto value = number_in(objective))
    return *value >= 1e20 ? std::optional(outcome::launch_failed) : std::nullopt;
  const std::string word = text(objective);
  if (word == "CompilationFailedConfig") return outcome::build_failed;
  if (word == "RuntimeFailedConfig") return outcome::launch_failed;
  if (word == "InvalidConfig") return outcome::build_failed;
  fail(objective, "expected a number or a kind of failure, found " + describe(objective),
       "the kinds are CompilationFailedConfig, RuntimeFailedConfig and InvalidConfig");
}

recorded_space space_of_cache(const settings_node& root, std::vector<recorded_parameter> parameters,
                              const recorded_source& from) {
  if (parameters.empty()) {
    const settings_node& domains = member(root, "tune_params");
    for (const auto& key : list(member(root, "tune_params_keys"))) {
      recorded_parameter p{.name = text(key)};
      check_name(p, key);
      const settings_node& values = member(domains, p.name);
      for (const auto& value : list(values)) {
        if (place_of(p, value)) fail(value, "duplicate value");
        add_value(p, value);
      }
      if (p.values.empty()) fail(values, "a parameter needs at least one value");
      parameters.push_back(std::move(p));
    }
  }
  std::string objective = from.objective;
  if (objective.empty())
    objective = root.find("objective") != nullptr ? text(*root.find("objective")) : std::string("time");
  std::vector<recorded_result> results;
  const settings_node& cache = member(root, "cache");
  if (!cache.is_map()) fail(cache, "expected a map, found " + describe(cache));
  for (const auto& [key, entry, line, column] : cache.entries) {
    recorded_result r{.setting = setting_of(parameters, entry)};
    const settings_node& value = member(entry, objective);
    if (const auto failed = failure_in(value)) {
      r.outcome = *failed;
    } else {
      r.objective = objective_in(value);
      if (objective == "time") r.samples = samples_in(entry.find("times"));
    }
    r.build_s = seconds(entry, "compile_time");
    r.run_s = seconds(entry, "verification_time") + seconds(entry, "benchmark_time");
    results.push_back(std::move(r));
  }
  return recorded_space(std::move(parameters), std::move(results), direction_of(objective, from, root));
}

// T4 results.

outcome outcome_in(const settings_node& node) {
  const std::string word = text(node);
  if (word == "correct") return outcome::valid;
  if (word == "compile" || word == "constraints") return outcome::build_failed;
  if (word == "runtime") return outcome::launch_failed;
  if (word == "timeout") return outcome::timed_out;
  if (word == "correctness") return outcome::incorrect;
  fail(node, "unknown value of invalidity: '" + word + "'",
       "the values are correct, compile, constraints, runtime, timeout and correctness");
}

/// [s] the unit of times; files that do not say it are Kernel Tuner's, in milliseconds.
double time_unit(const settings_node& root) {
  const settings_node* metadata = root.find("metadata");
  const settings_node* unit = metadata != nullptr ? metadata->find("timeunit") : nullptr;
  if (unit == nullptr) return milliseconds;
  const std::string word = text(*unit);
  if (word == "seconds") return 1;
  if (word == "miliseconds" || word == "milliseconds")
    return milliseconds;  // the schema's own spelling first
  if (word == "microseconds") return 1e-6;
  if (word == "nanoseconds") return 1e-9;
  fail(*unit, "unknown unit of time '" + word + "'",
       "the units are seconds, milliseconds, microseconds and nanoseconds");
}

/// The parameters that the configurations show: values in rising order where all are numbers.
std::vector<recorded_parameter> parameters_seen(const std::vector<settings_node>& results) {
  std::vector<recorded_parameter> parameters;
  for (const auto& [name, value, line, column] : member(results.front(), "configuration").entries) {
    recorded_parameter p{.name = name};
    check_name(p, value);
    for (const auto& result : results) {
      const settings_node& seen = member(member(result, "configuration"), name);
      if (!place_of(p, seen)) add_value(p, seen);
    }
    if (std::none_of(p.numbers.begin(), p.numbers.end(), [](double x) { return std::isnan(x); })) {
      std::vector<std::pair<double, std::string>> both;
      for (std::size_t i = 0; i < p.values.size(); ++i) both.emplace_back(p.numbers[i], p.values[i]);
      std::sort(both.begin(), both.end());
      for (std::size_t i = 0; i < both.size(); ++i) std::tie(p.numbers[i], p.values[i]) = both[i];
    }
    parameters.push_back(std::move(p));
  }
  return parameters;
}

const settings_node& measurement(const settings_node& result, const std::string& name) {
  const settings_node& all = member(result, "measurements");
  for (const auto& one : list(all)) {
    if (text(member(one, "name")) == name) return member(one, "value");
  }
  fail(all, "the file has no measurement '" + name + "'", "choose one with the key objective");
}

recorded_space space_of_results(const settings_node& root, std::vector<recorded_parameter> parameters,
                                const recorded_source& from) {
  const settings_node& all = member(root, "results");
  if (list(all).empty()) fail(all, "the file contains no results");
  if (parameters.empty()) parameters = parameters_seen(all.items);
  std::string objective = from.objective;
  if (objective.empty()) {
    const settings_node* named = all.items.front().find("objectives");
    objective = named != nullptr && !list(*named).empty() ? text(named->items.front()) : std::string("time");
  }
  const double unit = time_unit(root);
  std::vector<recorded_result> results;
  for (const auto& result : all.items) {
    recorded_result r{.setting = setting_of(parameters, member(result, "configuration"))};
    r.outcome = outcome_in(member(result, "invalidity"));
    const settings_node& times = member(result, "times");
    if (!times.is_map()) fail(times, "expected a map, found " + describe(times));
    if (r.outcome == outcome::valid) {
      r.objective = objective_in(measurement(result, objective));
      if (objective == "time") r.samples = samples_in(times.find("runtimes"));
    }
    // The schema says compilation_time, Kernel Tuner writes compilation, and benchmark not always.
    r.build_s = seconds(times, "compilation_time", unit) + seconds(times, "compilation", unit);
    r.run_s = seconds(times, "validation", unit) + seconds(times, "benchmark", unit);
    if (times.find("benchmark") == nullptr) {
      for (const double sample : r.samples) r.run_s += sample * unit;
    }
    results.push_back(std::move(r));
  }
  return recorded_space(std::move(parameters), std::move(results), direction_of(objective, from, root));
}

// T1 descriptions.

/// The values that a T1 file gives as an expression of Python: a list of literals, range(..),
/// list(range(..)).
settings_node values_in(const settings_node& node) {
  if (node.is_list()) return node;
  const std::string whole = text(node);
  std::string_view words(whole);
  const auto cut = [&](std::string_view head) {
    if (words.substr(0, head.size()) != head || words.empty() || words.back() != ')') return false;
    words = words.substr(head.size(), words.size() - head.size() - 1);
    return true;
  };
  cut("list(");
  if (!cut("range(")) {
    std::string json(words);
    std::replace(json.begin(), json.end(), '\'', '"');
    try {
      settings_node values = parse_json(json);
      if (values.is_list()) {
        for (auto& value : values.items) value.place = node.place;
        values.place = node.place;
        return values;
      }
    } catch (const error&) {
    }
    fail(node, "cannot read these values: " + whole,
         "write a list of literals, range(..) or list(range(..))");
  }
  std::vector<std::int64_t> bounds;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(',', at), words.size());
    std::string_view part = words.substr(at, end - at);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    std::int64_t bound = 0;
    const auto [stopped, wrong] = std::from_chars(part.data(), part.data() + part.size(), bound);
    if (wrong != std::errc() || stopped != part.data() + part.size())
      fail(node, "a bound of this range is not an integer: " + whole);
    bounds.push_back(bound);
    at = end + 1;
  }
  const std::int64_t first = bounds.size() > 1 ? bounds[0] : 0;
  const std::int64_t last = bounds.size() > 1 ? bounds[1] : bounds[0];
  const std::int64_t step = bounds.size() > 2 ? bounds[2] : 1;
  if (bounds.size() > 3 || step <= 0 || (last - first) / step > 1'000'000)
    fail(node, "cannot read this range: " + whole);
  settings_node values;
  values.type = kind::list;
  values.place = node.place;
  for (std::int64_t x = first; x < last; x += step) values.items.push_back(settings_node::of(x));
  return values;
}

std::vector<recorded_parameter> parameters_described(const std::string& path) {
  const settings_node root = parse_json(read_text_file(path, recorded_file_limit), path);
  std::vector<recorded_parameter> parameters;
  const settings_node& all = member(member(root, "ConfigurationSpace"), "TuningParameters");
  for (const auto& one : list(all)) {
    recorded_parameter p{.name = text(member(one, "Name"))};
    check_name(p, one);
    const settings_node values = values_in(member(one, "Values"));
    for (const auto& value : values.items) add_value(p, value);
    if (p.values.empty()) fail(one, "a parameter needs at least one value");
    parameters.push_back(std::move(p));
  }
  if (parameters.empty()) fail(all, "the file declares no parameters");
  return parameters;
}

}  // namespace

std::optional<bool> larger_is_better(std::string_view objective) {
  std::string name;
  for (const char c : objective) name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const auto has = [&name](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&name](std::string_view part) { return name.find(part) != std::string::npos; });
  };
  // "J/GFLOP" and "s/op" are costs; what is divided by a time or an energy is a rate.
  if (has({"/s", "per_s", "/j", "/w", "flops", "throughput", "bandwidth", "speedup", "efficiency"}))
    return true;
  if (has({"time", "duration", "latency", "energy", "power", "cost", "memory", "registers", "error", "bytes",
           "j/", "s/", "edp"}))
    return false;
  return std::nullopt;
}

recorded_space load_recorded_space(const recorded_source& from) {
  std::vector<recorded_parameter> parameters;
  if (!from.parameters.empty()) parameters = parameters_described(from.parameters);
  const settings_node root = parse_cache(read_text_file(from.results, recorded_file_limit), from.results);
  if (!root.is_map()) fail(root, "expected a map, found " + describe(root));
  try {
    if (root.find("cache") != nullptr) return space_of_cache(root, std::move(parameters), from);
    if (root.find("results") != nullptr) return space_of_results(root, std::move(parameters), from);
  } catch (const error& wrong) {
    if (!wrong.place().file.empty()) throw;
    throw error(wrong.code(), wrong.message(), {.file = from.results, .key = {}}, wrong.hint());
  }
  fail(root, "this file is not a recorded tuning space",
       "a cache of Kernel Tuner has the key 'cache', a T4 file the key 'results'");
}

}  // namespace kevo
