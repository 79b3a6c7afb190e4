// What the display and its plain lines say of champions and of the best, and that it is what `kevo show`
// says.

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "src/display/plain_display.hpp"
#include "src/display/render.hpp"
#include "src/report/run_history.hpp"
#include "tests/display/displayed.hpp"

using namespace displayed;

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

TEST_CASE("a confirmed program whose interval lies above that of the champion is told of") {
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
  const auto confirmed = kevo::evaluation_stage::confirmed;
  tell(kevo::evaluation_told{1, 1, confirmed, valid_at(1.2, {1.19, 1.21}, confirmed), {}});
  tell(kevo::champion_crowned{1, 1.2, {1.19, 1.21}, {}});
  tell(kevo::evaluation_told{2, 2, confirmed, valid_at(1.25, {1.205, 1.3}, confirmed), {}});
  CHECK_FALSE(shows("a better program"));
  tell(kevo::evaluation_told{3, 2, confirmed, valid_at(1.25, {1.22, 1.28}, confirmed), {}});
  CHECK_MESSAGE(shows("a better program is undecided: #2 reached 1.250× [1.220"),
                kevo::render(screen, 120, 40, false));
  CHECK(written.find("a better program") == std::string::npos);
  lines.close();
  CHECK_MESSAGE(written.find("a better program is undecided: #2 reached 1.250× [1.220") != std::string::npos,
                written);
  tell(kevo::champion_crowned{2, 1.24, {1.22, 1.26}, {}});
  CHECK_FALSE(shows("a better program"));
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
