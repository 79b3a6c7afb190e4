#pragma once
// A setting that is the name of a policy, or the file of one that was learnt.

#include <set>
#include <string>

#include <kevo/operators/rewrite.hpp>
#include <kevo/registry.hpp>

namespace kevo {

struct named_policy {
  std::string name;      ///< one of the names; the file otherwise
  action_policy learnt;  ///< of the file
};
/// Reads `policy`, and the settings of learnt policies.
named_policy named_policy_from(settings& from, const setting<std::string>& what,
                               const std::set<std::string>& names, const std::string& directory);

}  // namespace kevo
