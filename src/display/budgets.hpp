#pragma once
// The limits of a run's stop rule one by one, as bars of a display.

#include <vector>

#include <kevo/stop.hpp>

#include "src/display/run_status.hpp"

namespace kevo {

/// One bar for each limit ("evaluations 400", 0.62), in the order of the rules.
std::vector<budget_share> shares_of(const std::vector<stop_part>& parts);

}  // namespace kevo
