#pragma once
// A run for other programs: tables for spreadsheets, JSON lines for everything, steps for trainers, and a
// FlashInfer-Bench data set; training.hpp has the formats for trainers of language models, bundle/bundle.hpp
// a program to link. The formats are documented in docs/export.md and docs/bundle.md.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include <kevo/task.hpp>

#include "src/journal/journal.hpp"

namespace kevo {

enum class export_format : std::uint8_t {
  csv,
  jsonl,
  steps,
  flashinfer,
  bundle,
  trajectories,
  sft,
  dpo,
  grpo
};

/// By its name, for example "csv"; nothing for an unknown name.
std::optional<export_format> parse_export_format(std::string_view name);

/// One row a candidate, in order of birth, with its latest evaluation and a column for every measure. RFC
/// 4180; what does not exist is empty. Returns the number of rows.
std::size_t export_csv(const journal& record, std::ostream& out);

/// One JSON object a candidate with everything that is known: sources, lineage, all evaluations with their
/// raw samples. Returns the number of lines.
std::size_t export_jsonl(const journal& record, std::ostream& out);

/// One JSON object a finished variation: state (parents with source and result as they were then), action
/// (operator, summary, transcript, cost), result and reward terms. Variations without a new candidate are
/// there, too. Returns the number of lines.
std::size_t export_steps(const journal& record, std::ostream& out);

struct flashinfer_options {
  std::size_t top = 0;  ///< only so many of the best valid candidates; 0: all that were evaluated
  std::string author = "kevo";
};
struct flashinfer_summary {
  std::size_t solutions = 0;
  std::size_t traces = 0;
};

/// Writes definitions/, workloads/, solutions/ and traces/ into `directory`, as FlashInfer-Bench's TraceSet
/// reads them. Hidden workloads are left out; a candidate that is not valid has no passed trace. Throws
/// kevo::error: input for what their schema has no word for (a dtype, a language), environment if a file
/// cannot be written.
flashinfer_summary export_flashinfer(const journal& record, const task& t, const std::string& directory,
                                     const flashinfer_options& options = {});

}  // namespace kevo
