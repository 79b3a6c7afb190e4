// links: core
// Upper confidence bounds on trees, and the structure that finds the greatest bound.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/detail/kinetic_maximum.hpp>
#include <kevo/select/uct.hpp>

#include "tests/select/played.hpp"
#include "tests/select/world.hpp"

namespace {

using kevo::candidate_id;
using kevo::test::grow;
using kevo::test::measure_again;
using kevo::test::search;
using kevo::test::world;
using ids = std::vector<candidate_id>;

static_assert(kevo::selector<kevo::uct>);

}  // namespace

TEST_CASE("uct expands a node to its width, then descends to the better child") {
  world w;
  kevo::uct policy;
  policy.width = 2;
  policy.inspirations = {0, 0};
  kevo::rng random(42);
  const auto pick = [&] { return policy.select(w.view(), random).parents.front(); };
  grow(w, policy, 1.0);
  CHECK(pick() == 0);
  grow(w, policy, 2.0, {0});
  CHECK(pick() == 0);
  grow(w, policy, 9.0, {0});
  CHECK(pick() == 2);  // the root is full, and 2 is better
  grow(w, policy, 1.0, {2});
  CHECK(pick() == 2);
  grow(w, policy, 1.0, {2});  // the subtree of 2 is not so good after all
  CHECK((9.0 + 1.0 + 1.0) / 3 > 2.0);
  CHECK(pick() != 0);
  std::set<candidate_id> parents;
  for (int i = 0; i < 60; ++i) {
    const auto parent = pick();
    parents.insert(parent);
    grow(w, policy, 1.0, {parent});
  }
  CHECK(parents.contains(1));  // visits alone bring it back to what was left behind
}

TEST_CASE("uct begins with independent drafts of the seeds, which count as variations of them") {
  world w;
  kevo::uct policy;
  policy.width = 2;
  policy.drafts = 4;
  policy.inspirations = {3, 0};
  kevo::rng random(42);
  grow(w, policy, 1.0);
  grow(w, policy, 2.0);
  for (const candidate_id seed : ids{0, 1, 0, 1}) {
    const auto chosen = policy.select(w.view(), random);
    CHECK(chosen.parents == ids{seed});
    CHECK(chosen.scope == kevo::memory_scope::clean_slate);
    CHECK(chosen.inspirations.empty());
    grow(w, policy, chosen.parents.front() == 1 ? 8.0 : 3.0,
         chosen.parents);  // good ones do not end the phase
  }
  // Both seeds are full by now: the search goes on below the better one.
  for (int i = 0; i < 2; ++i) {
    const auto next = policy.select(w.view(), random);
    CHECK((next.parents == ids{3} || next.parents == ids{5}));
    CHECK(next.scope == kevo::memory_scope::parent_trajectory);
    grow(w, policy, 1.0, next.parents);
  }
}

TEST_CASE("uct makes all drafts before it repairs one of them") {
  world w;
  kevo::uct policy;
  policy.drafts = 2;
  policy.inspirations = {0, 0};
  kevo::rng random(42);
  const auto pick = [&] { return policy.select(w.view(), random).parents.front(); };
  grow(w, policy, 1.0);
  CHECK(pick() == 0);
  const auto broken = grow(w, policy, 0, {0});
  CHECK(pick() == 0);
  grow(w, policy, 2.0, {0});
  CHECK(pick() == broken);
}

TEST_CASE("a kinetic maximum is the maximum, however lines change and however far one looks") {
  kevo::rng random(91);
  for (int round = 0; round < 20; ++round) {
    kevo::detail::kinetic_maximum fast;
    std::vector<std::pair<double, double>> lines;
    double x = 0;
    for (int i = 0; i < 600; ++i) {
      // Half of the rounds with few different lines, so that there are ties.
      const auto draw = [&] {
        return round % 2 == 0 ? random.uniform() : 0.25 * static_cast<double>(random.below(5));
      };
      const std::pair<double, double> one = {draw(), draw()};
      if (lines.empty() || random.chance(0.4)) {
        lines.push_back(one);
        fast.push_back(one.first, one.second);
      } else {
        const std::size_t which = random.below(lines.size());
        lines[which] = one;
        fast.set(which, one.first, one.second);
      }
      x += random.chance(0.02) ? -x * random.uniform() : 0.02 * random.uniform();
      std::size_t best = 0;
      for (std::size_t k = 1; k < lines.size(); ++k) {
        if (lines[k].first + lines[k].second * x > lines[best].first + lines[best].second * x) best = k;
      }
      const std::size_t found = fast.best(x);
      REQUIRE(lines[found].first + lines[found].second * x ==
              doctest::Approx(lines[best].first + lines[best].second * x).epsilon(1e-12));
    }
  }
}

