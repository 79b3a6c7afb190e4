// The panels of the live display: what they say, and that they keep to their columns and rows.

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/stop/seconds.hpp>

#include "src/base/text/format.hpp"
#include "src/base/text/further_baselines.hpp"
#include "src/display/budgets.hpp"
#include "src/display/live_display.hpp"
#include "src/display/plain_display.hpp"
#include "src/display/render.hpp"
#include "tests/display/displayed.hpp"

using namespace displayed;

TEST_CASE("the panel never leaves its columns and rows, whatever is shown") {
  auto usual = state_of(150);
  auto early = kevo::display_state();
  auto wild = state_of(60);
  wild.title = {"日本語の名前がここに", "", "tâche\x1b[31m\n\xff\xfe", std::string(300, 'x'), "ベースライン",
                "18446744073709551615"};
  wild.status.operator_names = {"语言模型与工具的长名称语言模型", "\x1b]0;title\x07",
                                "\xf0\x9f\x9a\x80 rocket"};
  for (auto& i : wild.improvements)
    i.summary = "\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80 widen\r\n\t the tile, " + std::string(200, 'w'),
    i.speedup *= 1e9;
  wild.status.progress.ledger.proposals = 18446744073709551615ULL;
  wild.status.progress.ledger.duplicates = 18446744073709551615ULL;
  wild.status.budgets.push_back({"a rule with a very long name indeed", 7.5});
  wild.status.credits[0] = {1e18, 1e-9, 1e12, std::numeric_limits<double>::quiet_NaN()};
  wild.outcomes.fill(123456789);
  wild.message = "\x1b[2Jdevice lost";
  for (auto* state : {&usual, &early, &wild}) {
    for (const bool unicode : {true, false}) {
      state->unicode = unicode;
      for (int columns = 1; columns <= 200; columns += columns < 40 ? 7 : 1) {
        for (const int rows : {1 + columns % 17, 24 + columns % 47}) {
          const auto plain = kevo::render(*state, columns, rows, false);
          const auto lines = lines_of(plain);
          REQUIRE(lines.size() <= static_cast<std::size_t>(rows));
          for (const auto& line : lines) {
            REQUIRE(kevo::format::width_of(line) <= static_cast<std::size_t>(columns));
            REQUIRE(line.find('\x1b') == std::string::npos);
            if (!unicode)
              REQUIRE(std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7f; }));
          }
          if (columns % 20 == 0) REQUIRE(without_color(kevo::render(*state, columns, rows, true)) == plain);
        }
      }
    }
  }
}

TEST_CASE("the panel says what matters") {
  auto state = state_of(150);
  REQUIRE(state.champion);
  const auto& ends = state.champion->speedup_interval;
  const auto headline = kevo::format::speedup(state.champion->speedup, true) + " [" +
                        kevo::format::interval(ends.low, ends.high, true) + "] the speed of seed";
  REQUIRE(state.champion_result);
  const auto over_openblas = kevo::further_speedups(*state.champion_result, true)[0].second;
  for (const int columns : {80, 120}) {
    const auto text = kevo::render(state, columns, 60, false);
    CHECK(text.find(headline) != std::string::npos);
    CHECK(text.find("✓ confirmed") != std::string::npos);
    CHECK(text.find("square") != std::string::npos);
    CHECK(text.find(over_openblas + " the speed of openblas") != std::string::npos);
    CHECK(text.find("of speed of light") != std::string::npos);
    CHECK(text.find("build failed") != std::string::npos);
    CHECK(text.find("splice") != std::string::npos);
    CHECK(text.find("of 64 cells") != std::string::npos);
    CHECK(text.find("evaluations") != std::string::npos);
    CHECK(text.find("code_bytes") != std::string::npos);
  }
  // Something better that is not confirmed is told apart from the champion.
  kevo::rng random(9);
  auto e = std::make_shared<kevo::evaluation>(
      synthetic::evaluation(kevo::outcome::valid, 99, kevo::evaluation_stage::timed_full, random));
  state.consume({9999, 500, kevo::evaluation_told{77777, 60000, kevo::evaluation_stage::timed_full, e, {}}});
  const auto text = kevo::render(state, 120, 60, false);
  CHECK(text.find(headline) != std::string::npos);
  CHECK(text.find("99.00× seen (#60000), not confirmed") != std::string::npos);
}

