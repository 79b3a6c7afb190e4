#include "src/display/display.hpp"

#include <utility>

#include "src/display/live_display.hpp"
#include "src/display/plain_display.hpp"
#include "src/display/terminal.hpp"

namespace kevo {

any_display make_display(display_mode mode, run_title title, int descriptor) {
  if (mode == display_mode::quiet) return {};
  if (mode == display_mode::automatic)
    mode = is_terminal(descriptor) ? display_mode::live : display_mode::plain;
  display_output output = [descriptor](std::string_view text) { write_all(descriptor, text); };
  if (mode == display_mode::plain)
    return any_display(
        std::make_shared<plain_display>(std::move(title), std::move(output), locale_is_utf8()));
  live_display_setup setup;
  setup.output = std::move(output);
  setup.size = [descriptor] { return size_of_terminal(descriptor); };
  setup.color = wants_color();
  setup.unicode = locale_is_utf8();
  return any_display(std::make_shared<live_display>(std::move(title), std::move(setup)));
}

}  // namespace kevo
