#pragma once
// What the live display shows, panel by panel: each is lines of at most `width` columns, or none where it has
// nothing to say.

#include <cstddef>

#include "src/display/display_state.hpp"
#include "src/display/pen.hpp"

namespace kevo::panels {

/// The champion: its speedup, times, share of the speed of light, and the curve.
styled::block best_block(const display_state& s, const styled::pen& with, std::size_t width,
                         std::size_t chart_rows);
/// Counts, what is at work, and the outcomes.
styled::block search_block(const display_state& s, const styled::pen& with, std::size_t width);
/// A bar for each quantity that the stop rules watch.
styled::block budget_block(const display_state& s, const styled::pen& with, std::size_t width);
/// "about 0:20 left"; "finishing" from the end of the search until the end of its last evaluations, then
/// "done".
styled::line remaining_note(const display_state& s);
/// What each operator is worth.
styled::block operators_block(const display_state& s, const styled::pen& with, std::size_t width);
/// How full the archive is.
styled::line archive_note(const display_state& s);
/// The heat map of a plane (brighter is faster), bins merged by their best where there are more than fit.
styled::block archive_block(const display_state& s, const styled::pen& with, std::size_t width,
                            std::size_t most_rows);
/// The latest champions and candidates that beat all before them.
styled::block improvements_block(const display_state& s, const styled::pen& with, std::size_t rows);
/// The first line: run, task, device, clock.
styled::line header(const display_state& s, const styled::pen& with, std::size_t width);

}  // namespace kevo::panels
