// Reads from the journals of other runs what `tune` starts from.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <kevo/annotation.hpp>
#include <kevo/score.hpp>

#include "src/journal/journal.hpp"
#include "src/plugins/tune.hpp"

namespace kevo {
namespace {

/// The candidates of a run with their latest results.
struct judged {
  content_id program;
  std::shared_ptr<const evaluation> result;
};

std::map<candidate_id, judged> candidates_of(const journal& run) {
  std::map<candidate_id, judged> all;
  run.for_each_event([&all](const event& e) {
    if (const auto* seed = std::get_if<seeded>(&e.payload)) all[seed->candidate].program = seed->program;
    if (const auto* told = std::get_if<variation_told>(&e.payload)) {
      if (told->program) all[told->candidate].program = *told->program;
    }
    if (const auto* told = std::get_if<evaluation_told>(&e.payload))
      all[told->candidate].result = told->result;
  });
  return all;
}

}  // namespace

void relate_to_best(std::vector<tune_experience>& all, std::size_t first) {
  std::vector<double> values;
  for (std::size_t i = first; i < all.size(); ++i) {
    if (!all[i].failed) values.push_back(all[i].value);
  }
  if (values.empty()) return;
  to_model_values(values);
  const double best = *std::max_element(values.begin(), values.end());
  auto value = values.begin();
  for (std::size_t i = first; i < all.size(); ++i) {
    if (!all[i].failed) all[i].value = *value++ - best;
  }
}

std::vector<tune_experience> experience_of_runs(const std::vector<std::string>& folders,
                                                const error_place& named) {
  std::vector<tune_experience> made;
  for (const auto& folder : folders) {
    const std::size_t first = made.size();
    if (!journal::exists(folder))
      throw error(error_code::input, fmt::format("there is no run in '{}'", folder), named,
                  "name the folder of a run, which contains journal.sqlite");
    const journal run = journal::open_read_only(folder);
    for (const auto& [id, one] : candidates_of(run)) {
      const auto source = one.result ? run.source(one.program) : nullptr;
      if (!source) continue;
      tune_experience found;
      try {
        for (const auto& t : parse_annotations(*source).tunables) found.values[t.name] = t.value;
      } catch (const error&) {  // its annotations are wrong
        continue;
      }
      if (found.values.empty()) continue;
      found.failed = !one.result->valid();
      found.value = one.result->score;
      made.push_back(std::move(found));
    }
    relate_to_best(made, first);
  }
  return made;
}

}  // namespace kevo
