#include <set>
#include <string>

#include <fmt/format.h>

#include "src/base/text/csv_row.hpp"
#include "src/export/export.hpp"

namespace kevo {
namespace {

std::string join(const std::vector<candidate_id>& ids) {
  return fmt::format("{}", fmt::join(ids, " "));
}

}  // namespace

std::size_t export_csv(const journal& record, std::ostream& out) {
  const candidate_store store = record.store();
  const candidate_id count = record.candidate_count();
  std::set<std::string> measures;
  for (candidate_id id = 0; id < count; ++id) {
    if (const auto e = store.evaluation_of(id)) {
      for (const auto& [name, value] : e->measures) measures.insert(name);
    }
  }

  csv_row row;
  for (const char* name : {"candidate", "operator",    "parents",      "inspirations", "born_s",
                           "program",   "language",    "outcome",      "stage",        "score",
                           "speedup",   "speedup_low", "speedup_high", "sol_fraction", "baseline",
                           "archive",   "evaluations", "vary_s",       "evaluate_s",   "device_s",
                           "money",     "tokens_in",   "tokens_out",   "device",       "summary"}) {
    row.text(name);
  }
  for (const auto& name : measures) row.text("measure_" + name);
  row.end(out);

  std::size_t rows = 0;
  for (candidate_id id = 0; id < count; ++id) {
    const auto c = record.candidate(id);
    if (!c) continue;
    const auto evaluations = record.evaluations(id);
    const auto program = store.program_of(c->program);
    row.count(id).text(c->operator_name).text(join(c->parents)).text(join(c->inspirations)).number(c->born_s);
    row.text(to_string(c->program)).text(program ? program->language : "");
    double wall_s = 0;
    double device_s = 0;
    for (const auto& one : evaluations)
      wall_s += one.result->cost.wall_s, device_s += one.result->cost.device_s;
    if (evaluations.empty()) {
      for (int i = 0; i < 9; ++i) row.nothing();
    } else {
      const evaluation& e = *evaluations.back().result;
      row.text(to_string(e.outcome)).text(to_string(e.stage)).number(e.score).measured(e.speedup);
      row.measured(e.speedup_interval.low).measured(e.speedup_interval.high).measured(e.sol_fraction);
      row.text(e.baseline).text(to_string(evaluations.back().archived.status));
    }
    row.count(evaluations.size())
        .number(c->cost.wall_s)
        .number(wall_s)
        .number(device_s)
        .number(c->cost.money);
    row.count(static_cast<std::size_t>(c->cost.tokens_in))
        .count(static_cast<std::size_t>(c->cost.tokens_out));
    row.text(evaluations.empty() ? "" : evaluations.back().result->device).text(c->summary);
    for (const auto& name : measures) {
      if (evaluations.empty()) {
        row.nothing();
        continue;
      }
      const auto& all = evaluations.back().result->measures;
      const auto found = all.find(name);
      if (found == all.end()) {
        row.nothing();
      } else {
        row.number(found->second);
      }
    }
    row.end(out);
    ++rows;
  }
  return rows;
}

}  // namespace kevo
