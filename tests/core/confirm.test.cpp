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
    const bool crowned = protocol.finish(id, e);
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
  CHECK(m.finish(protocol, 0, confirmed(2, {1.9, 2.1})));
  CHECK(protocol.best().speedup == 2);
  CHECK(protocol.begin() == 3);  // the best of those that are left
  CHECK_FALSE(m.finish(protocol, 3, confirmed(2.4, {1.99, 2.9})));
  CHECK(protocol.futile() == 1);
  CHECK(protocol.begin() == 2);
  CHECK(m.finish(protocol, 2, confirmed(2.4, {2.01, 2.9})));
  CHECK(protocol.futile() == 0);
  CHECK(protocol.best().id == 2);
  CHECK(protocol.best().speedup_interval.low == 2.01);
  CHECK(protocol.begin() == 1);
  CHECK_FALSE(m.finish(protocol, 1, confirmed(2.4)));  // an equal score, without a speedup
  CHECK(protocol.futile() == 1);
  protocol.forget_futile();
  CHECK(protocol.futile() == 0);
}
