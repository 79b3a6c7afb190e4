#pragma once
// A made-up run as a display sees it, and what a display wrote, for its tests.

#include <string>
#include <vector>

#include "src/display/budgets.hpp"
#include "src/display/live_display.hpp"
#include "src/display/plain_display.hpp"
#include "src/display/render.hpp"
#include "tests/report/synthetic_run.hpp"

namespace displayed {

inline kevo::run_status status_of(const synthetic::run& r) {
  kevo::run_status s;
  s.progress.ledger = r.ledger;
  s.progress.best_speedup = r.best;
  s.progress.best_interval = r.best_interval;
  s.progress.archive_size = 23;
  s.progress.archive_cells = 64;
  s.operator_names = r.operators;
  s.credits = r.credits;
  s.archive = r.growing;
  s.varying = 2, s.building = 1, s.measuring = 1;
  s.elapsed_s = r.time_s;
  s.budgets = {{"evaluations", static_cast<double>(r.ledger.evaluations) / 400}, {"seconds", r.time_s / 300}};
  s.budget_used = s.budgets[0].used;
  return s;
}

inline const kevo::run_title title = {
    "quickstart", "runs/quickstart", "matmul", "AMD EPYC 9B14, 1 thread", "seed", "1"};

inline kevo::display_state state_of(std::size_t proposals) {
  kevo::display_state s;
  s.title = title;
  const auto r = synthetic::make(proposals);
  for (const auto& e : r.events) s.consume(e);
  s.refresh(status_of(r));
  s.archive = kevo::map_of(r.archive);
  return s;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

inline std::string without_color(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace displayed
