#include "src/display/live_display.hpp"

#include <string>
#include <utility>

#include "src/display/render.hpp"

namespace kevo {

namespace {
constexpr std::chrono::milliseconds least_pause{100};
// Between these two a terminal that knows them shows nothing half-drawn; others ignore them.
constexpr std::string_view begin_update = "\x1b[?2026h", end_update = "\x1b[?2026l";
}  // namespace

live_display::live_display(run_title title, live_display_setup setup) : setup_(std::move(setup)) {
  state_.title = std::move(title);
  state_.unicode = setup_.unicode;
}

live_display::~live_display() {
  close();
}

void live_display::refresh(const run_status& now) {
  if (closed_) return;
  const auto time = std::chrono::steady_clock::now();
  const auto size = setup_.size();
  const bool resized = size.columns != drawn_size_.columns || size.rows != drawn_size_.rows;
  if (taken_ && !resized && time - drawn_at_ < least_pause) {
    auto rest = now;  // kept for the last panel; the archive is read only when it is drawn
    rest.archive = nullptr;
    state_.refresh(rest);
    return;
  }
  state_.refresh(now);
  drawn_at_ = time;
  draw();
}

void live_display::message(std::string_view text) {
  state_.message = text;
  state_.waiting.clear();
  show_at_once(text);
}

void live_display::waiting(std::string_view text) {
  state_.waiting = text;
  show_at_once(text);
}

void live_display::show_at_once(std::string_view text) {
  if (taken_ && !closed_) {
    draw();
  } else {
    setup_.output(std::string(text) + '\n');
  }
}

void live_display::draw() {
  const auto size = setup_.size();
  const bool resized = size.columns != drawn_size_.columns || size.rows != drawn_size_.rows;
  drawn_size_ = size;
  std::string frame(begin_update);
  if (!taken_) frame += "\x1b[?1049h\x1b[?25l";  // alternate screen, no cursor
  taken_ = true;
  if (resized) frame += "\x1b[2J";
  frame += "\x1b[H";
  const std::string panel = render(state_, size.columns, size.rows, setup_.color);
  for (std::size_t at = 0;;) {  // every line clears its own rest: nothing is blank in between
    const std::size_t end = panel.find('\n', at);
    frame.append(panel, at, end == std::string::npos ? std::string::npos : end - at);
    if (end == std::string::npos) break;
    frame += "\x1b[K\r\n";
    at = end + 1;
  }
  frame += "\x1b[K\x1b[J";
  frame += end_update;
  setup_.output(frame);
}

void live_display::close() {
  if (closed_) return;
  closed_ = true;
  if (!taken_) return;
  const auto size = setup_.size();
  state_.closed = true;
  state_.waiting.clear();
  std::string last(terminal_restore);
  last += render_final(state_, size.columns, setup_.color);
  last += '\n';
  setup_.output(last);
}

}  // namespace kevo
