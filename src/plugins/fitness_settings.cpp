#include "src/plugins/fitness_settings.hpp"

#include <algorithm>
#include <string>

#include <kevo/settings_node.hpp>

namespace kevo {

sandbox_mode sandbox_from(settings& from, const char* def) {
  const std::string word =
      from.text("sandbox", {.def = def,
                            .doc = "required: refuse to run if a sandbox layer is missing; best: use the "
                                   "layers that are available; off: no sandbox, for trusted code only",
                            .one_of = {"required", "best", "off"}});
  return word == "required" ? sandbox_mode::required
         : word == "best"   ? sandbox_mode::best
                            : sandbox_mode::off;
}

std::uint64_t bytes_from(settings& from, const char* key, std::int64_t def, const char* doc) {
  return static_cast<std::uint64_t>(from.integer(key, {.def = def, .min = 1, .unit = "bytes", .doc = doc}));
}

void timing_from(settings& from, timing_settings& made) {
  settings timing = from.child_or_empty("timing", "time spent on measuring");
  made.short_s = timing.real("short", {.def = made.short_s,
                                       .above = 0.0,
                                       .unit = "s",
                                       .doc = "duration of the short timing of each workload"});
  made.full_s = timing.real("full", {.def = made.full_s,
                                     .above = 0.0,
                                     .unit = "s",
                                     .doc = "maximum duration of the full timing of each workload"});
  made.sustained_s =
      timing.real("sustained", {.def = made.sustained_s,
                                .min = 0.0,
                                .unit = "s",
                                .doc = "time for which a confirmation also runs each workload of the "
                                       "candidate alone, to measure the sustained speed; 0 disables this"});
  made.target_interval =
      timing.real("target_interval", {.def = made.target_interval,
                                      .above = 0.0,
                                      .doc = "full timing ends early when the interval of the speedup is "
                                             "narrower than this fraction of the speedup"});
  made.pairs = static_cast<int>(
      timing.integer("pairs", {.def = made.pairs,
                               .min = 4,
                               .max = 1024,
                               .unit = "pairs",
                               .doc = "maximum number of pairs, of one time of the candidate and one of the "
                                      "baseline, in the full timing of each workload"}));
}

foreign_processes foreign_from(settings& from) {
  const auto word = from.text(
      "foreign_processes",
      {.def = "refuse",
       .doc = "what to do about processes of other programs on the GPU; refuse: wait for them to end, "
              "and stop the run if they do not; note: continue and record them in each evaluation",
       .one_of = {"refuse", "note"}});
  return word == "note" ? foreign_processes::note : foreign_processes::refuse;
}

std::optional<std::vector<int>> devices_from(settings& from, const char* alone) {
  const settings_node* given = from.raw(
      "devices",
      std::string(
          "GPUs that evaluate at the same time, one evaluation on each: all, or a list of "
          "numbers ([0, 1]); if a GPU fails, the others continue. Champions are confirmed on two GPUs. "
          "Null: only the GPU named by ") +
          alone + ". Set run.parallel.builds to about twice the number of GPUs",
      "all or list of integers");
  if (given == nullptr || given->type == settings_node::kind::null) return std::nullopt;
  if (given->type == settings_node::kind::text && given->text == "all") return std::vector<int>();
  std::vector<int> numbers;
  for (const auto& one : given->items) {
    const bool number = one.type == settings_node::kind::integer && one.integer >= 0 && one.integer < 1024;
    const auto value = static_cast<int>(one.integer);
    if (!number || std::find(numbers.begin(), numbers.end(), value) != numbers.end())
      from.fail("devices", "expected different numbers of GPUs, from 0");
    numbers.push_back(value);
  }
  if (numbers.empty()) from.fail("devices", "expected all or a list of numbers such as [0, 1]");
  return numbers;
}

}  // namespace kevo
