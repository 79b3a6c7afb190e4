#pragma once
// What a lab searches: a family of problems whose true values are known, one instance a seed.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/program.hpp>
#include <kevo/registry.hpp>
#include <kevo/settings.hpp>

namespace kevo {

/// One instance. Shared by no two cells: its fitness function counts measurements.
struct lab_instance {
  std::vector<program> seeds;
  any_fitness fitness;
  std::function<double(const program&)> true_value;  ///< speedup over the seed, without noise; 0 unless valid
  double optimum = 1;                                ///< the largest true value there is
};

/// A family of instances, as the `problem` of a lab config says. `instance` may be called from several
/// threads.
struct lab_problem {
  std::string description;  ///< one line for people
  std::string identity;     ///< equal texts, equal instances; for the keys of cells
  std::function<lab_instance(std::uint64_t seed)> instance;
  std::function<void(registry&)> extend;  ///< registers operators that are this problem's own; may be empty
};

/// Decodes `problem`: {type: landscape, ...}. `directory`: relative paths start here. Throws kevo::error
/// (input).
lab_problem read_problem(settings& from, const std::string& directory);
/// The same where `type` is `recorded`: docs/recorded_spaces.md.
lab_problem recorded_problem(settings& from, const std::string& directory);

}  // namespace kevo
