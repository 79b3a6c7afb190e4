#pragma once
// Why a run came to little: seeds that do not pass, operators that never have a program to offer.

#include <string>
#include <vector>

#include "src/report/report_content.hpp"

namespace kevo {

/// A sentence each, on one line, with the latest reason and the next step: failed seeds while no candidate is
/// valid; that nothing was faster than the baseline, if the run has ended so; operators none of whose turns
/// gave a program, if there were at least three turns or the last one failed because of a language model;
/// operators whose last three or more turns all gave no program and whose last one failed because of a
/// language model; devices that were lost, and candidates about which devices disagreed. Empty if all is
/// well.
std::vector<std::string> setbacks_of(const report_content& content);

}  // namespace kevo
