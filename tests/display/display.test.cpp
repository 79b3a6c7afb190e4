// timed
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/stop/any_of.hpp>
#include <kevo/stop/evaluations.hpp>
#include <kevo/stop/seconds.hpp>
#include <kevo/stop/stall.hpp>

#include "src/base/text/format.hpp"
#include "src/display/budgets.hpp"
#include "src/display/live_display.hpp"
#include "src/display/plain_display.hpp"
#include "src/display/render.hpp"
#include "src/report/run_history.hpp"
#include "tests/report/synthetic_run.hpp"

namespace {

kevo::run_status status_of(const synthetic::run& r) {
  kevo::run_status s;
  s.progress.ledger = r.ledger;
  s.progress.best_speedup = r.best;
  s.progress.best_interval = r.best_interval;
  s.progress.archive_size = 23;
  s.progress.archive_cells = 64;
  s.operator_names = r.operators;
  s.credits = r.credits;
  s.archive = r.growing;
  s.varying = 2, s.building = 1, s.measuring = 1;
  s.elapsed_s = r.time_s;
  s.budgets = {{"evaluations", static_cast<double>(r.ledger.evaluations) / 400}, {"seconds", r.time_s / 300}};
  s.budget_used = s.budgets[0].used;
  return s;
}

const kevo::run_title title = {"quickstart", "runs/quickstart", "matmul", "AMD EPYC 9B14, 1 thread", "seed",
                               "1"};

kevo::display_state state_of(std::size_t proposals) {
  kevo::display_state s;
  s.title = title;
  const auto r = synthetic::make(proposals);
  for (const auto& e : r.events) s.consume(e);
  s.refresh(status_of(r));
  s.archive = kevo::map_of(r.archive);
  return s;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::string without_color(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

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
  for (const int columns : {80, 120}) {
    const auto text = kevo::render(state, columns, 60, false);
    CHECK(text.find(headline) != std::string::npos);
    CHECK(text.find("✓ confirmed") != std::string::npos);
    CHECK(text.find("square") != std::string::npos);
    CHECK(text.find("of openblas") != std::string::npos);
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

TEST_CASE("counts are of candidates, and memory stays small") {
  kevo::display_state s;
  const auto r = synthetic::make(3000);
  for (const auto& e : r.events) s.consume(e);
  std::uint64_t sum = 0;
  for (const auto n : s.outcomes) sum += n;
  CHECK(sum == r.candidates);
  CHECK(s.outcomes[0] == r.ledger.valid);
  CHECK(s.evaluations == r.ledger.evaluations);
  CHECK(s.confirmations == r.ledger.confirmations);
  CHECK(s.curve.size() < kevo::display_state::curve_kept);
  CHECK(s.curve.size() >= kevo::display_state::curve_kept / 2 - 1);
  CHECK(std::is_sorted(s.curve.begin(), s.curve.end()));
  CHECK(s.improvements.size() <= kevo::display_state::improvements_kept);
  REQUIRE(s.champion);
  CHECK(s.champion->speedup == r.best);
  REQUIRE(s.champion_result);
  CHECK(s.champion_result->speedup == r.best);
}

TEST_CASE("the remaining time follows the pace") {
  kevo::display_state s;
  kevo::run_status now;
  CHECK_FALSE(s.remaining_s());
  for (int t = 0; t <= 100; ++t) {
    now.elapsed_s = t;
    now.budget_used = t / 400.0;
    s.refresh(now);
  }
  REQUIRE(s.remaining_s());
  CHECK(*s.remaining_s() == doctest::Approx(300));
  now.budget_used = 1.0;
  s.refresh(now);
  CHECK(*s.remaining_s() == 0);
}

TEST_CASE("every stop rule has its own bar, and one that was set back does not tell the end") {
  const kevo::any_stop_rule rule =
      kevo::stop::any_of{{kevo::stop::evaluations{400}, kevo::stop::seconds{120}, kevo::stop::stall{50}}};
  kevo::display_state s;
  kevo::run_status now;
  for (int t = 0; t <= 60; ++t) {
    now.elapsed_s = now.progress.ledger.elapsed_s = t;
    now.progress.ledger.evaluations = static_cast<std::uint64_t>(2 * t);
    now.progress.since_improvement = static_cast<std::uint64_t>(t < 50 ? 49 : t - 50);
    now.budgets = kevo::shares_of(rule.parts(now.progress));
    s.refresh(now);
  }
  REQUIRE(now.budgets.size() == 3);
  CHECK(now.budgets[0].name == "evaluations 400");
  CHECK(now.budgets[2].name == "stall 50");
  CHECK(now.budgets[0].used == doctest::Approx(0.3));
  REQUIRE(s.remaining_s());
  CHECK(*s.remaining_s() == doctest::Approx(60));  // by seconds; evaluations would last 140
}

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

TEST_CASE("plain lines: one for every improvement, one about every ten seconds") {
  std::string written;
  kevo::plain_display shown(
      title, [&](std::string_view text) { written += text; }, false);
  kevo::run_status now;
  now.operator_names = {"tune", "splice", "rewrite"};
  shown.refresh(now);
  synthetic::make(100, 1, [&](const synthetic::run& r, const kevo::event& e) {
    shown.consume(e);
    now = status_of(r);
    shown.refresh(now);
  });
  shown.close();
  shown.close();
  const auto lines = lines_of(written);
  std::size_t champions = 0, status = 0;
  for (const auto& line : lines) {
    champions += line.find("champion #") != std::string::npos ? 1 : 0;
    status +=
        line.find("evaluations") != std::string::npos && line.find("candidates valid") != std::string::npos
            ? 1
            : 0;
    for (const char c : line) REQUIRE((c >= 0x20 && c < 0x7f));
  }
  CHECK(champions >= 3);
  CHECK(status >= now.elapsed_s / 11);
  CHECK(status <= now.elapsed_s / 10 + 2);
  CHECK(lines.size() < 80);
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

TEST_CASE("a champion is told with the operator that proposed it, however late it is confirmed") {
  std::string written;
  kevo::plain_display shown(
      title, [&](std::string_view text) { written += text; }, false);
  kevo::run_status now;
  now.operator_names = {"tune", "splice"};
  shown.refresh(now);
  kevo::rng random(5);
  const auto valid = [&](double speedup, kevo::evaluation_stage stage) {
    return std::make_shared<kevo::evaluation>(
        synthetic::evaluation(kevo::outcome::valid, speedup, stage, random));
  };
  std::uint64_t n = 0;
  // Candidate 2 is never the best seen, but the noisy best of candidate 1 is not confirmed.
  for (const kevo::candidate_id id : {1u, 2u}) {
    kevo::variation_asked asked;
    asked.job = 10 + id;
    asked.op = 1;
    shown.consume({++n, 1.0, asked});
    kevo::variation_told told;
    told.job = 10 + id;
    told.candidate = id;
    told.summary = "change " + std::to_string(id);
    shown.consume({++n, 1.0, told});
  }
  const auto full = kevo::evaluation_stage::timed_full, confirmed = kevo::evaluation_stage::confirmed;
  shown.consume({++n, 2.0, kevo::evaluation_told{21, 1, full, valid(9, full), {}}});
  shown.consume({++n, 3.0, kevo::evaluation_told{22, 2, full, valid(5, full), {}}});
  shown.consume({++n, 4.0, kevo::evaluation_told{23, 2, confirmed, valid(5, confirmed), {}}});
  shown.consume({++n, 4.0, kevo::champion_crowned{2, 5, {4.9, 5.1}}});
  CHECK_MESSAGE(
      written.find("champion #2 5.000x [4.900 - 5.100] confirmed by splice: change 2") != std::string::npos,
      written);
}

TEST_CASE("an undecided champion is called so, with what is in the way, in lines and on the screen") {
  std::string written;
  kevo::plain_display lines(
      title, [&](std::string_view text) { written += text; }, false);
  kevo::display_state screen;
  screen.title = title;
  screen.unicode = false;
  std::uint64_t n = 0;
  const auto tell = [&](auto what) {
    const kevo::event told{++n, 1.0, what};
    lines.consume(told);
    screen.consume(told);
  };
  const auto valid = [](double speedup, kevo::interval range, kevo::evaluation_stage stage) {
    auto e = std::make_shared<kevo::evaluation>();
    e->outcome = kevo::outcome::valid;
    e->speedup = e->score = speedup;
    e->speedup_interval = range;
    e->stage = stage;
    e->context["disturbed"] = "other processes used 1.9 of 2 processors while it was timed";
    return e;
  };
  const auto full = kevo::evaluation_stage::timed_full, confirmed = kevo::evaluation_stage::confirmed;
  const auto shows = [&](std::string_view what) {
    return kevo::render(screen, 80, 24, false).find(what) != std::string::npos;
  };
  tell(kevo::evaluation_told{1, 0, full, valid(1.01, {0.9, 1.1}, full), {}});
  tell(kevo::baseline_met{0, "seed"});
  CHECK(shows("1.010x [0.9000 - 1.100] the speed of seed  the program of the baseline  #0"));
  CHECK(written.find("#0 is the program of the baseline seed: it cannot be champion") != std::string::npos);
  tell(kevo::evaluation_told{2, 1, full, valid(1.9, {0.2, 20}, full), {}});
  CHECK(shows("1.900x [0.2000 - 20.00] the speed of seed  unconfirmed  #1"));
  tell(kevo::evaluation_told{3, 1, confirmed, valid(1.8, {0.14, 27}, confirmed), {}});
  tell(kevo::champion_crowned{1, 1.8, {0.14, 27}, {kevo::verdict_reason::contains_one, 0.1}});
  CHECK(shows("1.800x [0.1400 - 27.00] the speed of seed  undecided  #1"));
  CHECK(shows("the interval contains 1: neither faster nor slower is shown; other processes |"));
  CHECK(shows("| used 1.9 of 2 processors while it was timed "));
  CHECK(shows("1.800x u "));
  CHECK(written.find(
            "champion #1 1.800x [0.1400 - 27.00] undecided (the interval contains 1: neither faster nor "
            "slower is shown; other processes used 1.9 of 2 processors while it was timed) by seed") !=
        std::string::npos);
  tell(kevo::evaluation_told{4, 1, confirmed, valid(1.4, {1.2, 1.6}, confirmed), {}});
  tell(kevo::champion_crowned{1, 1.4, {1.2, 1.6}, {kevo::verdict_reason::wide, 0.1}});
  CHECK(shows("the interval's width is 29 % of the speedup; the limit is 10 %"));
  tell(kevo::evaluation_told{5, 1, confirmed, valid(1.4, {1.38, 1.42}, confirmed), {}});
  tell(kevo::champion_crowned{1, 1.4, {1.38, 1.42}, {kevo::verdict_reason::none, 0.1}});
  CHECK(shows("1.400x [1.380 - 1.420] the speed of seed  confirmed  #1"));
  CHECK_FALSE(shows("undecided"));
  CHECK_FALSE(shows("the interval"));
  auto cheat = valid(0, {}, confirmed);
  cheat->outcome = kevo::outcome::rejected;
  tell(kevo::evaluation_told{6, 1, confirmed, cheat, {}});
  tell(kevo::champion_crowned{});
  CHECK_FALSE(shows("confirmed  #1"));
  CHECK_FALSE(shows("1.400x [1.380 - 1.420] the speed of seed"));
  CHECK(written.find("#1 is not champion any more: it was found invalid when it was measured again") !=
        std::string::npos);
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
    for (const int rows : {24, 40}) {
      const auto text = kevo::render(state, columns, rows, false);
      CHECK_MESSAGE(text.find("evaluations 400 ━") != std::string::npos, text);
      CHECK(text.find("seconds 300     ━") != std::string::npos);
    }
  }
  state.status.budgets[0].name = "a rule with a name of its own that is far too long 400";
  CHECK(kevo::render(state, 80, 24, false).find("… ━") != std::string::npos);
}

TEST_CASE("one confirmation is not told in the plural") {
  auto state = state_of(60);
  state.status.progress.ledger.confirmations = 1;
  CHECK(kevo::render(state, 80, 40, false).find("1 confirmation ") != std::string::npos);
  state.status.progress.ledger.confirmations = 2;
  CHECK(kevo::render(state, 80, 40, false).find("2 confirmations ") != std::string::npos);
}

namespace {

std::shared_ptr<kevo::evaluation> valid_at(double speedup, kevo::interval range,
                                           kevo::evaluation_stage stage) {
  auto e = std::make_shared<kevo::evaluation>();
  e->outcome = kevo::outcome::valid;
  e->speedup = e->score = speedup;
  e->speedup_interval = range;
  e->stage = stage;
  return e;
}

}  // namespace

TEST_CASE("the picture names the best that `kevo show` names, after a confirmation that found less") {
  kevo::display_state screen;
  screen.title = title;
  std::string written;
  kevo::plain_display lines(
      title, [&](std::string_view text) { written += text; }, true);
  lines.refresh({});
  std::uint64_t n = 0;
  const auto tell = [&](auto what) {
    const kevo::event told{++n, 1.0, what};
    screen.consume(told);
    lines.consume(told);
  };
  const auto shows = [&](std::string_view what) {
    return kevo::render(screen, 120, 40, false).find(what) != std::string::npos;
  };
  const auto full = kevo::evaluation_stage::timed_full, confirmed = kevo::evaluation_stage::confirmed;
  tell(kevo::evaluation_told{1, 0, full, valid_at(1, {1, 1}, full), {}});
  tell(kevo::baseline_met{0, "seed"});
  tell(kevo::evaluation_told{2, 5, full, valid_at(1.031, {1.02, 1.04}, full), {}});
  CHECK(shows("1.031× [1.020 – 1.040] the speed of seed  unconfirmed  #5"));
  CHECK(shows("+3.1 %"));
  tell(kevo::evaluation_told{3, 5, confirmed, valid_at(0.99, {0.97, 1.01}, confirmed), {}});
  CHECK_MESSAGE(shows("1.000× the speed of seed  the program of the baseline  #0"),
                kevo::render(screen, 120, 40, false));
  CHECK_FALSE(shows("1.031× ["));
  CHECK_FALSE(shows("unconfirmed"));
  CHECK_FALSE(shows("+3.1 %"));
  CHECK(shows("0.9900× ≈ "));
  lines.close();
  CHECK_MESSAGE(written.find("best 1.000× the program of the baseline,") != std::string::npos, written);

  // A champion's gain is over the champion before it, not that of its unconfirmed figure.
  tell(kevo::evaluation_told{4, 3, full, valid_at(1.09, {1.08, 1.1}, full), {}});
  CHECK(shows("+5.7 %"));  // over the best that had been seen
  tell(kevo::evaluation_told{5, 3, confirmed, valid_at(1.003, {0.99, 1.02}, confirmed), {}});
  tell(kevo::champion_crowned{3, 1.003, {0.99, 1.02}, {kevo::verdict_reason::contains_one, 0.1}});
  CHECK(shows("1.003× ≈ "));
  CHECK_FALSE(shows("+5.7 %"));
  tell(kevo::evaluation_told{6, 7, full, valid_at(1.3, {1.29, 1.31}, full), {}});
  CHECK(shows("1.300× seen (#7), not confirmed"));
  tell(kevo::evaluation_told{7, 7, confirmed, valid_at(1.2036, {1.19, 1.21}, confirmed), {}});
  tell(kevo::champion_crowned{7, 1.2036, {1.19, 1.21}, {kevo::verdict_reason::none, 0.1}});
  CHECK_FALSE(shows("not confirmed"));
  CHECK(shows("1.204× ✓    +20 %"));
}

TEST_CASE("whatever is told, the best of the display is the best of the run's history") {
  kevo::rng random(11);
  kevo::display_state screen;
  kevo::run_history history;
  std::uint64_t n = 0;
  const auto tell = [&](auto what) {
    const kevo::event told{++n, 1.0 * static_cast<double>(n), what};
    screen.consume(told);
    history.consume(told);
  };
  constexpr kevo::candidate_id many = 12;
  for (kevo::candidate_id id = 0; id < many; ++id) tell(kevo::seeded{.candidate = id});
  bool reigns = false;
  for (kevo::ticket job = 1; job < 600; ++job) {
    const auto who = static_cast<kevo::candidate_id>(random.below(many));
    const auto stage =
        random.chance(0.4) ? kevo::evaluation_stage::confirmed : kevo::evaluation_stage::timed_full;
    const bool fresh = random.chance(0.5);
    tell(kevo::evaluation_asked{.job = job, .candidate = who, .wanted = stage, .fresh = fresh});
    const double speedup = 0.5 + random.uniform();
    auto e = valid_at(speedup, {speedup * 0.9, speedup * 1.1}, stage);
    if (random.chance(0.2)) e->outcome = kevo::outcome::rejected;
    tell(kevo::evaluation_told{job, who, stage, e, {}});
    if (reigns && random.chance(0.2)) {
      tell(kevo::champion_crowned{});
      reigns = false;
    } else if (e->valid() && stage == kevo::evaluation_stage::confirmed && random.chance(0.05)) {
      tell(kevo::champion_crowned{who, speedup, e->speedup_interval, {}});
      reigns = true;
    }
    const auto best = screen.best();
    REQUIRE(best.has_value() == history.best().has_value());
    if (best) REQUIRE(best->candidate == *history.best());
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

// Look at it: tests/test.display.display --no-skip -tc="look at the panel"
TEST_CASE("look at the panel" * doctest::skip()) {
  auto shown = kevo::make_display(kevo::display_mode::automatic, title);
  synthetic::make(250, 1, [&](const synthetic::run& r, const kevo::event& e) {
    shown.consume(e);
    shown.refresh(status_of(r));
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
  });
  shown.close();
}
