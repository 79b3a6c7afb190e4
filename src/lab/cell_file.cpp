#include "src/lab/cell_file.hpp"

#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>

#include "src/base/json/exact_parse.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

json::array to_array(const std::array<double, 3>& spent) {
  return {spent[0], spent[1], spent[2]};
}
std::array<double, 3> from_array(const json::value& value) {
  const json::array& list = value.as_array();
  return {list.at(0).to_number<double>(), list.at(1).to_number<double>(), list.at(2).to_number<double>()};
}

std::string line_of(const cell_result& cell) {
  json::array trace;
  for (const auto& point : cell.trace) {
    json::array one = to_array(point.spent);
    one.push_back(point.value);
    trace.push_back(std::move(one));
  }
  return json::serialize(json::object{{"key", to_string(cell.key)},
                                      {"policy", cell.policy},
                                      {"seed", cell.seed},
                                      {"optimum", cell.optimum},
                                      {"spent", to_array(cell.spent)},
                                      {"confirmations", cell.confirmations},
                                      {"duplicates", cell.duplicates},
                                      {"filtered", cell.filtered},
                                      {"tokens", cell.tokens},
                                      {"no_proposals", cell.no_proposals},
                                      {"stopped_by", cell.stopped_by},
                                      {"trace", std::move(trace)}});
}

cell_result cell_in(std::string_view line) {
  const json::value parsed = parse_json_exactly(line);
  const json::object& object = parsed.as_object();
  cell_result cell;
  const auto key = parse_content_id(json::value_to<std::string>(object.at("key")));
  if (!key) throw error(error_code::input, "the key is not a content id");
  cell.key = *key;
  cell.policy = json::value_to<std::string>(object.at("policy"));
  cell.seed = object.at("seed").to_number<std::uint64_t>();
  cell.optimum = object.at("optimum").to_number<double>();
  cell.spent = from_array(object.at("spent"));
  cell.confirmations = object.at("confirmations").to_number<std::uint64_t>();
  cell.duplicates = object.at("duplicates").to_number<std::uint64_t>();
  // Lines of older versions do not have these; their keys match no search of this version.
  if (const auto* filtered = object.if_contains("filtered"))
    cell.filtered = filtered->to_number<std::uint64_t>();
  if (const auto* tokens = object.if_contains("tokens")) cell.tokens = tokens->to_number<std::uint64_t>();
  if (const auto* none = object.if_contains("no_proposals"))
    cell.no_proposals = none->to_number<std::uint64_t>();
  cell.stopped_by = json::value_to<std::string>(object.at("stopped_by"));
  for (const auto& point : object.at("trace").as_array())
    cell.trace.push_back({from_array(point), point.as_array().at(3).to_number<double>()});
  return cell;
}

}  // namespace

cell_file::cell_file(const std::string& folder)
    : file_(folder, "cells.jsonl", [this](std::string_view line) {
        cell_result cell = cell_in(line);
        cells_.insert_or_assign(cell.key, std::move(cell));
      }) {}

void cell_file::append(cell_result cell) {
  file_.append(line_of(cell));
  cells_.insert_or_assign(cell.key, std::move(cell));
}

}  // namespace kevo
