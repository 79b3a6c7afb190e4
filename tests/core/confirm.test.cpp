// links: core
// The confirmation protocol by itself: who is confirmed next, and who becomes champion.
#include <cmath>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/confirm.hpp>

using namespace kevo;

namespace {

/// A population and the latest evaluation of each candidate.
struct measured {
  population all;
  std::vector<std::shared_ptr<const evaluation>> latest;

  candidate_id add(double score, evaluation_stage stage = evaluation_stage::timed_full) {
    const candidate_id id = all.add(seed_operator, {});
    latest.push_back(nullptr);
    tell(id, result(score, stage));
    return id;
  }
  static evaluation result(double score, evaluation_stage stage) {
    evaluation e;
    e.outcome = outcome::valid;
    e.score = score;
    e.stage = stage;
    return e;
  }
  void tell(candidate_id id, evaluation e) {
    all.evaluate(id, e.outcome, e.valid() ? e.score : 0);
    latest[id] = std::make_shared<const evaluation>(std::move(e));
  }
  void offer(confirmation& protocol, candidate_id id) const { protocol.offer(id, *latest[id], all); }
  /// Tells the protocol how a confirmation came out, as a search does.
  bool finish(confirmation& protocol, candidate_id id, const evaluation& e) {
    tell(id, e);
    const bool crowned = protocol.finish(id, latest[id]);
    protocol.look_for_contender(all, [this](candidate_id one) { return latest[one]; });
    return crowned;
  }
};

evaluation confirmed(double score) {
  return measured::result(score, evaluation_stage::confirmed);
}
evaluation confirmed(double speedup, interval range) {
  evaluation e = confirmed(speedup);
  e.speedup = speedup;
  e.speedup_interval = range;
  return e;
}

}  // namespace

TEST_CASE("the best of those that look better than the champion is confirmed, one at a time") {
  measured m;
  confirmation protocol;
  CHECK_FALSE(protocol.due());
  m.offer(protocol, m.add(-5));  // the first champion may have any score
  CHECK(protocol.contender() == 0);
  m.offer(protocol, m.add(-3));
  m.offer(protocol, m.add(-4));
  REQUIRE(protocol.contender() == 1);
  REQUIRE(protocol.due());
  CHECK(protocol.begin() == 1);
  m.offer(protocol, m.add(-1));
  CHECK(protocol.contender() == 3);
  CHECK_FALSE(protocol.due());  // one is out
  CHECK(m.finish(protocol, 1, confirmed(-3)));
  CHECK(protocol.best().id == 1);
  CHECK(protocol.best().score == -3);
  CHECK(protocol.due());
  CHECK(protocol.begin() == 3);
  CHECK(m.finish(protocol, 3, confirmed(-1)));
  CHECK_FALSE(protocol.due());  // what is left is worse
}

TEST_CASE("only what was timed in full is confirmed, and nothing twice") {
  measured m;
  confirmation protocol;
  m.offer(protocol, m.add(9, evaluation_stage::timed_short));
  m.offer(protocol, m.add(9, evaluation_stage::none));
  m.offer(protocol, m.add(INFINITY));
  m.offer(protocol, m.add(NAN));
  CHECK(protocol.contender() == no_candidate);
  m.offer(protocol, m.add(9));
  CHECK(protocol.begin() == 4);
  evaluation crashed;
  crashed.outcome = outcome::crashed;
  CHECK_FALSE(m.finish(protocol, 4, crashed));
  CHECK_FALSE(protocol.best());
  CHECK(protocol.contender() == no_candidate);
  m.tell(4, measured::result(20, evaluation_stage::timed_full));
  m.offer(protocol, 4);
  CHECK(protocol.contender() == no_candidate);
}

TEST_CASE("a champion falls only to an interval above its figure, or to a higher score where there is none") {
  measured m;
  confirmation protocol;
  for (const double score : {2.0, 3.0, 4.0, 5.0}) m.add(score);
  m.offer(protocol, 0);
  protocol.begin();
  CHECK(m.finish(protocol, 0, confirmed(2, {1.95, 2.1})));
  CHECK(protocol.best().speedup == 2);
  CHECK(protocol.begin() == 3);  // the best of those that are left
  CHECK_FALSE(m.finish(protocol, 3, confirmed(2.05, {1.99, 2.1})));
  CHECK(protocol.futile() == 1);
  CHECK(protocol.begin() == 2);
  CHECK(m.finish(protocol, 2, confirmed(2.1, {2.01, 2.2})));
  CHECK(protocol.futile() == 0);
  CHECK(protocol.best().id == 2);
  CHECK(protocol.best().speedup_interval.low == 2.01);
  CHECK(protocol.begin() == 1);
  CHECK_FALSE(m.finish(protocol, 1, confirmed(2.1)));  // an equal score, without a speedup
  CHECK(protocol.futile() == 1);
  protocol.forget_futile();
  CHECK(protocol.futile() == 0);
}

