#pragma once
// Evaluations as JSON: what `kevo eval --json` prints, what the journal stores, what the result cache keeps.

#include <string>
#include <string_view>

#include <kevo/evaluation.hpp>

namespace kevo {

/// What the JSON says besides the evaluation itself. Empty strings are left out.
struct evaluation_json_options {
  std::string task;     ///< name of the task
  std::string program;  ///< content id of the program
  bool raw_samples =
      true;  ///< the timing pairs of each workload, as `pairs`: [[candidate_ns, baseline_ns], ...]
  bool hidden_details =
      true;            ///< sizes and numbers of hidden workloads; without them only that one passed or failed
  bool exact = false;  ///< for the journal: what is not finite is "nan", "inf" or "-inf" instead of null,
                       ///< and workloads leave out what was not measured
};

/// One JSON object on one line. Numbers that were not measured (and NaN, infinity) are null. With raw samples
/// it is the full form, and `evaluation_from_json` gives back an equal evaluation, bit for bit (with `exact`
/// also where a number is NaN or infinite).
std::string to_json(const evaluation& e, const evaluation_json_options& options = {});

/// The inverse. Absent keys and null keep their default, unknown keys are ignored (older programs read newer
/// files). Throws kevo::error (input) for text that is not JSON or has a value of the wrong type, with the
/// key.
evaluation evaluation_from_json(std::string_view text);

}  // namespace kevo
