#include "src/journal/event_detail.hpp"

#include <limits>
#include <string_view>

#include <boost/json.hpp>

#include <kevo/error.hpp>

#include "src/base/json/json_text.hpp"

namespace kevo::detail {
namespace {

namespace json = boost::json;

double number(const json::value& v) {
  if (v.is_string()) {
    const auto& text = v.get_string();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return v.to_number<double>();
}

void append_ids(json_text& text, const std::vector<candidate_id>& ids) {
  text.begin_array();
  for (const candidate_id id : ids) text.value(static_cast<std::int64_t>(id));
  text.end_array();
}
std::vector<candidate_id> ids_of(const json::value& v) {
  std::vector<candidate_id> ids;
  for (const auto& id : v.as_array()) ids.push_back(id.to_number<candidate_id>());
  return ids;
}
std::string string_of(const json::value& v) {
  return std::string(v.as_string());
}

memory_scope parse_scope(std::string_view name) {
  for (std::size_t i = 0; i < memory_scope_names.size(); ++i) {
    if (memory_scope_names[i] == name) return static_cast<memory_scope>(i);
  }
  throw error(error_code::input, "unknown memory scope '" + std::string(name) + "'");
}
verdict_reason parse_reason(const std::string& name) {
  if (const auto reason = parse_verdict_reason(name)) return *reason;
  throw error(error_code::input, "unknown reason '" + name + "' of a verdict");
}

// An object whose entries `write` appends.
template <class Write>
std::string object(Write write) {
  json_text text;
  text.begin_object();
  write(text);
  text.end_object();
  return std::move(text).text();
}
template <class Value>
void entry(json_text& text, std::string_view key, const Value& value) {
  text.key(key);
  text.value(value);
}
void number_entry(json_text& text, std::string_view key, double x) {
  text.key(key);
  text.exact_number(x);
}

}  // namespace

evaluation_stage parse_stage(const std::string& name) {
  if (const auto stage = parse_evaluation_stage(name)) return *stage;
  throw error(error_code::input, "unknown stage '" + name + "'");
}

std::string ids_text(const std::vector<candidate_id>& ids) {
  json_text text;
  append_ids(text, ids);
  return std::move(text).text();
}

std::optional<std::string> detail_text(const seeded&) {
  return {};
}
std::optional<std::string> detail_text(const variation_asked& e) {
  return object([&](json_text& text) {
    entry(text, "operator", static_cast<std::int64_t>(e.op));
    text.key("parents");
    append_ids(text, e.selection.parents);
    text.key("inspirations");
    append_ids(text, e.selection.inspirations);
    entry(text, "scope", std::string_view(to_string(e.selection.scope)));
    entry(text, "reevaluate", e.selection.reevaluate);
  });
}
std::optional<std::string> detail_text(const variation_told& e) {
  if (e.sample == 0 && !e.further) return {};
  return object([&](json_text& text) {
    entry(text, "sample", std::int64_t{e.sample});
    entry(text, "further", e.further);
  });
}
std::optional<std::string> detail_text(const evaluation_asked& e) {
  return object([&](json_text& text) {
    entry(text, "wanted", std::string_view(to_string(e.wanted)));
    entry(text, "fresh", e.fresh);
  });
}
std::optional<std::string> detail_text(const evaluation_told&) {
  return {};
}
std::optional<std::string> detail_text(const draft_evaluated&) {
  return {};
}
std::optional<std::string> detail_text(const champion_crowned& e) {
  return object([&](json_text& text) {
    number_entry(text, "speedup", e.speedup);
    text.key("interval");
    text.begin_array();
    text.exact_number(e.speedup_interval.low);
    text.exact_number(e.speedup_interval.high);
    text.end_array();
    entry(text, "verdict", std::string_view(to_string(e.verdict.word())));
    entry(text, "reason", std::string_view(to_string(e.verdict.reason)));
    number_entry(text, "widest", e.verdict.widest);
  });
}
std::optional<std::string> detail_text(const search_stopped& e) {
  return object([&](json_text& text) {
    entry(text, "reason", std::string_view(e.reason));
    entry(text, "external", e.external);
  });
}
std::optional<std::string> detail_text(const search_resumed& e) {
  return object([&](json_text& text) { entry(text, "reason", std::string_view(e.reason)); });
}
std::optional<std::string> detail_text(const baseline_met& e) {
  return object([&](json_text& text) { entry(text, "baseline", std::string_view(e.baseline)); });
}
std::optional<std::string> detail_text(const proposals_filtered& e) {
  return object([&](json_text& text) {
    text.key("passed");
    append_ids(text, e.passed);
    text.key("dropped");
    text.begin_array();
    for (const auto& one : e.dropped) {
      text.begin_object();
      entry(text, "candidate", static_cast<std::int64_t>(one.candidate));
      entry(text, "reason", std::string_view(one.reason));
      text.end_object();
    }
    text.end_array();
  });
}

void read_detail(const json::object& detail, variation_asked& e) {
  e.op = detail.at("operator").to_number<operator_index>();
  e.selection = {ids_of(detail.at("parents")), ids_of(detail.at("inspirations")),
                 parse_scope(detail.at("scope").as_string()), detail.at("reevaluate").as_bool()};
}
void read_detail(const json::object& detail, variation_told& e) {
  e.sample = detail.at("sample").to_number<std::uint32_t>();
  e.further = detail.at("further").as_bool();
}
void read_detail(const json::object& detail, evaluation_asked& e) {
  e.wanted = parse_stage(string_of(detail.at("wanted")));
  e.fresh = detail.at("fresh").as_bool();
}
void read_detail(const json::object& detail, champion_crowned& e) {
  const auto& ends = detail.at("interval").as_array();
  e.speedup = number(detail.at("speedup"));
  e.speedup_interval = {number(ends.at(0)), number(ends.at(1))};
  if (const auto* reason =
          detail.if_contains("reason"))  // older journals: every champion was called confirmed
    e.verdict = {parse_reason(string_of(*reason)), number(detail.at("widest"))};
}
void read_detail(const json::object& detail, search_stopped& e) {
  e.reason = string_of(detail.at("reason"));
  e.external = detail.at("external").as_bool();
}
void read_detail(const json::object& detail, search_resumed& e) {
  e.reason = string_of(detail.at("reason"));
}
void read_detail(const json::object& detail, baseline_met& e) {
  e.baseline = string_of(detail.at("baseline"));
}
void read_detail(const json::object& detail, proposals_filtered& e) {
  e.passed = ids_of(detail.at("passed"));
  for (const auto& one : detail.at("dropped").as_array()) {
    const auto& dropped = one.as_object();
    e.dropped.push_back({dropped.at("candidate").to_number<candidate_id>(), string_of(dropped.at("reason"))});
  }
}

}  // namespace kevo::detail
