#include "operators/policy/learnt_policy.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/exact_parse.hpp"
#include "src/base/text/text_file.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

constexpr std::int64_t format_version = 1;
constexpr std::size_t most_names = 4096;
constexpr std::size_t most_hidden = 1024;

[[noreturn]] void refuse(const std::string& name, const std::string& key, const std::string& what) {
  throw error(error_code::input, what, {.file = name, .key = key},
              "make the file again with kevo learn policy RUNS... -o " + name);
}

const json::value& member(const json::object& in, const char* key, const std::string& name) {
  const auto* found = in.if_contains(key);
  if (found == nullptr) refuse(name, key, fmt::format("the policy has no '{}'", key));
  return *found;
}

std::int64_t whole(const json::object& in, const char* key, std::int64_t most, const std::string& name) {
  const json::value& found = member(in, key, name);
  if (!found.is_int64() || found.get_int64() < 0 || found.get_int64() > most)
    refuse(name, key, fmt::format("'{}' is not a whole number from 0 to {}", key, most));
  return found.get_int64();
}

std::vector<std::string> names(const json::object& in, const char* key, const std::string& name) {
  const json::value& found = member(in, key, name);
  if (!found.is_array() || found.get_array().size() > most_names)
    refuse(name, key, fmt::format("'{}' is not a list of names", key));
  std::vector<std::string> all;
  for (const auto& one : found.get_array()) {
    if (!one.is_string()) refuse(name, key, fmt::format("'{}' is not a list of names", key));
    all.emplace_back(one.get_string());
  }
  if (std::set<std::string>(all.begin(), all.end()).size() != all.size())
    refuse(name, key, fmt::format("'{}' contains a name twice", key));
  return all;
}

json::array names_json(const std::vector<std::string>& names) {
  json::array all;
  for (const auto& one : names) all.emplace_back(one);
  return all;
}

/// For each name of `of`, its place in `from`; -1 if it is not there.
std::vector<std::ptrdiff_t> places(const std::vector<std::string>& from, const std::vector<std::string>& of) {
  std::vector<std::ptrdiff_t> all;
  for (const auto& one : of) {
    const auto found = std::find(from.begin(), from.end(), one);
    all.push_back(found == from.end() ? -1 : found - from.begin());
  }
  return all;
}

double at_or_zero(const std::vector<double>& values, std::ptrdiff_t at) {
  return at < 0 || at >= static_cast<std::ptrdiff_t>(values.size()) ? 0
                                                                    : values[static_cast<std::size_t>(at)];
}

}  // namespace

action_decision decision_of(const action_choice& choice, const action_features& from,
                            const action_features& of) {
  using index = Eigen::Index;
  const auto states = places(from.states, of.states);
  const auto regions = places(from.regions, of.regions);
  const auto types = static_cast<index>(of.types.size());
  action_decision made;
  made.state.resize(static_cast<index>(states.size()));
  for (std::size_t i = 0; i < states.size(); ++i)
    made.state(static_cast<index>(i)) = at_or_zero(choice.state, states[i]);
  made.actions = Eigen::MatrixXd::Zero(types + (types + 1) * static_cast<index>(regions.size()),
                                       static_cast<index>(choice.actions.size()));
  for (std::size_t k = 0; k < choice.actions.size(); ++k) {
    const possible_action& one = choice.actions[k];
    const auto column = static_cast<index>(k);
    const auto type = std::find(of.types.begin(), of.types.end(), one.type);
    if (type != of.types.end()) made.actions(static_cast<index>(type - of.types.begin()), column) = 1;
    for (std::size_t i = 0; i < regions.size(); ++i)
      made.actions(types + static_cast<index>(i), column) = at_or_zero(one.features, regions[i]);
    if (type == of.types.end()) continue;
    const auto size = static_cast<index>(regions.size());
    made.actions.col(column).segment(types + size * (1 + (type - of.types.begin())), size) =
        made.actions.col(column).segment(types, size);
  }
  return made;
}