TEST_CASE(
    "a contender waits for other evaluations, but not forever, and not while nothing else is to be done") {
  measured m;
  confirmation protocol(confirmation_rules{.after = 3});
  const auto evaluate = [&](double score) {
    protocol.count_evaluation();
    const candidate_id who = m.add(score);
    m.offer(protocol, who);
    return who;
  };
  evaluate(1);
  REQUIRE(protocol.due());  // the first champion does not wait
  protocol.begin();
  REQUIRE(m.finish(protocol, 0, confirmed(1)));
  const candidate_id second = evaluate(2);
  CHECK_FALSE(protocol.due());
  CHECK(protocol.due(true));
  evaluate(0.5);
  evaluate(0.5);
  CHECK_FALSE(protocol.due());
  evaluate(0.5);
  CHECK(protocol.due());
  const candidate_id third = evaluate(3);  // takes the place, and waits anew
  CHECK_FALSE(protocol.due());
  CHECK(protocol.contender() == third);
  for (int i = 0; i < 3; ++i) evaluate(0.5);
  REQUIRE(protocol.due());
  CHECK(protocol.begin() == third);
  REQUIRE(
      m.finish(protocol, third, confirmed(1.5)));  // less than it looked: the second has waited long enough
  CHECK(protocol.contender() == second);
  CHECK(protocol.due());
  CHECK(protocol.begin() == second);
  REQUIRE(m.finish(protocol, second, confirmed(2)));
  int waited = 0;
  for (double score = 3.5; !protocol.due(); score += 0.1, ++waited) evaluate(score);
  CHECK(waited == 13);  // each replaces the one before: four times as long after the first of them
}

TEST_CASE("after futile confirmations a contender waits longer, until one becomes champion") {
  measured m;
  confirmation protocol(confirmation_rules{.after = 2});
  const auto evaluate = [&](double score) {
    protocol.count_evaluation();
    m.offer(protocol, m.add(score));
  };
  const auto waits = [&](double score) {
    evaluate(score);
    int count = 0;
    for (; !protocol.due(); ++count) evaluate(1);
    return count;
  };
  evaluate(10);
  protocol.begin();
  REQUIRE(m.finish(protocol, 0, confirmed(10, {9.9, 10.1})));
  for (const int expected : {2, 4, 6}) {
    CHECK(waits(11) == expected);
    const candidate_id who = protocol.begin();
    CHECK_FALSE(m.finish(protocol, who, confirmed(10, {9.9, 10.1})));
  }
  CHECK(waits(12) == 8);
  const candidate_id who = protocol.begin();
  REQUIRE(m.finish(protocol, who, confirmed(12, {11.9, 12.1})));
  CHECK(waits(13) == 2);
}

TEST_CASE("an undecided champion waits before it is confirmed again, and a contender goes first") {
  measured m;
  confirmation protocol(confirmation_rules{.after = 2});
  const auto evaluate = [&](double score) {
    protocol.count_evaluation();
    const candidate_id who = m.add(score);
    m.offer(protocol, who);
    return who;
  };
  evaluate(2);
  protocol.begin();
  REQUIRE(m.finish(protocol, 0, confirmed(2, {1.5, 2.5})));
  REQUIRE_FALSE(protocol.best().verdict.confirmed());
  CHECK(protocol.next() == 0);
  CHECK_FALSE(protocol.due());
  CHECK(protocol.due(true));
  evaluate(1);
  const candidate_id better = evaluate(4);
  CHECK(protocol.next() == better);  // it waits, too
  CHECK_FALSE(protocol.due());
  evaluate(1);
  evaluate(1);
  REQUIRE(protocol.due());
  CHECK(protocol.begin() == better);
  CHECK(m.finish(protocol, better, confirmed(4, {3.9, 4.1})));
  CHECK(protocol.next() == no_candidate);  // the undecided one is the best no more
}

