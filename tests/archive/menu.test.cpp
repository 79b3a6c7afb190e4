// links: core
// CVT, epsilon-net, Pareto, novelty and sliding archives, and soft thresholds, each against its definition.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/cvt.hpp>
#include <kevo/archive/epsilon_net.hpp>
#include <kevo/archive/novelty.hpp>
#include <kevo/archive/pareto.hpp>
#include <kevo/archive/sliding.hpp>

#include "tests/support/chi_square.hpp"

namespace {

using kevo::archive_result;
using kevo::archive_status;
using kevo::candidate_id;
using kevo::measure_range;

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

static_assert(kevo::archive<kevo::novelty> && kevo::archive<kevo::sliding>);
static_assert(kevo::archive<kevo::cvt> && kevo::archive<kevo::epsilon_net> && kevo::archive<kevo::pareto>);

std::vector<measure_range> plane() {
  return {{"a", 0, 1, kevo::axis_scale::linear}, {"b", 1, 1000, kevo::axis_scale::log}};
}
std::vector<double> somewhere(kevo::rng& random) {
  return {random.chance(0.03) ? not_known : random.uniform(-0.1, 1.1),
          std::pow(10, random.uniform(-0.2, 3.2))};
}

/// Copies of an archive that are driven alike answer alike; all of it can be removed again.
void check_value(kevo::any_archive kept, kevo::rng random) {
  kevo::any_archive copy = kept;
  kevo::rng other = random;
  for (candidate_id id = 100000; id < 100300; ++id) {
    const auto m = somewhere(random);
    const double score = random.uniform(1, 5);
    CHECK(kept.add({id, score, m}) == copy.add({id, score, m}));
    other = random;
    CHECK(kept.sample(random) == copy.sample(other));
    CHECK(kept.nth_best(0) == copy.nth_best(0));
  }
  for (std::size_t rank = 1; rank < kept.size(); ++rank) CHECK(kept.contains(kept.nth_best(rank)));
  std::vector<int> counts(kept.size());
  std::map<candidate_id, std::size_t> place;
  for (std::size_t i = 0; i < kept.size(); ++i) place[kept.at(i).id] = i;
  CHECK(place.size() == kept.size());
  for (std::size_t i = 0; i < 20 * kept.size(); ++i) ++counts[place.at(kept.sample(random)->id)];
  if (kept.size() > 1) {
    CHECK(kevo::test::chi_square_excess(counts, std::vector<double>(counts.size(), 1.0)) < 1);
  }
  while (kept.size() > 0) {
    const candidate_id id = kept.at(kept.size() / 2).id;
    CHECK(kept.remove(id));
    CHECK_FALSE(kept.contains(id));
  }
  CHECK(copy.size() > 0);
}

}  // namespace

TEST_CASE("a k-d tree finds what a linear search finds") {
  kevo::rng random(61);
  for (const std::size_t d : {1U, 2U, 3U, 6U}) {
    for (const std::size_t n : {1U, 7U, 9U, 300U}) {
      std::vector<double> points(n * d);
      // Half of the rounds on a coarse lattice, where many distances are equal.
      for (double& x : points) x = n % 2 == 0 ? random.uniform() : static_cast<double>(random.below(4));
      const kevo::detail::kd_tree tree(points, d);
      for (int q = 0; q < 200; ++q) {
        std::vector<double> query(d);
        for (double& x : query)
          x = q % 2 == 0 ? random.uniform(-0.5, 4) : static_cast<double>(random.below(4));
        std::size_t best = 0;
        double least = INFINITY;
        for (std::size_t i = 0; i < n; ++i) {
          double distance = 0;
          for (std::size_t k = 0; k < d; ++k) distance += std::pow(points[i * d + k] - query[k], 2);
          if (distance < least) best = i, least = distance;
        }
        REQUIRE(tree.nearest(query) == best);
      }
    }
  }
}

