#pragma once
// The stop rules `saturation` (the archive no longer keeps new candidates) and `coverage` (enough cells of
// the archive are occupied).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when the archive has kept no candidate of the last `limit` evaluations and confirmations, neither in
/// a new cell nor as an improvement of an occupied one. It usually stops later than `stall`, because cells
/// still fill and improve while the best score does not.
struct saturation {
  std::uint64_t limit = 0;  ///< number of evaluations and confirmations without a kept candidate

  std::optional<std::string> stop(const progress& now) const {
    if (now.since_kept < limit) return std::nullopt;
    return "archive saturated: " + counted(limit, "evaluation") + " without a kept candidate";
  }
  std::optional<double> used(const progress& now) const { return share(now.since_kept, limit); }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("saturation", now.since_kept, limit);
  }
};

/// Stops when the share `limit`, in (0, 1], of the cells of the archive is occupied. Never stops if the
/// number of cells is not bounded.
struct coverage {
  double limit = 1;  ///< share of the cells, in (0, 1]

  std::optional<std::string> stop(const progress& now) const {
    if (now.archive_cells == 0 || filled(now) < limit) return std::nullopt;
    return number(100 * filled(now)) + " % of the cells of the archive occupied";
  }
  std::optional<double> used(const progress& now) const {
    if (now.archive_cells == 0) return std::nullopt;
    return share(filled(now), limit);
  }
  std::vector<stop_part> parts(const progress& now) const {
    if (now.archive_cells == 0) return {};
    return one_part("coverage", filled(now), limit);
  }

 private:
  static double filled(const progress& now) {
    return static_cast<double>(now.archive_size) / static_cast<double>(now.archive_cells);
  }
};

}  // namespace kevo::stop