TEST_CASE("uct finds the greatest bound among many children as it does among few") {
  // The definition, by looking at every child of the root: widening 1 keeps the tree flat.
  world w;
  kevo::uct policy;
  policy.width = 200;
  policy.repairs = 0;
  policy.inspirations = {0, 0};
  kevo::rng random(92);
  std::vector<double> visits, score;
  double all_visits = 0;
  const candidate_id root = grow(w, policy, 1.0);
  const auto seen_by_root = [&] { return all_visits; };
  for (int i = 0; i < 200; ++i) {  // first the root is widened
    REQUIRE(policy.select(w.view(), random).parents.front() == root);
    score.push_back(std::exp(0.3 * random.normal()));
    visits.push_back(1);
    grow(w, policy, score.back(), {root});
  }
  all_visits = 1 + 200;
  const double least = std::min(1.0, *std::min_element(score.begin(), score.end()));
  const double most = std::max(1.0, *std::max_element(score.begin(), score.end()));
  for (int i = 0; i < 500; ++i) {
    double best = -INFINITY;
    for (std::size_t k = 0; k < score.size(); ++k) {
      best = std::max(
          best, (score[k] - least) / (most - least) + 0.25 * std::sqrt(std::log(seen_by_root()) / visits[k]));
    }
    const candidate_id chosen = policy.select(w.view(), random).parents.front();
    const std::size_t k = chosen - root - 1;
    REQUIRE(k < score.size());
    REQUIRE((score[k] - least) / (most - least) + 0.25 * std::sqrt(std::log(seen_by_root()) / visits[k]) ==
            doctest::Approx(best).epsilon(1e-9));
    ++visits[k];
    ++all_visits;
  }
}

TEST_CASE("attempts open a node, whether they came to a valid child or not") {
  world w;
  kevo::uct policy;
  policy.width = 3;
  policy.repairs = 0;
  policy.inspirations = {0, 0};
  kevo::rng random(430);
  const auto pick = [&] { return policy.select(w.view(), random).parents.front(); };
  grow(w, policy, 1.0);
  CHECK(pick() == 0);
  const auto child = grow(w, policy, 2.0, {0});
  for (int i = 0; i < 2; ++i) {
    CHECK(pick() == 0);
    grow(w, policy, 0, {0});
  }
  CHECK(pick() == child);  // three attempts, one valid child
}

TEST_CASE("a score that falls is taken back from all its ancestors and from the extremes") {
  // A tree that learnt 9 first and 2 later decides as one that never saw the 9.
  const auto picks = [](bool lucky, bool failed) {
    world w;
    kevo::uct policy;
    policy.width = 2;
    policy.repairs = 0;
    policy.inspirations = {0, 0};
    kevo::rng random(431);
    std::vector<candidate_id> chosen;
    const auto pick = [&] { chosen.push_back(policy.select(w.view(), random).parents.front()); };
    grow(w, policy, 1.0);
    pick(), pick();
    const auto a = grow(w, policy, 2.5, {0});
    const auto b = grow(w, policy, lucky ? 9.0 : 2.0, {0});
    const auto c = grow(w, policy, 3.0, {a});
    if (failed) {
      measure_again(w, policy, b, 0);
      measure_again(w, policy, b, 2.0);
    } else if (lucky) {
      measure_again(w, policy, b, 2.0);
    }
    CHECK(c > b);
    for (int i = 0; i < 40; ++i) {
      pick();
      grow(w, policy, 1.0 + 0.1 * (i % 7), {chosen.back()});
    }
    return chosen;
  };
  CHECK(picks(true, false) == picks(false, false));
  CHECK(picks(true, true) == picks(false, false));
  CHECK(picks(false, true) == picks(false, false));
}

TEST_CASE("uct repairs what broke, up to a depth, and backs up only what is valid") {
  world w;
  kevo::uct policy;
  policy.repairs = 2;
  policy.inspirations = {0, 0};
  kevo::rng random(43);
  const auto pick = [&] { return policy.select(w.view(), random).parents.front(); };
  grow(w, policy, 1.0);
  pick();
  const auto broken = grow(w, policy, 0, {0});
  CHECK(pick() == broken);
  const auto still = grow(w, policy, 0, {broken});
  CHECK(pick() == still);
  const auto hopeless = grow(w, policy, 0, {still});
  CHECK(pick() == 0);  // the chain is over
  const auto again = grow(w, policy, 0, {0});
  CHECK(pick() == again);
  const auto fixed = grow(w, policy, 5.0, {again});
  policy.width = 1;
  CHECK(pick() == fixed);  // it is the root's child now
  CHECK(hopeless < again);
  kevo::uct strict;
  strict.repairs = 0;
  world other;
  grow(other, strict, 1.0);
  grow(other, strict, 0, {0});
  CHECK(strict.select(other.view(), random).parents == ids{0});
}