TEST_CASE("a CVT archive keeps the best of every Voronoi cell, in cells of similar size") {
  kevo::cvt kept(plane(), 50, 7);
  CHECK(kept.cells() == 50);
  std::map<std::uint64_t, std::pair<candidate_id, double>> truth;
  kevo::rng random(62);
  for (candidate_id id = 0; id < 4000; ++id) {
    const auto m = somewhere(random);
    const double score = std::floor(random.uniform(1, 100));
    const auto cell = kept.cell_of(m);
    CHECK((cell == 50) == std::isnan(m[0]));
    const auto it = truth.find(cell);
    archive_result expected;
    if (it == truth.end()) {
      expected = {archive_status::new_cell, score};
    } else if (score > it->second.second) {
      expected = {archive_status::improved, score - it->second.second};
    }
    if (expected.status != archive_status::rejected) truth[cell] = {id, score};
    CHECK(kept.add({id, score, m}) == expected);
  }
  CHECK(kept.size() == truth.size());
  CHECK(kept.size() == 51);
  for (std::size_t i = 0; i < kept.size(); ++i) CHECK(truth.at(kept.at(i).cell).first == kept.at(i).id);
  // Centroidal: samples are spread evenly, where cells of random centroids differ by more than a factor of
  // ten.
  std::vector<int> even(50);
  for (int i = 0; i < 10000; ++i) {
    ++even[kept.cell_of(std::vector<double>{random.uniform(), std::pow(10, random.uniform(0, 3))})];
  }
  CHECK(*std::max_element(even.begin(), even.end()) < 5 * *std::min_element(even.begin(), even.end()));
  const kevo::cvt same(plane(), 50, 7), other(plane(), 50, 8);
  CHECK(std::equal(kept.centroid(3).begin(), kept.centroid(3).end(), same.centroid(3).begin()));
  CHECK_FALSE(std::equal(kept.centroid(3).begin(), kept.centroid(3).end(), other.centroid(3).begin()));
  check_value(kept, random);
}

TEST_CASE("elites of an epsilon-net lie apart, and whoever is missing was beaten nearby") {
  kevo::epsilon_net kept(plane(), 0.12);
  kevo::rng random(63);
  std::map<candidate_id, std::pair<double, std::vector<double>>> offered;
  for (candidate_id id = 0; id < 1500; ++id) {
    const auto m = somewhere(random);
    const double score = random.uniform(1, 10);
    offered[id] = {score, kevo::unit_point(plane(), m)};
    const auto before = kept.size();
    const auto result = kept.add({id, score, m});
    if (result.status == archive_status::new_cell) CHECK(kept.size() == before + 1);
    if (result.status == archive_status::rejected) CHECK(kept.size() == before);
    CHECK(kept.contains(id) == (result.status != archive_status::rejected));
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      REQUIRE(kevo::epsilon_net::distance(kept.point(i), kept.point(k)) > 0.12);
    }
  }
  // The best of all that was offered is there.
  const auto best = std::max_element(offered.begin(), offered.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  CHECK(kept.nth_best(0) == best->first);
  CHECK(kept.size() > 20);

  kevo::epsilon_net two({{"a", 0, 1, kevo::axis_scale::linear}}, 0.1);
  CHECK(two.add({1, 2, std::vector<double>{0.5}}) == archive_result{archive_status::new_cell, 2});
  CHECK(two.add({2, 3, std::vector<double>{0.58}}) == archive_result{archive_status::improved, 1});
  CHECK(two.add({3, 3, std::vector<double>{0.5}}) == archive_result{});
  CHECK(two.add({4, 1, std::vector<double>{not_known}}) == archive_result{archive_status::new_cell, 1});
  CHECK(two.add({5, 9, std::vector<double>{0}}) == archive_result{archive_status::new_cell, 9});
  CHECK(two.update({2, 4, std::vector<double>{0.58}}) == archive_result{archive_status::improved, 1});
  CHECK(two.update({2, 3.5, std::vector<double>{0.58}}) == archive_result{});
  CHECK(two.contains(2));
  CHECK(two.update({2, 3.5, std::vector<double>{0.02}}) == archive_result{});  // beside a better one
  CHECK_FALSE(two.contains(2));
  CHECK_THROWS_AS(kevo::epsilon_net(std::vector<measure_range>{}, 0.1), kevo::error);
  CHECK_THROWS_AS(kevo::epsilon_net({{"a", 0, 1, kevo::axis_scale::log}}, 0.1), kevo::error);
  check_value(kept, random);
}

TEST_CASE("a Pareto archive holds exactly what nothing dominates") {
  kevo::pareto kept({{"bytes", false}, {"fraction", true}});
  kevo::rng random(64);
  struct point {
    double score, bytes, fraction;
    bool covers(const point& o) const {
      return score >= o.score && bytes <= o.bytes && fraction >= o.fraction;
    }
  };
  std::vector<point> all;
  std::set<candidate_id> gone;
  for (candidate_id id = 0; id < 600; ++id) {
    all.push_back({std::floor(random.uniform(1, 30)), std::floor(random.uniform(1, 30)),
                   std::floor(random.uniform(1, 30))});
    const auto& p = all.back();
    kept.add({id, p.score, std::vector<double>{p.bytes, p.fraction}});
  }
  for (candidate_id id = 0; id < all.size(); ++id) {
    bool front = true;
    for (candidate_id other = 0; other < all.size() && front; ++other) {
      if (other == id || !all[other].covers(all[id])) continue;
      front = all[id].covers(all[other]) && id < other;  // equal points: the older stays
    }
    CHECK(kept.contains(id) == front);
  }
  check_value(kept, random);

  kevo::pareto small({{"bytes", false}}, 4);
  for (candidate_id id = 0; id < 50; ++id) {
    const double x = random.uniform(1, 10);
    small.add({id, x, std::vector<double>{x}});
    CHECK(small.size() <= 4);
  }
  small.add({90, 20, std::vector<double>{20}});
  small.add({91, 0.5, std::vector<double>{0.5}});
  for (candidate_id id = 100; id < 150; ++id)
    small.add({id, 5 + 0.01 * id, std::vector<double>{5 + 0.01 * id}});
  CHECK(small.contains(90));  // extremes stay
  CHECK(small.contains(91));
  CHECK(small.add({200, 20, std::vector<double>{not_known}}) ==
        archive_result{});  // dominated by what is known
  CHECK(small.add({201, 21, std::vector<double>{not_known}}).status != archive_status::improved);
  CHECK(small.add({202, 30, std::vector<double>{0.1}}) ==
        archive_result{archive_status::improved, 30.0 - 21.0});
  CHECK(small.size() == 1);
}

