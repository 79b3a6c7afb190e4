// links: core
// The epsilon-net over proposals, against a hand-worked case and against its definition.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/epsilon_net.hpp>
#include <kevo/filter/proposal_net.hpp>
#include <kevo/random.hpp>

namespace {

using kevo::candidate_id;
using kevo::proposal_net;
using kevo::unevaluated;
using ids = std::vector<candidate_id>;

static_assert(kevo::proposal_filter<proposal_net>);

/// A program that says where it lies: "x y".
unevaluated at(candidate_id id, double x, double y) {
  return {id, std::make_shared<const kevo::program>(kevo::single_file_program(
                  "toy", "place.txt", std::to_string(x) + " " + std::to_string(y)))};
}
std::vector<double> place_of(const kevo::program& p) {
  const std::string text(p.text());
  const std::size_t blank = text.find(' ');
  return {std::stod(text.substr(0, blank)), std::stod(text.substr(blank))};
}
kevo::source_embedding plane() {
  return {2, place_of};
}

ids dropped_by(const kevo::filter_verdict& verdict) {
  ids all;
  for (const auto& one : verdict.dropped) all.push_back(one.candidate);
  return all;
}

}  // namespace

TEST_CASE("a net drops what is near, takes the farthest, and repeats") {
  proposal_net net(1.0, plane());
  net.remember(at(0, 0, 0));
  // 1 lies at distance 1 of the memory: at most epsilon, so it goes. The farthest of the others is 4 at 10;
  // then 3 is within 1 of it and goes; of 2 at 5 and 5 at 5 the older is next, which takes 5 with it.
  const std::vector<unevaluated> batch = {at(1, 1, 0), at(2, 5, 0), at(3, 9.5, 0), at(4, 10, 0), at(5, 5, 0)};
  const auto verdict = net.filter(batch);
  CHECK(verdict.passed == ids{4, 2});
  CHECK(dropped_by(verdict) == ids{1, 3, 5});
  CHECK(verdict.dropped[0].reason == "its distance to candidate 0 is 1.0000, epsilon is 1");
  CHECK(verdict.dropped[1].reason == "its distance to candidate 4 is 0.5000, epsilon is 1");
  CHECK(net.size() == 3);  // what was dropped is not remembered
  CHECK(net.filter(std::vector{at(6, 10.5, 0)}).passed.empty());
  CHECK(net.filter(std::vector{at(7, 1.5, 0)}).passed == ids{7});
}

TEST_CASE("an epsilon of 0 lets everything pass, and an empty memory takes the first") {
  proposal_net off(0.0, plane());
  CHECK(off.filter(std::vector{at(1, 0, 0), at(2, 0, 0)}).passed == ids{1, 2});
  proposal_net empty(0.5, plane());
  const auto verdict = empty.filter(std::vector{at(1, 0, 0), at(2, 0, 0.4), at(3, 7, 0)});
  CHECK(verdict.passed == ids{1, 3});
}

TEST_CASE("whatever passes is more than epsilon apart, and whatever is dropped is not") {
  kevo::rng random(17);
  for (const std::size_t batch_size : {1U, 5U, 12U}) {
    proposal_net net(0.15, plane());
    std::vector<std::vector<double>> passed;
    candidate_id next = 0;
    for (int round = 0; round < 40; ++round) {
      std::vector<unevaluated> batch;
      for (std::size_t i = 0; i < batch_size; ++i)
        batch.push_back(at(next++, random.uniform(), random.uniform()));
      const auto verdict = net.filter(batch);
      REQUIRE(verdict.passed.size() + verdict.dropped.size() == batch_size);
      const auto place = [&](candidate_id id) {
        return place_of(*batch[id - batch.front().candidate].source);
      };
      for (const candidate_id id : verdict.passed) {
        for (const auto& other : passed) REQUIRE(kevo::epsilon_net::distance(place(id), other) > 0.15);
        passed.push_back(place(id));
      }
      for (const candidate_id id : dropped_by(verdict)) {
        REQUIRE(std::any_of(passed.begin(), passed.end(), [&](const auto& other) {
          return kevo::epsilon_net::distance(place(id), other) <= 0.15;
        }));
      }
    }
  }
}

TEST_CASE("sources that differ in blanks and comments alone are near duplicates") {
  const auto source = [](candidate_id id, const std::string& text) {
    return unevaluated{
        id, std::make_shared<const kevo::program>(kevo::single_file_program("cpp", "a.cpp", text))};
  };
  proposal_net net;
  net.remember(source(0, "int f(int a, int b) { return a + b; }"));
  const auto verdict = net.filter(
      std::vector{source(1, "int f(int a,  int b) {\n  return a + b;  // the sum\n}"),
                  source(2, "void g(float* x, long n) { for (long i = 0; i < n; ++i) x[i] *= 2; }")});
  CHECK(verdict.passed == ids{2});
  CHECK(dropped_by(verdict) == ids{1});
}

TEST_CASE("a bounded memory forgets the oldest") {
  proposal_net net(0.5, plane(), 2);
  for (candidate_id id = 0; id < 3; ++id) CHECK(net.filter(std::vector{at(id, id, 0)}).passed.size() == 1);
  CHECK(net.size() == 2);
  CHECK(net.filter(std::vector{at(3, 2, 0)}).passed.empty());
  CHECK(net.filter(std::vector{at(4, 0, 0)}).passed == ids{4});  // candidate 0 is forgotten
}
