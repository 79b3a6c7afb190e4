// links: core
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/top_k.hpp>

#include "tests/support/chi_square.hpp"

using kevo::archive_result;
using kevo::archive_status;
using kevo::candidate_id;

TEST_CASE("top_k keeps what a sorted list would keep") {
  kevo::rng random(2);
  kevo::top_k kept(25);
  std::map<candidate_id, double> truth;
  const auto worst = [&] {  // lowest score; of equal ones the younger
    return std::min_element(truth.begin(), truth.end(), [](const auto& a, const auto& b) {
      return a.second < b.second || (a.second == b.second && a.first > b.first);
    });
  };
  for (candidate_id next = 0; next < 5000; ++next) {
    const double score = std::floor(random.uniform(1, 200));
    const auto old = static_cast<candidate_id>(random.below(next + 1));
    switch (random.below(8)) {
      case 0:
        CHECK(kept.remove(old) == (truth.erase(old) > 0));
        break;
      case 1:
        if (truth.contains(old)) {
          const double gain = score - truth[old];
          CHECK(kept.update({old, score, {}}) ==
                (gain > 0 ? archive_result{archive_status::improved, gain} : archive_result{}));
          truth[old] = score;
        }
        break;
      default:
        if (truth.size() < 25) {
          CHECK(kept.add({next, score, {}}) == archive_result{archive_status::new_cell, score});
          truth[next] = score;
        } else if (const auto out = worst(); score > out->second) {
          CHECK(kept.add({next, score, {}}) == archive_result{archive_status::improved, score - out->second});
          truth.erase(out);
          truth[next] = score;
        } else {
          CHECK(kept.add({next, score, {}}) == archive_result{});
        }
    }
    REQUIRE(kept.size() == truth.size());
    std::map<candidate_id, double> seen;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      seen[kept.at(i).id] = kept.at(i).score;
      CHECK(kept.nth_best(i) == kept.at(i).id);
      if (i > 0) CHECK(kept.at(i - 1).score >= kept.at(i).score);
    }
    REQUIRE(seen == truth);
    CHECK(kept.contains(old) == truth.contains(old));
  }
}

TEST_CASE("top_k samples uniformly, and refuses what has no score") {
  kevo::top_k kept(10);
  for (candidate_id id = 0; id < 10; ++id) kept.add({id, 1.0 + id, {}});
  CHECK(kept.add({11, std::nan(""), {}}) == archive_result{});
  CHECK(kept.add({11, INFINITY, {}}) == archive_result{});
  CHECK(kevo::top_k(0).add({1, 1, {}}) == archive_result{});
  std::vector<int> counts(10);
  kevo::rng random(4);
  for (int i = 0; i < 10000; ++i) ++counts[kept.sample(random)->id];
  CHECK(kevo::test::chi_square_excess(counts, std::vector<double>(10, 1.0)) < 1);
  CHECK(kept.update({4, std::nan(""), {}}) == archive_result{});
  CHECK(kept.size() == 9);
}

namespace {

/// A user's archive: the required members, nothing else.
struct everything {
  std::vector<kevo::elite> all;
  archive_result add(const kevo::archive_entry& e) {
    all.push_back({e.id, e.score, 0});
    return {archive_status::new_cell, e.score};
  }
  archive_result update(const kevo::archive_entry& e) {
    for (auto& one : all) {
      if (one.id == e.id) one.score = e.score;
    }
    return {};
  }
  bool remove(candidate_id id) {
    return std::erase_if(all, [id](const auto& one) { return one.id == id; }) > 0;
  }
  std::optional<kevo::elite> sample(kevo::rng& random) const {
    if (all.empty()) return std::nullopt;
    return all[random.below(all.size())];
  }
  std::size_t size() const { return all.size(); }
  kevo::elite at(std::size_t i) const { return all[i]; }
};

}  // namespace

TEST_CASE("any_archive ranks the elites of containers that do not") {
  kevo::any_archive kept = everything{};
  for (const auto& [id, score] : std::map<candidate_id, double>{{0, 2}, {1, 5}, {2, 3}}) {
    kept.add({id, score, {}});
    CHECK(kept.nth_best(0) == (id == 0 ? 0 : 1));  // asked between changes, so that a stale order would show
  }
  CHECK(kept.total_score() == 10);
  CHECK(kept.at_mass(4.9) == 1);
  CHECK(kept.at_mass(5.0) == 2);
  CHECK(kept.contains(2));
  CHECK_FALSE(kept.contains(3));
  kept.update({0, 9, {}});
  CHECK(kept.nth_best(0) == 0);
  kept.remove(0);
  CHECK(kept.nth_best(0) == 1);
  CHECK(kept.nth_best(1) == 2);
  kevo::any_archive best = kevo::top_k(2);
  best.add({7, 1, {}});
  CHECK(best.nth_best(0) == 7);
  CHECK(best.cells() == 2);
  CHECK(best.as<kevo::top_k>() != nullptr);
  CHECK(best.as<everything>() == nullptr);
}