TEST_CASE("without rules every valid confirmation is called confirmed, and nothing is confirmed twice") {
  measured m;
  confirmation protocol(confirmation_rules{.decides = false});
  m.offer(protocol, m.add(2));
  protocol.begin();
  CHECK(m.finish(protocol, 0, confirmed(1.8, {0.14, 27})));
  CHECK(protocol.best().verdict.confirmed());
  CHECK(protocol.next() == no_candidate);
}

TEST_CASE("an undecided champion is measured again until it is decided or has had its share") {
  measured m;
  confirmation protocol;
  m.offer(protocol, m.add(2));
  CHECK(protocol.begin() == 0);
  CHECK(m.finish(protocol, 0, confirmed(1.8, {0.14, 27})));
  CHECK(protocol.best().verdict.reason == verdict_reason::contains_one);
  CHECK(protocol.best().sure_speedup() == 0.14);
  REQUIRE(protocol.due());
  CHECK(protocol.asked_before(protocol.next()));
  CHECK(protocol.begin() == 0);
  CHECK(m.finish(protocol, 0, confirmed(1.31, {1.3, 1.32})));  // the sharper one decides
  CHECK(protocol.best().verdict.confirmed());
  CHECK(protocol.best().speedup == doctest::Approx(1.31).epsilon(0.01));
  CHECK(protocol.next() == no_candidate);

  m.offer(protocol, m.add(9));
  CHECK(protocol.begin() == 1);
  CHECK(m.finish(protocol, 1, confirmed(8, {4, 16})));  // surely better than before, and not known well
  for (int i = 0; i < 3; ++i) {
    CHECK(protocol.best().verdict.reason == verdict_reason::wide);
    CHECK(protocol.begin() == 1);
    CHECK(m.finish(protocol, 1, confirmed(8, {4, 16})));
  }
  CHECK(protocol.best().verdict.reason == verdict_reason::wide);
  CHECK(protocol.best().speedup == doctest::Approx(8));
  CHECK(protocol.best().speedup_interval.low == doctest::Approx(8 / std::sqrt(2)));
  CHECK(protocol.next() == no_candidate);  // one and three further ones
}

TEST_CASE("a champion that is as fast as the baseline to 1 % is not measured again") {
  measured m;
  confirmation protocol;
  m.offer(protocol, m.add(1.02));
  protocol.begin();
  CHECK(m.finish(protocol, 0, confirmed(1.001, {0.995, 1.006})));
  CHECK(protocol.best().verdict.reason == verdict_reason::contains_one);
  CHECK(protocol.next() == no_candidate);
}

TEST_CASE("a candidate that cannot be told from the champion is measured again before it is judged") {
  measured m;
  confirmation protocol;
  m.offer(protocol, m.add(1.2));
  protocol.begin();
  CHECK(m.finish(protocol, 0, confirmed(1.2, {1.18, 1.22})));
  m.offer(protocol, m.add(1.4));
  protocol.begin();
  CHECK_FALSE(m.finish(protocol, 1, confirmed(1.4, {0.9, 2.2})));
  CHECK(protocol.futile() == 0);
  SUBCASE("it wins by all its samples") {
    CHECK(protocol.begin() == 1);
    CHECK(m.finish(protocol, 1, confirmed(1.37, {1.36, 1.38})));
    CHECK(protocol.best().id == 1);
    CHECK(protocol.best().verdict.confirmed());
  }
  SUBCASE("it fails a further confirmation") {
    CHECK(protocol.begin() == 1);
    evaluation wrong;
    wrong.outcome = outcome::incorrect;
    CHECK_FALSE(m.finish(protocol, 1, wrong));
    CHECK(protocol.best().id == 0);
    CHECK(protocol.next() == no_candidate);
  }
  SUBCASE("the search stops, and it has shown nothing") {
    CHECK_FALSE(protocol.settle());
    CHECK(protocol.best().id == 0);
    CHECK(protocol.futile() == 1);
    CHECK(protocol.next() == no_candidate);
  }
}

TEST_CASE("a champion that turns out slower than the one before gives its place back, also where it fails") {
  measured m;
  confirmation protocol;
  m.offer(protocol, m.add(1.5));
  protocol.begin();
  m.finish(protocol, 0, confirmed(1.5, {1.48, 1.52}));
  m.offer(protocol, m.add(2));
  protocol.begin();
  CHECK(m.finish(protocol, 1, confirmed(1.9, {1.55, 2.4})));
  CHECK(protocol.begin() == 1);
  evaluation next = confirmed(1.3, {1.29, 1.31});
  SUBCASE("slower") {
    next.stage = evaluation_stage::confirmed;
  }
  SUBCASE("it crashed") {
    next.outcome = outcome::crashed;
  }
  SUBCASE("it was disqualified") {
    next.outcome = outcome::rejected;
  }
  CHECK(m.finish(protocol, 1, next));
  CHECK(protocol.best().id == 0);
  CHECK(protocol.best().speedup == 1.5);
  CHECK(protocol.best().verdict.confirmed());
  CHECK(protocol.next() == no_candidate);
}

