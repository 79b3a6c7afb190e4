#pragma once
// The live panel as text: a pure function of what a display remembers.

#include <string>

#include "src/display/display_state.hpp"

namespace kevo {

/// The panel in at most `rows` lines (separated by '\n', none at the end), none wider than `columns` terminal
/// columns, with ANSI colors if `color`. Linear in the size of the panel.
std::string render(const display_state& state, int columns, int rows, bool color);

/// The panel that stays on the terminal after the end: as high as its content.
std::string render_final(const display_state& state, int columns, bool color);

}  // namespace kevo
