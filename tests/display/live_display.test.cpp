// timed
// The display of a terminal and its plain lines: when they write, what they say of waits and of earlier
// sessions.

#include "src/display/live_display.hpp"

#include <chrono>
#include <string>

#include <doctest/doctest.h>

#include "src/base/text/format.hpp"
#include "src/display/plain_display.hpp"
#include "src/display/render.hpp"
#include "tests/display/displayed.hpp"

using namespace displayed;

TEST_CASE("a live display draws within its pace and gives the terminal back") {
  std::string written;
  kevo::terminal_size size{100, 30};
  const auto r = synthetic::make(40);
  {
    kevo::live_display shown(
        title, {[&](std::string_view text) { written += text; }, [&] { return size; }, true, true});
    for (const auto& e : r.events) shown.consume(e);
    CHECK(written.empty());
    const auto from = std::chrono::steady_clock::now();
    const auto now = status_of(r);
    for (int i = 0; i < 200; ++i) shown.refresh(now);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - from;
    std::size_t frames = 0;
    for (std::size_t at = 0; (at = written.find("\x1b[?2026h", at)) != std::string::npos; ++at) ++frames;
    CHECK(frames >= 1);
    CHECK(static_cast<double>(frames) <= 1 + spent.count() * 10);
    CHECK(written.find("\x1b[?25l") != std::string::npos);
    size = {60, 20};  // a resize is drawn at once
    written.clear();
    shown.refresh(now);
    CHECK(written.find("\x1b[2J") != std::string::npos);
    written.clear();
    shown.close();
    CHECK(written.starts_with(kevo::terminal_restore));
    CHECK(written.find("confirmed") != std::string::npos);
    written.clear();
    shown.close();
    shown.refresh(now);
  }
  CHECK(written.empty());
  {
    const kevo::live_display unused(
        title, {[&](std::string_view text) { written += text; }, [&] { return size; }, true, true});
  }
  CHECK(written.empty());
}

TEST_CASE("a wait for another process is shown, with its length, once it has lasted a second") {
  std::string written;
  kevo::plain_display shown(
      title, [&](std::string_view text) { written += text; }, false);
  kevo::run_status now;
  now.elapsed_s = 5;
  shown.refresh(now);
  now.waits_for = kevo::device_holder{4711, "kevo run configs/softmax.yaml"};
  const auto lines = [&] { return lines_of(written).size() - 1; };
  for (const double waited_s : {0.2, 0.9}) {
    now.waits_s = waited_s;
    shown.refresh(now);
  }
  CHECK(lines() == 0);
  // The run time stands still meanwhile.
  for (now.waits_s = 1; now.waits_s < 31; now.waits_s += 0.25) shown.refresh(now);
  CHECK(lines() == 3);
  CHECK(written.find("waits for process 4711 (kevo run configs/softmax.yaml), 11 s") != std::string::npos);
  // Soon after it a short wait is passed over, and a long one is not.
  const auto wait_again = [&](double run_s, double waited_s) {
    now.waits_for.reset();
    now.elapsed_s = run_s;
    shown.refresh(now);
    written.clear();
    now.waits_for = kevo::device_holder{};
    now.waits_s = waited_s;
    shown.refresh(now);
  };
  wait_again(7, 2);
  CHECK(written.empty());
  wait_again(7.5, 10);
  CHECK(written.find("waits for another process, 10 s") != std::string::npos);
  now.waits_for.reset();
  now.elapsed_s = 18;
  shown.refresh(now);  // a status falls due, too
  written.clear();
  now.waits_for = kevo::device_holder{};
  now.waits_s = 2;
  shown.refresh(now);
  CHECK(lines() == 1);
  CHECK(written.find("waits for another process, 2 s") != std::string::npos);

  auto state = state_of(150);
  for (const int columns : {80, 120}) {
    const int rows = columns == 80 ? 24 : 40;
    state.status.waits_for.reset();
    CHECK(kevo::render(state, columns, rows, false).find("waits  ") == std::string::npos);
    state.status.waits_for = kevo::device_holder{4711, "kevo run a.yaml"};
    state.status.waits_s = 12;
    const auto text = without_color(kevo::render(state, columns, rows, false));
    CHECK_MESSAGE(text.find("waits       12 s for") != std::string::npos, text);
    CHECK_MESSAGE(text.find("process 4711") != std::string::npos, text);
  }
}

TEST_CASE("what an earlier session did counts, but is not told again") {
  std::string written;
  kevo::plain_display shown(
      title, [&](std::string_view text) { written += text; }, false);
  const auto r = synthetic::make(60);
  for (const auto& e : r.events) shown.remember(e);
  CHECK(written.empty());
  shown.consume({9999, r.time_s, kevo::search_resumed{"resumed"}});
  CHECK(written.find("resumed") != std::string::npos);
  shown.refresh(status_of(r));
  shown.close();
  CHECK(written.find(kevo::format::count(r.ledger.evaluations) + " evaluations, " +
                     kevo::format::count(r.ledger.confirmations) + " confirmations") != std::string::npos);
}

TEST_CASE("a display is chosen by what it writes to") {
  const auto quiet = kevo::make_display(kevo::display_mode::quiet, title, -1);
  quiet.refresh({});
  quiet.message("nothing");
  quiet.close();
  static_assert(kevo::sink<kevo::any_display>);
}
