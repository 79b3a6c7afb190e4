#pragma once
// Why a run came to little: seeds that do not pass, operators that never have a program to offer.

#include <string>
#include <vector>

#include "src/report/report_content.hpp"

namespace kevo {

/// A sentence each, on one line, with the latest reason and the next step: failed seeds while no candidate is
/// valid, and operators none of whose turns (three or more) gave a program. Empty if all is well.
std::vector<std::string> setbacks_of(const report_content& content);

}  // namespace kevo