TEST_CASE("the interval stands beside the speedup, and one that shows nothing is said to be so") {
  auto state = state_of(150);
  REQUIRE(state.champion);
  const auto shown = [&](double speedup, kevo::interval ends) {
    state.champion->speedup = speedup;
    state.champion->speedup_interval = ends;
    return kevo::render(state, 80, 24, false);
  };
  const auto vague = shown(1.8, {0.14, 27}), sharp = shown(20.7, {16.8, 25.3});
  CHECK_MESSAGE(vague.find("1.800× [0.1400 – 27.00] the speed of seed") != std::string::npos, vague);
  CHECK(vague.find("the interval contains 1") != std::string::npos);
  CHECK_MESSAGE(sharp.find("20.70× [16.80 – 25.30] the speed of seed") != std::string::npos, sharp);
  CHECK(sharp.find("the interval") == std::string::npos);
}

TEST_CASE("the panel says done only when nothing more can follow") {
  auto state = state_of(150);
  state.consume({99999, 400, kevo::search_stopped{"evaluations 400"}});
  state.status.varying = state.status.building = state.status.measuring = 0;  // between two confirmations
  for (const int columns : {80, 120}) {
    const auto working = kevo::render(state, columns, 40, false);
    CHECK(working.find("done") == std::string::npos);
    CHECK_MESSAGE(working.find("finishing") != std::string::npos, working);
  }
  state.closed = true;
  CHECK(kevo::render_final(state, 80, false).find("done") != std::string::npos);
}

TEST_CASE("a low terminal names the panels that it has no rows for") {
  const auto state = state_of(150);
  const auto low = kevo::render(state, 80, 24, false);
  for (const char* panel : {"─ Best", "─ Search", "─ Budget", "─ Operators", "─ Latest improvements"})
    CHECK_MESSAGE(low.find(panel) != std::string::npos, panel << "\n" << low);
  CHECK_MESSAGE(low.find("too few rows: Archive") != std::string::npos, low);
  const auto lowest = kevo::render(state, 80, 14, false);
  CHECK_MESSAGE(lowest.find("too few rows: Search, Budget, Operators, Archive") != std::string::npos, lowest);
  CHECK(kevo::render(state, 80, 60, false).find("too few rows") == std::string::npos);
}

TEST_CASE("figures of the archive and costs of operators are shown whole") {
  auto state = state_of(60);
  state.archive = {};
  state.archive.kept = {{.candidate = 7, .score = 0.00012345678, .bins = {}, .niche = ""}};
  state.status.credits[0].cost_s = 123.4;
  const auto text = kevo::render(state, 120, 40, false);
  CHECK_MESSAGE(text.find("0.0001235×") != std::string::npos, text);
  CHECK_MESSAGE(text.find("123.4 s") != std::string::npos, text);
}

