#pragma once
// Tolerances of an imported task that accept less than the suite's do.

#include <filesystem>
#include <map>
#include <string>

#include <kevo/task.hpp>

namespace kevo::importing {

/// A tolerance that is narrower than the suite's.
struct narrowing {
  double factor = 1;   ///< of the absolute and the relative error
  bool whole = false;  ///< whether every element has to be accepted
};

/// The tolerance `rule` narrowed. Only the rule `bounds` can be.
tolerance narrowed(tolerance rule, const narrowing& by);

/// Writes the narrowed tolerances of some workloads of `t`, by their uuid, into `file`, which has a workload
/// in each line. @throws kevo::error (environment) if it cannot be written
void write_tolerances(const task& t, const std::map<std::string, narrowing>& by_uuid,
                      const std::filesystem::path& file);

}  // namespace kevo::importing
