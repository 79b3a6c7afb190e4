#pragma once
// A config of configs/systems on the toy task with a scripted model, and what its journal says of islands.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/islands.hpp>
#include <kevo/journal.hpp>

#include "tests/support/llm_project.hpp"

namespace scripted {

/// The config with the toy task in place of its own: the lines that a user changes, and what `more` says.
inline std::vector<std::string> system_on(const project& p, const std::string& system, const std::string& url,
                                          std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"run",
                                    KEVO_SOURCE_DIR "/configs/systems/" + system + ".yaml",
                                    "--set",
                                    "task=" + (p.folder / "task.yaml").string(),
                                    "--set",
                                    "fitness={backend: command, command: [/bin/sh, score.sh], directory: " +
                                        p.folder.string() + ", sandbox: off}",
                                    "--set",
                                    "llm.models=[{name: a, url: \"" + url + "\"}]",
                                    "--set",
                                    "run.output=" + (p.folder / "run").string()};
  for (auto& one : more) {
    words.emplace_back("--set");
    words.push_back(std::move(one));
  }
  return words;
}

/// The number in the source of the parent that a prompt shows; its body is JSON.
inline std::string parent_number(const std::string& body) {
  const auto parent = body.find("## Parent");
  const auto begin = parent == std::string::npos ? parent : body.find("value ", parent);
  if (begin == std::string::npos) return {};
  std::size_t end = begin + 6;
  while (end < body.size() && body[end] >= '0' && body[end] <= '9') ++end;
  return body.substr(begin + 6, end - begin - 6);
}
/// A reply that edits the parent.
inline std::string value_edit(const std::string& from, const std::string& to) {
  return "Summary: another number\n\n<<<<<<< SEARCH\nvalue " + from + "\n=======\nvalue " + to +
         "\n>>>>>>> REPLACE\n";
}
/// Numbers of different lengths, so that programs differ in features; some are multiples of five.
inline std::string number_of(std::size_t turn) {
  return std::to_string(1000 + turn) + std::string(turn * 5 % 7, '1');
}

/// What the archive of islands of a run was at each of its decisions: the archive is given the record of the
/// run, and must answer as it did then.
struct islands_replayed {
  kevo::islands world;
  std::size_t selections = 0;
  std::size_t shown = 0;          ///< inspirations
  std::size_t strangers = 0;      ///< inspirations from another island than the parent's
  std::size_t welcomed = 0;       ///< parents and inspirations that had migrated to the island
  std::size_t answers = 0;        ///< offers
  std::size_t other_answers = 0;  ///< offers to which the run's archive answered otherwise
  std::map<std::size_t, std::size_t> turns = {};  ///< by island
  std::map<kevo::ticket, std::vector<kevo::candidate_id>> inspirations = {};

  void follow(const kevo::journal& record) {
    std::map<kevo::candidate_id, std::size_t> born;  // island of the first offer
    record.for_each_event([&](const kevo::event& e) {
      if (const auto* told = std::get_if<kevo::evaluation_told>(&e.payload)) {
        if (!told->result->valid()) return;
        const auto one = record.candidate(told->candidate);
        kevo::archive_entry entry{told->candidate, told->result->score, {}, one->parents};
        entry.source = record.store().program_of(one->program);
        ++answers;
        other_answers += world.add(entry) == told->archived ? 0U : 1U;
        if (const auto here = world.island_of(entry.id)) born.try_emplace(entry.id, *here);
      } else if (const auto* asked = std::get_if<kevo::variation_asked>(&e.payload)) {
        const auto& chosen = asked->selection;
        const auto here = world.island_of(chosen.parents.front());
        REQUIRE(here);
        ++selections;
        ++turns[*here];
        inspirations[asked->job] = chosen.inspirations;
        const auto moved = [&](kevo::candidate_id id) {
          const auto at = born.find(id);
          return at != born.end() && at->second != *here;
        };
        welcomed += moved(chosen.parents.front()) ? 1U : 0U;
        for (const kevo::candidate_id id : chosen.inspirations) {
          ++shown;
          strangers += world.island_of(id) == here ? 0U : 1U;
          welcomed += moved(id) ? 1U : 0U;
        }
      }
    });
  }
};

/// Whether a prompt shows a candidate, with its source or as a difference.
inline bool is_shown(const std::string& prompt, kevo::candidate_id id) {
  return prompt.find("#" + std::to_string(id) + " by ") != std::string::npos;
}

/// The number of inspirations, but for seeds, that are not in the prompts of their turn.
inline std::size_t missing_in_prompts(const kevo::journal& record, const islands_replayed& run) {
  std::size_t missing = 0;
  record.for_each_model_call([&](kevo::ticket job, std::int64_t number) {
    const auto found = run.inspirations.find(job);
    if (found == run.inspirations.end()) return;
    const auto calls = record.model_calls(std::vector{number});
    for (const kevo::candidate_id id : found->second) {
      if (record.candidate(id)->parents.empty()) continue;  // a seed that is outdone is not shown
      missing += is_shown(calls.front().messages, id) ? 0U : 1U;
    }
  });
  return missing;
}

}  // namespace scripted
