#include "src/report/action_shares.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "src/report/html_report.hpp"
#include "src/report/show.hpp"
#include "tests/report/synthetic_run.hpp"

namespace {

struct made {
  std::string summary;
  kevo::candidate_id parent;
  std::optional<kevo::outcome> outcome;  ///< nothing: never evaluated
  double score = 0;
  kevo::operator_index op = 1;
};

/// A run with a seed of score 1 as candidate 0, and these as the next ones; operator 1 is `rewrite`.
kevo::report_content content_with(const std::vector<made>& all) {
  kevo::report_content content;
  content.operator_names = {"tune", "rewrite"};
  std::uint64_t number = 0;
  const auto evaluated = [&](kevo::candidate_id id, kevo::outcome outcome, double score) {
    auto e = std::make_shared<kevo::evaluation>();
    e->outcome = outcome;
    e->speedup = e->score = score;
    e->stage = kevo::evaluation_stage::timed_full;
    content.history.consume({number, 1, kevo::evaluation_told{++number, id, e->stage, e, {}}});
  };
  content.history.consume({0, 0, kevo::seeded{0, {}}});
  evaluated(0, kevo::outcome::valid, 1);
  kevo::candidate_id id = 0;
  for (const made& one : all) {
    kevo::variation_asked asked{};
    asked.job = 1000 + id;
    asked.op = one.op;
    asked.selection.parents = {one.parent};
    content.history.consume({number, 1, asked});
    kevo::variation_told told{};
    told.job = asked.job;
    told.program = kevo::content_id{};
    told.candidate = ++id;
    told.summary = one.summary;
    content.history.consume({number, 1, told});
    if (one.outcome) evaluated(id, *one.outcome, one.score);
  }
  return content;
}

const kevo::action_share& share_of(const std::vector<kevo::action_share>& all, const std::string& name) {
  for (const auto& one : all) {
    if (one.action == name) return one;
  }
  throw std::runtime_error("no action " + name);
}

}  // namespace

TEST_CASE("a program counts once for each action that made it") {
  using kevo::outcome;
  const auto content = content_with({{"jam loop i in line 3", 0, outcome::valid, 2},
                                     {"jam loop i in line 3, tile loop j in line 4", 1, outcome::valid, 1.5},
                                     {"jam loop i in line 3, jam loop j in line 9", 0, outcome::incorrect},
                                     {"tile loop j in line 4", 1, outcome::build_failed},
                                     {"tile loop k in line 4", 3, outcome::valid, 0.5},
                                     {"tile loop j in line 8", 0, outcome::crashed},
                                     {"unroll loop k in line 5", 0, std::nullopt},
                                     {"copies 2 -> 4", 0, outcome::valid, 3},
                                     {"jam loop i in line 3", 0, outcome::valid, 9, 0}});
  const auto shares = kevo::action_shares(content);
  REQUIRE(shares.size() == 3);
  CHECK(shares.front().action == "tile");
  const auto& jam = share_of(shares, "jam");
  CHECK(jam.proposed == 3);
  CHECK(jam.evaluated == 3);
  CHECK(jam.valid == 2);
  CHECK(jam.incorrect == 1);
  CHECK(jam.better_than_parents == 1);
  CHECK(jam.valid_share() == doctest::Approx(2.0 / 3));
  const auto& tile = share_of(shares, "tile");
  CHECK(tile.proposed == 4);
  CHECK(tile.valid == 2);
  CHECK(tile.build_failed == 1);
  CHECK(tile.failed_otherwise == 1);
  CHECK(tile.better_than_parents == 1);  // of a parent that is wrong, any valid program is
  const auto& unroll = share_of(shares, "unroll");
  CHECK(unroll.proposed == 1);
  CHECK(unroll.evaluated == 0);
  CHECK(unroll.valid_share() == 0);
}

TEST_CASE("page, text and JSON of a run show the shares of rewrite's actions, and nothing without it") {
  auto content = content_with({{"jam loop i in line 3", 0, kevo::outcome::valid, 2},
                               {"unroll loop i in line 3", 0, kevo::outcome::incorrect}});
  const kevo::show_style style{.unicode = false, .color = false, .limit = 5};
  CHECK(kevo::run_text(content, style).find("Actions of rewrite") != std::string::npos);
  CHECK(kevo::html::tables(content).find("Actions of rewrite") != std::string::npos);
  const auto listed = boost::json::parse(kevo::run_json(content)).at("rewrite_actions").as_array();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].at("name").as_string() == "jam");
  CHECK(listed[0].at("valid_share").to_number<double>() == 1);
  CHECK(listed[1].at("incorrect").to_number<int>() == 1);
  content.operator_names = {"tune", "splice"};
  CHECK(kevo::run_text(content, style).find("Actions of rewrite") == std::string::npos);
  CHECK(kevo::html::tables(content).find("Actions of rewrite") == std::string::npos);
  CHECK(boost::json::parse(kevo::run_json(content)).at("rewrite_actions").as_array().empty());
}