TEST_CASE("a novelty archive keeps what is far from its nearest, and the better of two that are not") {
  kevo::novelty kept(plane(), 0.1, 4);
  kevo::rng random(65);
  std::map<candidate_id, std::pair<double, std::vector<double>>> truth;
  for (candidate_id id = 0; id < 1500; ++id) {
    const auto m = somewhere(random);
    const double score = random.uniform(1, 10);
    const auto point = kevo::unit_point(plane(), m);
    std::vector<std::pair<double, candidate_id>> away;
    for (const auto& [other, one] : truth) {
      away.emplace_back(kevo::epsilon_net::distance(point, one.second), other);
    }
    std::sort(away.begin(), away.end());
    double mean = away.empty() ? INFINITY : 0;
    const std::size_t k = std::min<std::size_t>(4, away.size());
    for (std::size_t i = 0; i < k; ++i) mean += away[i].first / static_cast<double>(k);
    archive_result expected;
    if (mean >= 0.1) {
      expected = {archive_status::new_cell, score};
    } else if (score > truth.at(away.front().second).first) {
      expected = {archive_status::improved, score - truth.at(away.front().second).first};
      truth.erase(away.front().second);
    }
    if (expected.status != archive_status::rejected) truth[id] = {score, point};
    REQUIRE(kept.add({id, score, m}) == expected);
  }
  CHECK(kept.size() == truth.size());
  CHECK(kept.size() > 30);
  for (const auto& [id, one] : truth) CHECK(kept.contains(id));
  const candidate_id best = kept.nth_best(0);
  const auto near = kept.neighbours(best, 5);
  std::vector<std::pair<double, candidate_id>> away;
  for (const auto& [other, one] : truth) {
    if (other != best)
      away.emplace_back(kevo::epsilon_net::distance(truth.at(best).second, one.second), other);
  }
  std::sort(away.begin(), away.end());
  REQUIRE(near.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(near[i] == away[i].second);
  check_value(kept, random);
}

TEST_CASE("sliding boundaries are the percentiles of the latest candidates, and every cell holds its best") {
  kevo::sliding kept({{"a", 4}, {"b", 3}}, 50, 200);
  kevo::rng random(66);
  struct one {
    double score = 0;
    std::vector<double> m;
  };
  std::map<candidate_id, one> all;
  for (candidate_id id = 0; id < 1000; ++id) {
    // No range would fit: the measure grows by orders of magnitude as the search goes on.
    const std::vector<double> m = {random.chance(0.05) ? not_known : std::exp(0.01 * id + random.normal()),
                                   random.normal()};
    all[id] = {random.uniform(1, 10), m};
    const auto answer = kept.add({id, all[id].score, m});
    CHECK(kept.contains(id) == (answer.status != archive_status::rejected));
    REQUIRE(kept.size() <= 5 * 4);
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    std::vector<double> latest;
    for (candidate_id id = 800; id < 1000; ++id) {
      if (!std::isnan(all[id].m[axis])) latest.push_back(all[id].m[axis]);
    }
    const auto& bounds = kept.boundaries(axis);
    REQUIRE(bounds.size() == (axis == 0 ? 3 : 2));
    for (std::size_t b = 0; b < bounds.size(); ++b) {  // that share of the window lies below
      const auto below = static_cast<double>(
          std::count_if(latest.begin(), latest.end(), [&](double x) { return x < bounds[b]; }));
      CHECK(below == doctest::Approx(static_cast<double>((b + 1) * latest.size()) /
                                     static_cast<double>(bounds.size() + 1))
                         .epsilon(0.03));
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {  // of what is still known, nothing better shares its cell
    const kevo::elite e = kept.at(i);
    for (candidate_id id = 800; id < 1000; ++id) {
      if (kept.cell_of(all[id].m) == e.cell) CHECK(all[id].score <= e.score);
    }
  }
  const candidate_id gone = kept.nth_best(0);
  CHECK(kept.remove(gone));
  for (candidate_id id = 2000; id < 2100; ++id) kept.add({id, 0.5, std::vector<double>{1, 0}});
  CHECK_FALSE(kept.contains(gone));  // nor does it come back from the window
  CHECK_THROWS_AS(kevo::sliding({}), kevo::error);
  CHECK_THROWS_AS(kevo::sliding({{"a", 0}}), kevo::error);
  CHECK_THROWS_AS(kevo::sliding({{"a", 1U << 20U}, {"b", 1U << 20U}}), kevo::error);
  check_value(kept, random);
}

TEST_CASE("a soft threshold follows what it accepts and pays for what is above it") {
  kevo::grid kept({{"m", 2, 0, 2}}, {.rate = 0.25, .least = 1});
  kevo::rng random(67);
  double threshold = 1;
  bool empty = true;
  for (candidate_id id = 0; id < 300; ++id) {
    const double score = random.uniform(0.5, 4);
    archive_result expected;
    if (score > threshold) {
      expected = {empty ? archive_status::new_cell : archive_status::improved, score - threshold};
      threshold = 0.75 * threshold + 0.25 * score;
      empty = false;
    }
    const auto answer = kept.add({id, score, std::vector<double>{0.5}});
    CHECK(answer.status == expected.status);
    CHECK(answer.value == doctest::Approx(expected.value));
    CHECK(kept.contains(id) == (answer.status != archive_status::rejected));
  }
  CHECK(threshold < 4);
  kevo::cvt cells({{"m", 0, 2}}, 1, 1, {.rate = 0, .least = 1});  // never learns: any that beats `least`
  CHECK(cells.add({1, 3, std::vector<double>{1}}) == archive_result{archive_status::new_cell, 2});
  CHECK(cells.add({2, 2, std::vector<double>{1}}) == archive_result{archive_status::improved, 1});
  CHECK(cells.add({3, 1, std::vector<double>{1}}) == archive_result{});
  CHECK_THROWS_AS(kevo::grid({{"m", 2, 0, 2}}, {.rate = 1.5}), kevo::error);
}

TEST_CASE("sources that say the same are near, and archives of sources keep what differs") {
  const auto source = [](const std::string& text) {
    return std::make_shared<const kevo::program>(kevo::single_file_program("cpp", "k.cpp", text));
  };
  const std::string loop = "for (int i = 0; i < n; ++i) { c[i] = a[i] + b[i]; total += c[i] * scale; }\n";
  std::string longer;
  for (int i = 0; i < 20; ++i)
    longer += "x" + std::to_string(i) + " = load(p + " + std::to_string(i) + ");\n";
  const kevo::ngram_embedding embed;
  const auto apart = [&](const std::string& a, const std::string& b) {
    return kevo::epsilon_net::distance(embed(*source(a)), embed(*source(b)));
  };
  CHECK(apart(loop, "// a comment\n/* another */ " + loop + "   \n\n") == 0);
  CHECK(apart(longer + loop, longer + loop + "y = 1;\n") < 0.3);
  CHECK(apart(loop, longer) > 1);
  CHECK(apart(loop, longer) == doctest::Approx(apart(longer, loop)));

  kevo::epsilon_net kept(kevo::embedding_of(embed), 0.3);
  CHECK(kevo::any_archive(kept).wants_source());
  CHECK(kept.add({.id = 0, .score = 1, .source = source(longer + loop)}).status == archive_status::new_cell);
  CHECK(kept.add({.id = 1, .score = 1, .source = source(longer + loop + "y = 1;\n")}) == archive_result{});
  CHECK(kept.add({.id = 2, .score = 2, .source = source(longer + loop + "y = 2;\n")}) ==
        archive_result{archive_status::improved, 1});
  CHECK(kept.add({.id = 3, .score = 0.5, .source = source(loop)}).status == archive_status::new_cell);
  CHECK(kept.add({.id = 4, .score = 9}) == archive_result{});  // no source
  CHECK(kept.size() == 2);
  kevo::novelty other({2,
                       [](const kevo::program& p) {  // any embedding will do
                         return std::vector<double>{static_cast<double>(p.text().size()), 0};
                       }},
                      10);
  CHECK(other.add({.id = 0, .score = 1, .source = source("12345")}).status == archive_status::new_cell);
  CHECK(other.add({.id = 1, .score = 1, .source = source("123456789")}) == archive_result{});
  CHECK(other.add({.id = 2, .score = 1, .source = source(std::string(20, 'x'))}).status ==
        archive_status::new_cell);
  CHECK_THROWS_AS(kevo::epsilon_net(kevo::source_embedding{}), kevo::error);
}