TEST_CASE("the first champion stays, as undecided, where its further confirmation fails") {
  measured m;
  confirmation protocol;
  m.offer(protocol, m.add(1.5));
  protocol.begin();
  m.finish(protocol, 0, confirmed(1.5, {0.9, 2}));
  protocol.begin();
  evaluation crashed;
  crashed.outcome = outcome::crashed;
  CHECK(m.finish(protocol, 0, crashed));
  CHECK(protocol.best().id == 0);
  CHECK(protocol.best().verdict.reason == verdict_reason::failed);
  CHECK(protocol.next() == no_candidate);
  m.offer(protocol, m.add(0.7));  // whatever is valid is better
  CHECK(protocol.begin() == 1);
  CHECK(m.finish(protocol, 1, confirmed(0.7, {0.69, 0.71})));
  CHECK(protocol.best().id == 1);
}

TEST_CASE("the baseline's program is never champion, and nothing that is not faster than it") {
  measured m;
  confirmation protocol;
  const candidate_id seed = m.add(1.05);
  m.offer(protocol, seed);
  CHECK(protocol.contender() == seed);
  protocol.exclude_baseline(seed, true);
  CHECK(protocol.contender() == no_candidate);
  CHECK(protocol.baseline_duplicate() == seed);
  m.offer(protocol, m.add(0.9));
  CHECK(protocol.contender() == no_candidate);
  m.offer(protocol, m.add(1.1));
  CHECK(protocol.begin() == 2);
  CHECK_FALSE(m.finish(protocol, 2, confirmed(0.97, {0.95, 0.99})));
  CHECK_FALSE(protocol.best());
  m.offer(protocol, m.add(1.3));
  CHECK(protocol.begin() == 3);
  CHECK(m.finish(protocol, 3, confirmed(1.2, {1.18, 1.22})));
}

TEST_CASE("a champion that failed does not get its place back from the valid one after it") {
  measured m;
  confirmation protocol;
  m.offer(protocol, m.add(3));
  protocol.begin();
  CHECK(m.finish(protocol, 0, confirmed(3, {0.9, 9})));
  CHECK(protocol.begin() == 0);
  evaluation failure;
  failure.outcome = outcome::timed_out;
  CHECK(m.finish(protocol, 0, failure));
  m.offer(protocol, m.add(2));
  CHECK(protocol.begin() == 1);
  CHECK(m.finish(protocol, 1, confirmed(2, {1.5, 2.6})));
  CHECK(protocol.begin() == 1);
  CHECK(m.finish(protocol, 1, confirmed(2, {1.97, 2.03})));  // lower than the figure of the one that failed
  CHECK(protocol.best().id == 1);
  CHECK(protocol.best().verdict.confirmed());
}

TEST_CASE("the first champion loses the place where its further confirmation disqualifies it") {
  measured m;
  confirmation protocol;
  m.offer(protocol, m.add(1.5));
  protocol.begin();
  m.finish(protocol, 0, confirmed(1.5, {0.9, 2}));
  protocol.begin();
  evaluation disqualified;
  SUBCASE("incorrect") {
    disqualified.outcome = outcome::incorrect;
  }
  SUBCASE("rejected") {
    disqualified.outcome = outcome::rejected;
  }
  SUBCASE("suspect") {
    disqualified.outcome = outcome::suspect;
  }
  CHECK(m.finish(protocol, 0, disqualified));  // there is something new to say: nobody is champion
  CHECK_FALSE(protocol.best());
  CHECK(protocol.best().speedup == 0);
  CHECK(protocol.next() == no_candidate);
  m.offer(protocol, m.add(0.7));
  CHECK(protocol.begin() == 1);
  CHECK(m.finish(protocol, 1, confirmed(0.7, {0.5, 0.9})));
  CHECK(protocol.begin() == 1);
  CHECK(m.finish(protocol, 1, confirmed(0.6, {0.59, 0.61})));
  CHECK(protocol.best().id == 1);  // nobody is left to give the place to
}
