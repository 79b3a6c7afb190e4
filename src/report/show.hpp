#pragma once
// What `kevo show` says of a run and of a candidate: text for people, JSON for machines.

#include <memory>
#include <string>
#include <vector>

#include <kevo/model_call.hpp>

#include "src/report/report_content.hpp"

namespace kevo {

/// One candidate with everything that is known of it.
struct shown_candidate {
  candidate_id id = no_candidate;
  std::shared_ptr<const kevo::program> program;
  std::shared_ptr<const kevo::evaluation> evaluation;  ///< the widest and latest; null if there is none
  std::string transcript;                              ///< of its variation
  std::vector<model_call> calls;                       ///< of language models, of its variation
};

struct show_style {
  bool unicode = true;
  bool color = false;
  std::size_t limit = 20;  ///< elites of a run, steps of a lineage
};

/// A run: its best, what it spent, operators, elites.
std::string run_text(const report_content& content, const show_style& style);
/// A candidate: where it came from, what became of it, its workloads, measures and feedback.
std::string candidate_text(const report_content& content, const shown_candidate& one,
                           const show_style& style);

/// The same as one JSON object on one line. With `source` the files of the program are in it.
std::string run_json(const report_content& content);
std::string candidate_json(const report_content& content, const shown_candidate& one, bool source);
/// What was sent to language models for a candidate, and what they answered, in order.
std::string conversation_text(const std::vector<model_call>& calls);
/// {"run": folder, "report": path}
std::string report_json(const std::string& folder, const std::string& path);

}  // namespace kevo