action_net net_for(const action_features& features, std::size_t hidden, rng random) {
  const std::size_t types = features.types.size();
  return {features.states.size(), types + (types + 1) * features.regions.size(), types, hidden, random};
}

std::string to_json(const learnt_policy& policy) {
  json::array weights;
  for (Eigen::Index i = 0; i < policy.net.weights.size(); ++i) weights.emplace_back(policy.net.weights(i));
  json::object trained;
  for (const auto& [key, value] : policy.trained) trained[key] = value;
  return json::serialize(json::object{{"kevo_policy", format_version},
                                      {"operator", policy.for_operator},
                                      {"hidden", policy.net.hidden()},
                                      {"states", names_json(policy.features.states)},
                                      {"types", names_json(policy.features.types)},
                                      {"regions", names_json(policy.features.regions)},
                                      {"weights", std::move(weights)},
                                      {"trained", std::move(trained)}}) +
         "\n";
}

learnt_policy policy_from_json(std::string_view text, const std::string& name) {
  json::value whole_file;
  try {
    whole_file = parse_json_exactly(text);
  } catch (const error& wrong) {
    error_place at = wrong.place();
    at.file = name;
    throw error(error_code::input, std::string("the policy is not JSON: ") + wrong.what(), at,
                "make the file again with kevo learn policy RUNS... -o " + name);
  }
  if (!whole_file.is_object() || !whole_file.get_object().contains("kevo_policy"))
    refuse(name, "kevo_policy", "this is not a file of kevo learn policy");
  const json::object& all = whole_file.get_object();
  if (const auto version = whole(all, "kevo_policy", 1'000'000, name); version != format_version)
    refuse(name, "kevo_policy",
           fmt::format("the policy has format {}, and this kevo reads format {}", version, format_version));
  learnt_policy made;
  const json::value& user = member(all, "operator", name);
  if (!user.is_string()) refuse(name, "operator", "'operator' is not a name");
  made.for_operator = std::string(user.get_string());
  made.features = {names(all, "states", name), names(all, "types", name), names(all, "regions", name)};
  made.net = net_for(made.features, static_cast<std::size_t>(whole(all, "hidden", most_hidden, name)));
  const json::value& weights = member(all, "weights", name);
  const auto size = static_cast<std::size_t>(made.net.size());
  if (!weights.is_array() || weights.get_array().size() != size)
    refuse(name, "weights",
           fmt::format("'weights' is not a list of {} numbers, one for each parameter", size));
  for (std::size_t i = 0; i < size; ++i) {
    const json::value& one = weights.get_array()[i];
    if (!one.is_number() || !std::isfinite(one.to_number<double>()))
      refuse(name, "weights", "'weights' contains a value that is not a number");
    made.net.weights(static_cast<Eigen::Index>(i)) = one.to_number<double>();
  }
  if (const auto* trained = all.if_contains("trained"); trained != nullptr && trained->is_object()) {
    for (const auto& [key, value] : trained->get_object())
      made.trained[std::string(key)] =
          value.is_string() ? std::string(value.get_string()) : json::serialize(value);
  }
  return made;
}

std::shared_ptr<const learnt_policy> read_policy(const std::string& path) {
  return std::make_shared<const learnt_policy>(policy_from_json(read_text_file(path), path));
}

void require_features(const learnt_policy& policy, const action_features& known, std::string_view user) {
  if (policy.for_operator != user)
    throw error(
        error_code::input,
        fmt::format("the policy was trained for the actions of '{}', not of '{}'", policy.for_operator, user),
        {}, fmt::format("train one on runs of {}", user));
  const auto check = [&user](const std::vector<std::string>& has, const std::vector<std::string>& of,
                             const char* what) {
    for (const auto& one : has) {
      if (std::find(of.begin(), of.end(), one) == of.end())
        throw error(error_code::input,
                    fmt::format("the policy was trained with {} '{}', which {} of this kevo does not have",
                                what, one, user),
                    {}, "train it again with this kevo");
    }
  };
  check(policy.features.states, known.states, "the feature");
  check(policy.features.types, known.types, "the action");
  check(policy.features.regions, known.regions, "the feature");
}

}  // namespace kevo
