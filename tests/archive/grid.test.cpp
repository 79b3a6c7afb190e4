// links: core
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/grid.hpp>

#include "tests/support/chi_square.hpp"

namespace {

using kevo::archive_entry;
using kevo::archive_result;
using kevo::archive_status;
using kevo::candidate_id;
using kevo::grid;
using kevo::grid_axis;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// What a grid should do, said with the simplest containers.
struct oracle {
  std::vector<grid_axis> axes;
  std::map<std::vector<std::size_t>, std::pair<candidate_id, double>> cells;

  std::vector<std::size_t> key(const std::vector<double>& measures) const {
    std::vector<std::size_t> bins;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const grid_axis& a = axes[i];
      const double x = measures[i];
      std::size_t bin = 0;  // the last bin whose lower edge is not above x, by looking at every edge
      if (std::isnan(x)) {
        bin = a.bins;
      } else {
        while (bin + 1 < a.bins && x >= a.edge(bin + 1)) ++bin;
      }
      bins.push_back(bin);
    }
    return bins;
  }
  archive_result add(candidate_id id, double score, const std::vector<double>& measures) {
    const auto where = key(measures);
    const auto it = cells.find(where);
    if (it == cells.end()) {
      cells[where] = {id, score};
      return {archive_status::new_cell, score};
    }
    if (score <= it->second.second) return {};
    const double gain = score - it->second.second;
    it->second = {id, score};
    return {archive_status::improved, gain};
  }
  archive_result update(candidate_id id, double score, const std::vector<double>& measures) {
    for (auto it = cells.begin(); it != cells.end(); ++it) {
      if (it->second.first != id) continue;
      if (it->first != key(measures)) {
        cells.erase(it);
        break;
      }
      const double gain = score - it->second.second;
      it->second.second = score;
      return gain > 0 ? archive_result{archive_status::improved, gain} : archive_result{};
    }
    return add(id, score, measures);
  }
  bool remove(candidate_id id) {
    return std::erase_if(cells, [id](const auto& cell) { return cell.second.first == id; }) > 0;
  }
};

void check_equal(const grid& kept, const oracle& truth) {
  REQUIRE(kept.size() == truth.cells.size());
  std::map<std::vector<std::size_t>, std::pair<candidate_id, double>> seen;
  double total = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const kevo::elite e = kept.at(i);
    seen[kept.bins_of(e.cell)] = {e.id, e.score};
    total += e.score;
    CHECK(kept.at_cell(e.cell) == e);
    CHECK(kept.contains(e.id));
  }
  CHECK(seen == truth.cells);
  CHECK(kept.total_score() == doctest::Approx(total));
  std::map<candidate_id, double> score_of;
  for (const auto& [bins, holder] : truth.cells) score_of[holder.first] = holder.second;
  for (std::size_t rank = 1; rank < kept.size(); ++rank) {
    CHECK(score_of.at(kept.nth_best(rank - 1)) >= score_of.at(kept.nth_best(rank)));
  }
}

}  // namespace

TEST_CASE("a grid agrees with a brute-force oracle over random streams") {
  const std::vector<std::vector<grid_axis>> shapes = {
      {{"a", 8, 0, 1}},
      {{"a", 5, 0, 1}, {"b", 7, 64, 65536, kevo::axis_scale::log}},
      {{"a", 2000, -1, 1}, {"b", 3000, 0.001, 10, kevo::axis_scale::log}},  // beyond the dense index
  };
  for (const auto& axes : shapes) {
    kevo::rng random(axes.size());
    grid kept(axes);
    oracle truth{axes, {}};
    for (candidate_id next = 0; next < 4000; ++next) {
      std::vector<double> measures;
      for (const grid_axis& a : axes) {
        const double part = random.uniform(-0.2, 1.2);
        measures.push_back(random.chance(0.05)                   ? unknown
                           : a.scale == kevo::axis_scale::linear ? a.low + (a.high - a.low) * part
                                                                 : a.low * std::pow(a.high / a.low, part));
      }
      const double score = std::floor(random.uniform(1, 30));  // whole numbers, so that ties occur
      const auto old = static_cast<candidate_id>(random.below(next + 1));
      switch (random.below(4)) {
        case 0:
          CHECK(kept.remove(old) == truth.remove(old));
          break;
        case 1:
          CHECK(kept.update({old, score, measures}) == truth.update(old, score, measures));
          break;
        default:
          CHECK(kept.add({next, score, measures}) == truth.add(next, score, measures));
      }
      if (next % 500 == 250) check_equal(kept, truth);
    }
    check_equal(kept, truth);
    while (kept.size() > 0) CHECK(kept.remove(kept.at(0).id));
    CHECK_FALSE(kept.sample(random));
  }
}

