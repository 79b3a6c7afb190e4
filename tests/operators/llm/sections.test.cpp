#include "operators/llm/sections.hpp"

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <kevo/candidate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/operators/conversation.hpp>

TEST_CASE("a model reads a speedup over a further baseline with its interval, or that there is none") {
  auto e = std::make_shared<kevo::evaluation>();
  e->outcome = kevo::outcome::valid;
  e->stage = kevo::evaluation_stage::confirmed;
  e->baseline = "seed";
  e->speedup = e->score = 2;
  e->other_speedups = {{"cublas", 0.935}, {"older", 1.127}};
  e->other_speedup_intervals = {{"cublas", {0.921, 0.948}}};
  kevo::candidate_snapshot one;
  one.id = 7;
  one.evaluation = e;
  const std::string text = kevo::evaluation_section(one);
  CHECK(text.find("\nagainst cublas: 0.9350x [0.9210 - 0.9480]\n") != std::string::npos);
  CHECK(text.find("\nagainst older: 1.127x (no interval)\n") != std::string::npos);
}
