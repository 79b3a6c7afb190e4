#include "src/report/show.hpp"

#include <algorithm>
#include <string>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "src/base/text/format.hpp"
#include "src/base/text/further_baselines.hpp"
#include "tests/report/synthetic_run.hpp"

namespace {

namespace json = boost::json;

kevo::report_content shown_content(const synthetic::run& r) {
  kevo::report_content c;
  c.run = "quickstart";
  c.folder = "runs/quickstart";
  c.task = "matmul";
  c.operator_names = r.operators;
  c.history = kevo::run_history(synthetic::empty_grid());
  for (const auto& e : r.events) c.history.consume(e);
  c.archive = kevo::map_of(c.history.archive());
  c.best = c.history.best();
  if (c.best) c.best_evaluation = r.store.evaluation_of(*c.best);
  return c;
}

kevo::shown_candidate candidate_of(const kevo::report_content& c, const synthetic::run& r,
                                   kevo::candidate_id id) {
  return {id, r.store.program_of(c.history.candidates()[id].program), r.store.evaluation_of(id), ""};
}

bool printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); });
}

}  // namespace

TEST_CASE("a run in words: its best, its operators, its elites") {
  const auto r = synthetic::make(200);
  const auto content = shown_content(r);
  kevo::show_style style{.unicode = false, .color = false, .limit = 5};
  const auto text = kevo::run_text(content, style);
  CHECK(printable(text));
  for (const char* part : {"quickstart - matmul", "confirmed", "of openblas", "Operators", "splice", "Elites",
                           "code_bytes", "more (--limit)", "stopped by", "waited"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(text.find(kevo::format::speedup(r.best, false)) != std::string::npos);
  REQUIRE(content.best_evaluation);
  CHECK(text.find(kevo::further_speedups(*content.best_evaluation, false)[0].second +
                  " the speed of openblas") != std::string::npos);
}

TEST_CASE("a candidate in words: where it came from and what became of it") {
  const auto r = synthetic::make(200);
  const auto content = shown_content(r);
  const kevo::show_style style{.unicode = false, .color = false, .limit = 20};
  const auto text = kevo::candidate_text(content, candidate_of(content, r, *content.best), style);
  CHECK(printable(text));
  REQUIRE(content.best_evaluation);
  const auto over_openblas = kevo::further_speedups(*content.best_evaluation, false)[0].second;
  CHECK(over_openblas.find(" [") != std::string::npos);
  for (const char* part : {"champion", "Lineage", "seed", "Evaluations", "Workloads", "square",
                           "Speedup over further baselines", "openblas", over_openblas.c_str(),
                           "hidden workloads passed", "Measures", "Feedback", "cpp: kernel.cpp"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  const auto& all = content.history.candidates();
  const auto broken = std::find_if(all.begin(), all.end(), [](const auto& c) {
    return c.latest() != nullptr && c.latest()->outcome == kevo::outcome::build_failed;
  });
  REQUIRE(broken != all.end());
  const auto broken_id = static_cast<kevo::candidate_id>(broken - all.begin());
  CHECK(kevo::candidate_text(content, candidate_of(content, r, broken_id), style)
            .find("0 of 1 hidden workloads passed, 1 not run") != std::string::npos);
  // Every candidate can be shown, the failed and the unevaluated too.
  for (kevo::candidate_id id = 0; id < content.history.candidates().size(); ++id) {
    CHECK(printable(kevo::candidate_text(content, candidate_of(content, r, id), style)));
    CHECK(json::parse(kevo::candidate_json(content, candidate_of(content, r, id), false))
              .at("id")
              .to_number<std::uint32_t>() == id);
  }
  auto hostile = candidate_of(content, r, 0);
  auto e = *hostile.evaluation;
  e.feedback = "\x1b[2J\x1b]0;owned\x07 line\r\n\n\xff second";
  e.workloads[0].uuid = "\x1b[31m";
  hostile.evaluation = std::make_shared<kevo::evaluation>(e);
  CHECK(printable(kevo::candidate_text(content, hostile, style)));
}

TEST_CASE("a seed is shown with the file that the task calls it, where the run has noted it") {
  const auto r = synthetic::make(200);
  auto content = shown_content(r);
  const kevo::show_style style{.unicode = false, .color = false, .limit = 20};
  const kevo::candidate_id seed = 0;
  CHECK(kevo::candidate_text(content, candidate_of(content, r, seed), style).find("seed file") ==
        std::string::npos);
  content.seed_files[kevo::to_string(content.history.candidates()[seed].program)] = "b/seed.cpp";
  const auto text = kevo::candidate_text(content, candidate_of(content, r, seed), style);
  const auto line = text.find("seed file");
  REQUIRE(line != std::string::npos);
  CHECK(text.substr(line, text.find('\n', line) - line).find("b/seed.cpp") != std::string::npos);
}

TEST_CASE("the same as JSON, with null for what does not exist") {
  const auto r = synthetic::make(120);
  const auto content = shown_content(r);
  const auto run = json::parse(kevo::run_json(content));
  // Boost.JSON may read the last binary digit of a number wrongly.
  CHECK(run.at("best").at("speedup").as_double() == doctest::Approx(r.best).epsilon(1e-14));
  CHECK(run.at("best").at("id").to_number<std::uint32_t>() == *content.best);
  CHECK(run.at("evaluations").to_number<std::uint64_t>() == r.ledger.evaluations);
  CHECK(run.at("ledger").at("confirmations").to_number<std::uint64_t>() == r.ledger.confirmations);
  CHECK(run.at("operators").as_array().size() == 3);
  CHECK(run.at("elites").as_array().size() == r.archive.size());
  const auto one = json::parse(kevo::candidate_json(content, candidate_of(content, r, *content.best), true));
  CHECK(one.at("champion").as_bool());
  CHECK(one.at("evaluation").at("workloads").as_array().size() == 3);
  CHECK(one.at("files").as_array().size() == 1);
  CHECK(one.at("lineage").as_array().back().to_number<std::uint32_t>() == *content.best);
  const auto nothing = json::parse(kevo::run_json({}));
  CHECK(nothing.at("best").is_null());
  CHECK(nothing.at("stopped_by").is_null());
  CHECK(kevo::run_text({}, {}).find("no valid candidate") != std::string::npos);
}
