#pragma once
// A run's candidates on several devices: what the journal says of the device of the run, what `kevo rejudge`
// found on others, and which candidates no other one beats on all of them.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/evaluation.hpp>

#include "src/journal/journal.hpp"

namespace kevo {

/// The latest result of a candidate on one device.
struct device_figure {
  kevo::outcome outcome = kevo::outcome::build_failed;
  double score = 0;  ///< the speedup, or what the fitness function chose
  double speedup = 0;
  interval speedup_interval;
  std::string protocol;
};

struct device_row {
  candidate_id id = no_candidate;
  std::map<std::string, device_figure> on;  ///< by device
  bool front = false;                       ///< no other candidate is at least as good on every device
  double mean = 0;                          ///< geometric mean of the scores; 0 unless valid on every device
  /// The interval of `mean`, as `geometric_mean` (kevo/evaluate/statistics.hpp) combines those of the
  /// devices. Empty where a device has a score without an interval.
  std::optional<interval> mean_interval;
};

struct device_comparison {
  std::vector<std::string> devices;  ///< of the run first; untrusted text
  std::vector<device_row> rows;      ///< candidates that were evaluated on more than one; the best mean first
  std::string problem;               ///< why the file of the judgements cannot be read; else empty
};

/// Reads the journal and RUN/rejudged.sqlite. A candidate that is not valid on some device is not on the
/// front.
device_comparison compare_devices(const journal& run);

/// As a table for people, and as one JSON object on one line.
std::string devices_text(const device_comparison& all, bool unicode);
std::string devices_json(const device_comparison& all);

}  // namespace kevo
