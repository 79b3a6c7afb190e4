// Fitness functions by name: how a config's `fitness:` becomes an evaluator.

#include "fitness/command/command_fitness.hpp"
#include "src/config/text_file.hpp"
#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

sandbox_mode sandbox_from(settings& from, const char* def) {
  const std::string word = from.text(
      "sandbox",
      {.def = def,
       .doc = "required refuses where a layer is missing, best takes what there is, off is for trusted code",
       .one_of = {"required", "best", "off"}});
  return word == "required" ? sandbox_mode::required
         : word == "best"   ? sandbox_mode::best
                            : sandbox_mode::off;
}

std::uint64_t bytes_from(settings& from, const char* key, std::int64_t def, const char* doc) {
  return static_cast<std::uint64_t>(from.integer(key, {.def = def, .min = 1, .unit = "bytes", .doc = doc}));
}

any_fitness command_from(settings& from, const build_context& context) {
  command_settings made;
  made.command = from.texts(
      "command", {.doc = "program and arguments; {candidate} is replaced by the candidate's path"});
  made.environment = from.texts("environment", {.doc = "NAME=value"}, std::vector<std::string>{});
  made.directory = from.text(
      "directory", {.def = "", .doc = "working directory, relative to the config; empty: the candidate's"});
  if (!made.directory.empty()) made.directory = path_beside(context.directory + "/config", made.directory);
  made.sandbox = sandbox_from(from, "best");
  settings limits = from.child_or_empty("limits", "what the program may use");
  made.limits.wall_s =
      limits.real("wall", {.def = made.limits.wall_s, .above = 0.0, .unit = "s", .doc = "one evaluation"});
  made.limits.memory_bytes = static_cast<std::uint64_t>(
      limits.integer("memory", {.def = static_cast<std::int64_t>(made.limits.memory_bytes),
                                .min = 0,
                                .unit = "bytes",
                                .doc = "0: no limit"}));
  made.limits.output_bytes = bytes_from(limits, "output", static_cast<std::int64_t>(made.limits.output_bytes),
                                        "standard output and error");
  if (from.probing()) return {};
  return any_fitness(command_fitness(std::move(made)));
}

}  // namespace

void register_fitness(registry& all) {
  all.fitness.add("command", command_from,
                  "any program that takes a candidate's path and prints a JSON object");
}

}  // namespace kevo
