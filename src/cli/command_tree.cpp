#include "src/cli/command_tree.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace kevo::cli {
namespace {

option_description describe(const CLI::Option& option) {
  option_description one;
  one.positional = option.get_positional();
  if (one.positional) {
    one.names = {option.get_name(true)};
  } else {
    for (const auto& name : option.get_snames()) one.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) one.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() > 0) one.value = option.get_type_name();
  one.description = option.get_description();
  one.required = option.get_required();
  one.repeats = option.get_items_expected_max() > 1;
  return one;
}

}  // namespace

verb_description describe(const CLI::App& program) {
  verb_description all{program.get_name(), program.get_description(), {}, {}};
  for (const auto* option : program.get_options()) all.options.push_back(describe(*option));
  std::stable_partition(all.options.begin(), all.options.end(),
                        [](const option_description& one) { return one.positional; });
  for (const auto* verb : program.get_subcommands([](const CLI::App*) { return true; }))
    all.verbs.push_back(describe(*verb));
  return all;
}

}  // namespace kevo::cli
