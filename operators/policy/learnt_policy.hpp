#pragma once
// A trained policy, as a value and as JSON.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/learn/action_net.hpp>
#include <kevo/operators/action_policy.hpp>

namespace kevo {

/// What a file of `kevo learn policy` holds.
struct learnt_policy {
  std::string for_operator;  ///< whose actions it chooses: "rewrite"
  action_features features;
  action_net net;
  std::map<std::string, std::string> trained;  ///< on what, for people
};

/// The choice as the net reads it: a column holds the type (a 1 among as many numbers as `of.types` has), the
/// features of the region, and the products of both, so that a place can be good for one type alone. Features
/// that `from` lacks and types that `of` does not know are 0.
action_decision decision_of(const action_choice& choice, const action_features& from,
                            const action_features& of);

/// A net for decisions with these features; `hidden` units, 0: linear.
action_net net_for(const action_features& features, std::size_t hidden, rng random = rng(1));

std::string to_json(const learnt_policy& policy);
/// Throws kevo::error (input); `name` is the file that errors name.
learnt_policy policy_from_json(std::string_view text, const std::string& name);

}  // namespace kevo
