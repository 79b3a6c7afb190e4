#include "src/import/narrowed_tolerance.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>

#include <boost/json.hpp>

#include "src/base/json/exact_parse.hpp"
#include "src/base/text/text_file.hpp"
#include "src/import/output_tasks.hpp"

namespace kevo::importing {

namespace fs = std::filesystem;
namespace json = boost::json;

tolerance narrowed(tolerance rule, const narrowing& by) {
  if (rule.rule != "bounds") return rule;
  rule.max_atol *= by.factor;
  rule.max_rtol *= by.factor;
  if (by.whole) rule.required_matched_ratio = 1;
  return rule;
}

namespace {

json::object object_of(const tolerance& rule) {
  if (rule.rule == "exact") return {{"rule", "exact"}};
  json::object o{{"max_atol", rule.max_atol}, {"max_rtol", rule.max_rtol}};
  if (rule.required_matched_ratio < 1) o["required_matched_ratio"] = rule.required_matched_ratio;
  if (rule.max_error_cap) o["max_error_cap"] = *rule.max_error_cap;
  if (rule.allow_negative_inf) o["allow_negative_inf"] = true;
  return o;
}

}  // namespace

void write_tolerances(const task& t, const std::map<std::string, narrowing>& by_uuid, const fs::path& file) {
  std::string text;
  std::istringstream lines(read_text_file(file.string(), std::size_t{64} << 20U));
  for (std::string line; std::getline(lines, line);) {
    json::value trace = parse_json_exactly(line);
    auto& given = trace.as_object().at("workload").as_object();
    const auto found = by_uuid.find(std::string(given.at("uuid").as_string()));
    if (found != by_uuid.end()) {
      const auto w = std::find_if(t.workloads.begin(), t.workloads.end(),
                                  [&](const workload& one) { return one.uuid == found->first; });
      const auto rule = [&](const tensor& output) {
        return object_of(narrowed(tolerance_for(t, *w, output.name), found->second));
      };
      json::object rules;
      for (const auto& output : t.outputs) rules[output.name] = rule(output);
      given["tolerance"] = t.outputs.size() == 1 ? rule(t.outputs.front()) : std::move(rules);
    }
    text += json::serialize(trace) + '\n';
  }
  write_file(file, text);
}

}  // namespace kevo::importing