TEST_CASE("a score that is no speedup is shown as a score") {
  kevo::display_state state;
  state.title = title;
  std::string lines;
  kevo::plain_display plain(
      title, [&](std::string_view text) { lines += text; }, true);
  const auto feed = [&](const kevo::event& what) {
    state.consume(what);
    plain.consume(what);
  };
  const auto scored = [](double score) {
    auto e = std::make_shared<kevo::evaluation>();
    e->outcome = kevo::outcome::valid;
    e->score = score;
    e->stage = kevo::evaluation_stage::timed_full;
    return e;
  };
  for (kevo::candidate_id id = 0; id < 40; ++id)
    feed({2 * id + 1, 1.0 * id,
          kevo::evaluation_told{id, id, kevo::evaluation_stage::timed_full, scored(1000 + 0.1 * id), {}}});
  feed({81, 41, kevo::evaluation_told{50, 17, kevo::evaluation_stage::confirmed, scored(1001.7), {}}});
  feed({82, 41, kevo::champion_crowned{17, 0, {}}});
  for (const int columns : {80, 120}) {
    const auto text = kevo::render(state, columns, 60, false);
    CHECK_MESSAGE(text.find("score 1001.7  ✓ confirmed  #17") != std::string::npos, text);
    CHECK(text.find("score 1003.9 seen (#39), not confirmed") != std::string::npos);
    CHECK(text.find("the speed of") == std::string::npos);
    CHECK(text.find("×") == std::string::npos);
    CHECK(text.find("1003.9 │") == std::string::npos);
  }
  plain.close();
  CHECK_MESSAGE(lines.find("champion #17 score 1001.7 confirmed") != std::string::npos, lines);
  CHECK(lines.find("×") == std::string::npos);
}

TEST_CASE("the last picture leaves out what the run waited for, and keeps a warning") {
  std::string written;
  const auto r = synthetic::make(40);
  const auto last_of = [&](auto say) {
    kevo::live_display shown(title, {[&](std::string_view text) { written += text; },
                                     [] {
                                       return kevo::terminal_size{100, 40};
                                     },
                                     false, true});
    for (const auto& e : r.events) shown.consume(e);
    shown.refresh(status_of(r));
    written.clear();
    say(shown);
    CHECK_MESSAGE(written.find("waiting for 1 confirmation, at most 119 s") != std::string::npos, written);
    written.clear();
    shown.close();
    return written;
  };
  const std::string wait = "stopped; waiting for 1 confirmation, at most 119 s (run.finish)";
  const auto waited = last_of([&](auto& shown) {
    shown.message("warning: the model does not answer");
    shown.waiting(wait);
  });
  CHECK_MESSAGE(waited.find("waiting for") == std::string::npos, waited);
  CHECK(waited.find("warning: the model does not answer") != std::string::npos);
  const auto cut_off = last_of([&](auto& shown) {
    shown.waiting(wait);
    shown.message("the time for finishing is over: cancelled 1 confirmation");
  });
  CHECK(cut_off.find("cancelled 1 confirmation") != std::string::npos);
}

TEST_CASE("the bar of a budget gives way before the label loses its limit") {
  auto state = state_of(60);
  state.status.budgets = {{"evaluations 400", 0.25}, {"seconds 300", 0.5}};
  for (const int columns : {72, 80, 96, 120}) {
    for (const int rows : {32, 40}) {
      const auto text = kevo::render(state, columns, rows, false);
      CHECK_MESSAGE(text.find("evaluations 400 ━") != std::string::npos, text);
      CHECK(text.find("seconds 300     ━") != std::string::npos);
    }
  }
  state.status.budgets[0].name = "a rule with a name of its own that is far too long 400";
  CHECK(kevo::render(state, 80, 32, false).find("… ━") != std::string::npos);
}

TEST_CASE("one confirmation is not told in the plural") {
  auto state = state_of(60);
  state.status.progress.ledger.confirmations = 1;
  CHECK(kevo::render(state, 80, 40, false).find("1 confirmation ") != std::string::npos);
  state.status.progress.ledger.confirmations = 2;
  CHECK(kevo::render(state, 80, 40, false).find("2 confirmations ") != std::string::npos);
}

// Run with --no-skip -tc="look at the panel" to see it.
TEST_CASE("look at the panel" * doctest::skip()) {
  auto shown = kevo::make_display(kevo::display_mode::automatic, title);
  synthetic::make(250, 1, [&](const synthetic::run& r, const kevo::event& e) {
    shown.consume(e);
    shown.refresh(status_of(r));
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
  });
  shown.close();
}
