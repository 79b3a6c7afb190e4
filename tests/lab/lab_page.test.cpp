#include <string>

#include <doctest/doctest.h>

#include "src/lab/lab.hpp"

namespace {

kevo::lab_difference difference(const std::string& policy, double p_holm) {
  kevo::lab_difference d;
  d.pair = {policy, "other"};
  d.mean.value = 0.2;
  d.mean.range = {0.1, 0.3};
  d.p_holm = p_holm;
  return d;
}

}  // namespace

TEST_CASE("the axes of a lab have titles and the optimum has its tick, however far the searches came") {
  kevo::lab_results results;
  kevo::lab_curve curve;
  curve.policy = "only";
  for (const double at : {1.0, 40.0}) {
    kevo::lab_curve::point p;
    p.at = at;
    p.mean.value = 0.3;
    p.mean.range = {0.2, 0.4};
    curve.points.push_back(p);
  }
  results.curves = {curve};
  const std::string page = kevo::lab_page({}, results);
  CHECK(page.find(">share of the optimum</text>") != std::string::npos);
  CHECK(page.find(">evaluations</text>") != std::string::npos);
  CHECK(page.find(">1.0</text>") != std::string::npos);
}

TEST_CASE("only an adjusted p-value below the level colours a difference") {
  kevo::lab_results results;
  results.differences = {difference("by chance", 0.4)};
  CHECK(kevo::lab_page({}, results).find("class=\"n better\"") == std::string::npos);
  results.differences = {difference("by merit", 0.001)};
  CHECK(kevo::lab_page({}, results).find("class=\"n better\"") != std::string::npos);
}
