#include "operators/rewrite/notes.hpp"

#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>

#include "src/base/json/exact_parse.hpp"

namespace kevo {
namespace rewriting {
namespace {

constexpr std::string_view note_head = "[rewrite] ";

/// Tells apart what the numbers of a note mean: a hash of the names.
std::string meaning_of_features() {
  content_hasher hash;
  for (const auto* names :
       {&rewrite_features().states, &rewrite_features().types, &rewrite_features().regions}) {
    hash.number(names->size());
    for (const auto& one : *names) hash.text(one);
  }
  return to_string(hash.finish()).substr(0, 12);
}

std::string numbers(const std::vector<double>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{:.4g}", i == 0 ? "" : ",", values[i]);
  return text + "]";
}

std::vector<double> numbers_from(const boost::json::value& from) {
  std::vector<double> made;
  for (const auto& one : from.as_array()) made.push_back(one.to_number<double>());
  return made;
}

recorded_choice choice_from(const boost::json::object& from) {
  recorded_choice made;
  made.choice.state = numbers_from(from.at("state"));
  for (const auto& item : from.at("actions").as_array()) {
    const auto& one = item.as_array();
    made.choice.actions.push_back({std::string(one.at(0).as_string()), std::string(one.at(1).as_string()),
                                   one.at(2).to_number<double>(), numbers_from(one.at(3))});
  }
  made.chosen = from.at("chosen").to_number<std::size_t>();
  return made;
}

}  // namespace

std::string note_of(const recorded_choice& one) {
  std::string text = fmt::format("{}{{\"features\":\"{}\",\"chosen\":{},\"state\":{},\"actions\":[",
                                 note_head, meaning_of_features(), one.chosen, numbers(one.choice.state));
  for (std::size_t i = 0; i < one.choice.actions.size(); ++i) {
    const possible_action& action = one.choice.actions[i];
    text += fmt::format(
        "{}[{},{},{:.4g},{}]", i == 0 ? "" : ",", boost::json::serialize(boost::json::value(action.type)),
        boost::json::serialize(boost::json::value(action.region)), action.weight, numbers(action.features));
  }
  return text + "]}\n";
}

}  // namespace rewriting

std::vector<recorded_choice> recorded_choices(std::string_view transcript) {
  using namespace rewriting;
  std::vector<recorded_choice> all;
  while (!transcript.empty()) {
    const std::size_t end = std::min(transcript.find('\n'), transcript.size());
    std::string_view line = transcript.substr(0, end);
    transcript.remove_prefix(std::min(end + 1, transcript.size()));
    if (!line.starts_with(note_head)) continue;
    line.remove_prefix(note_head.size());
    try {
      const auto value = parse_json_exactly(line);
      if (value.as_object().at("features").as_string() != meaning_of_features()) return {};
      all.push_back(choice_from(value.as_object()));
      if (all.back().chosen >= all.back().choice.actions.size()) return {};
    } catch (const std::exception&) {  // a note of another version, or cut off
      return {};
    }
  }
  return all;
}

}  // namespace kevo