TEST_CASE("a grid answers with status and value") {
  grid kept({{"m", 4, 0, 4}});
  const std::vector<double> low = {0.5}, high = {3.5};
  CHECK(kept.add({1, 2.0, low}) == archive_result{archive_status::new_cell, 2.0});
  CHECK(kept.add({2, 2.0, low}) == archive_result{});  // a tie keeps the older one
  CHECK(kept.add({3, 2.5, low}) == archive_result{archive_status::improved, 0.5});
  CHECK(kept.add({4, 1.0, high}) == archive_result{archive_status::new_cell, 1.0});
  CHECK(kept.update({3, 1.5, low}) == archive_result{});  // fell, and stays
  CHECK(kept.at_cell(0)->score == 1.5);
  CHECK(kept.update({1, 1.6, low}) == archive_result{archive_status::improved, 1.6 - 1.5});
  CHECK(kept.update({1, 1.6, high}) == archive_result{archive_status::improved, 1.6 - 1.0});  // moved
  CHECK_FALSE(kept.at_cell(0));
  CHECK(kept.size() == 1);
  CHECK(kept.add({5, std::nan(""), low}) == archive_result{});
  CHECK(kept.add({5, INFINITY, low}) == archive_result{});
  CHECK(kept.update({1, std::nan(""), high}) == archive_result{});  // no score any more: out
  CHECK(kept.size() == 0);
  CHECK_FALSE(kept.remove(1));
  CHECK_FALSE(kept.contains(1));
}

TEST_CASE("values outside the range count for the ends, unknown ones for a cell of their own") {
  const grid_axis a{"m", 4, 1, 16, kevo::axis_scale::log};
  CHECK(a.bin_of(-INFINITY) == 0);
  CHECK(a.bin_of(0) == 0);
  CHECK(a.bin_of(1) == 0);
  CHECK(a.bin_of(2.1) == 1);
  CHECK(a.bin_of(15.9) == 3);
  CHECK(a.bin_of(16) == 3);
  CHECK(a.bin_of(INFINITY) == 3);
  CHECK(a.bin_of(unknown) == 4);
  grid kept({a, {"n", 2, 0, 1}});
  CHECK(kept.cells() == 8);
  kept.add({1, 1, std::vector<double>{3, unknown}});
  CHECK(kept.describe(kept.at(0)) == "m 2..4, n unknown");
  kept.add({2, 1, std::vector<double>{3}});  // missing counts as unknown: the same cell
  CHECK(kept.size() == 1);
  CHECK(kept.measures() == std::vector<std::string>{"m", "n"});
}

TEST_CASE("a grid that cannot be is an error that names the measure") {
  const auto key_of = [](std::vector<grid_axis> axes) -> std::string {
    try {
      grid{std::move(axes)};
    } catch (const kevo::error& e) {
      return e.place().key;
    }
    return "no error";
  };
  CHECK(key_of({{"a", 0, 0, 1}}) == "a");
  CHECK(key_of({{"ok", 2, 0, 1}, {"b", 4, 1, 1}}) == "b");
  CHECK(key_of({{"c", 4, 0, 1, kevo::axis_scale::log}}) == "c");
  CHECK(key_of({{"d", 4, 0, INFINITY}}) == "d");
  CHECK(key_of({{"d", 4, 0, unknown}}) == "d");
  CHECK(key_of({{"e", 1U << 30U, 0, 1}, {"f", 1U << 30U, 0, 1}, {"g", 1U << 30U, 0, 1}}) == "g");
  CHECK(key_of({}) == "no error");  // one cell: only the best
}

TEST_CASE("a grid samples its elites uniformly, and a copy has the same future") {
  grid kept({{"m", 20, 0, 20}});
  for (candidate_id id = 0; id < 20; ++id) kept.add({id, 1.0 + id, std::vector<double>{id + 0.5}});
  for (const candidate_id gone : {3U, 19U, 0U}) kept.remove(gone);
  std::vector<int> counts(20);
  std::vector<double> weights(20, 1);
  weights[3] = weights[19] = weights[0] = 0;
  kevo::rng random(11);
  for (int i = 0; i < 20000; ++i) ++counts[kept.sample(random)->id];
  CHECK(kevo::test::chi_square_excess(counts, weights) < 1);

  grid copy = kept;
  kevo::rng other = random;
  for (candidate_id id = 100; id < 300; ++id) {
    const std::vector<double> m = {random.uniform(0, 20)};
    CHECK(m[0] == other.uniform(0, 20));
    CHECK(kept.add({id, 10.0 + id % 50, m}) == copy.add({id, 10.0 + id % 50, m}));
    CHECK(kept.sample(random) == copy.sample(other));
    CHECK(kept.nth_best(kept.size() / 2) == copy.nth_best(copy.size() / 2));
  }
}
