#pragma once
// An ablation: one program with all its parts, and variants of it in each of which a part is switched off,
// evaluated for real. The format is documented in docs/lab.md.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>
#include <kevo/registry.hpp>
#include <kevo/settings_node.hpp>
#include <kevo/task.hpp>

#include "src/run/run_plan.hpp"

namespace kevo {

enum class ablation_kind : std::uint8_t {
  full,     ///< the program with all parts
  without,  ///< one part is off
  alone,    ///< of the parts in `alone`, only one is on
  none,     ///< all parts in `alone` are off
};
std::string_view to_string(ablation_kind kind);

struct ablation_variant {
  std::string name;  ///< "full", "without X", "only X", "none"
  ablation_kind kind = ablation_kind::full;
  std::string part;                             ///< X; empty for "full" and "none"
  std::map<std::string, std::string> tunables;  ///< values that differ from those in the source
  std::shared_ptr<const program> source;
};

/// Everything of which an ablation consists, as read from its config.
struct ablation_plan {
  std::string name;
  std::string output;        ///< folder of the results
  std::size_t repeats = 3;   ///< evaluations of each variant
  std::size_t parallel = 2;  ///< evaluations at once: they build in parallel and measure in turn
  evaluation_stage stage = evaluation_stage::confirmed;
  std::shared_ptr<const task> subject;
  std::string program_file;
  error_place program_place;               ///< where the config names the program
  std::vector<ablation_variant> variants;  ///< the full program first
  std::vector<std::string> measures;       ///< names of those in the printed table
  settings_node fitness;
  std::string directory;  ///< relative paths in `fitness` start here
  std::shared_ptr<const registry> plugins;
  std::string resolved_config;  ///< YAML, with every default
};

/// Whether a lab config describes an ablation, and not a comparison of policies.
bool is_ablation(const config_source& config);

/// Decodes the config of an ablation, and loads its task and its program. Nothing is evaluated.
/// @throws kevo::error (input) that names file, line, column and key
ablation_plan plan_ablation(const config_source& config);

/// Results of a variant on one visible workload.
struct ablation_workload {
  std::string uuid;
  estimate time_ns;
  estimate ratio;  ///< time of the variant over time of the full program
};

/// Results of a variant, pooled over its valid evaluations.
struct ablation_row {
  ablation_variant variant;
  std::optional<evaluation> result;  ///< pooled; of a variant that failed, the evaluation that failed
  std::size_t evaluations = 0;       ///< that entered the result
  std::string failure;               ///< why it is not valid, on one line; empty if it is valid
  estimate time_ns;  ///< weighted geometric mean over the visible workloads; 0 unless valid and timed
  estimate ratio;    ///< time of the variant over time of the full program; 0 unless valid and timed
  std::vector<ablation_workload> workloads;
};

struct ablation_outcome {
  std::string folder;
  std::size_t evaluations = 0;  ///< made by this start
  std::size_t reused = 0;       ///< made by earlier starts
  std::size_t pending = 0;      ///< still to be made; 0 unless interrupted
  bool interrupted = false;     ///< ended early; there are no rows and no files
  std::vector<ablation_row> rows;
  std::vector<std::string> files;  ///< paths of the files that were written
};

struct ablation_request {
  std::stop_token graceful_stop;   ///< begin nothing new
  std::stop_token immediate_stop;  ///< cancel what is running
  /// Called after each evaluation that was made, one call at a time, on any thread; may be empty. The numbers
  /// are those of finished and of all evaluations.
  std::function<void(const ablation_variant&, const evaluation&, std::size_t done, std::size_t all)> told;
  std::function<void()> poll;  ///< called several times a second on the thread of the caller; may be empty
  wait_listener waiting{};  ///< told of the processes that evaluations wait for, on any thread; may be empty
};

/// Checks the full program as any candidate of its task; then evaluates each variant with the full program in
/// the place of the task's baselines, so that a variant and the full program are timed alternately, pair by
/// pair. All variants are evaluated once before one is evaluated again. Each evaluation is on disk before the
/// next one of its thread begins; the same call later makes only those that are missing. A variant that is
/// not valid is not evaluated again.
/// @throws kevo::error: input (the full program is not valid; a fitness function that does not compare
/// with the task's baseline), environment. What was finished is kept.
ablation_outcome run_ablation(const ablation_plan& plan, const ablation_request& request);

/// The row of a variant from its evaluations, oldest first; there must be at least one.
ablation_row ablation_row_of(const ablation_variant& variant,
                             const std::vector<std::shared_ptr<const evaluation>>& all);

/// What the measurement cannot tell apart, in a sentence; empty unless the full program differs from itself.
std::string ablation_caution(const std::vector<ablation_row>& rows);

/// The results as files: tables, JSON, one page, the config.
std::vector<std::string> write_ablation(const ablation_plan& plan, const ablation_outcome& outcome);

/// One JSON object on one line.
std::string ablation_json(const ablation_plan& plan, const ablation_outcome& outcome);

/// One self-contained page: no script, nothing loaded from anywhere.
std::string ablation_page(const ablation_plan& plan, const ablation_outcome& outcome);

}  // namespace kevo
