// timeout: 60
// paradigm_shift: when strategies are asked for, which prompts show them, and for how long.

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "operators/llm/operators.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

/// What the server was asked, in short: i a call for strategies, 1, 2, 3 or - a proposal by the strategy that
/// its prompt shows.
struct adviser {
  std::string seen;
  std::string tried;  ///< of the latest call for strategies
  std::string answer = "<idea>STRATEGY_1</idea> and <idea>STRATEGY_2</idea>\n<idea>STRATEGY_3</idea>";

  scripted::answer operator()(const scripted::request& r) {
    if (has(r.body, "<idea>")) {
      seen += 'i';
      tried = r.body;
      return scripted::says(answer);
    }
    const bool first = has(r.body, "STRATEGY_1"), second = has(r.body, "STRATEGY_2");
    seen += first ? '1' : second ? '2' : has(r.body, "STRATEGY_3") ? '3' : '-';
    return scripted::says("Summary: s\n<<<<<<< SEARCH\nY[i] = 2 * X[i];\n=======\nY[i] = X[i] * " +
                          std::to_string(r.number) + ";\n>>>>>>> REPLACE");
  }
};

observation result(double score, std::uint64_t job = 1) {
  return {.candidate = 9,
          .outcome = score > 0 ? outcome::valid : outcome::incorrect,
          .score = score,
          .parent_score = 1.5,
          .job = job};
}

}  // namespace

TEST_CASE("a stalled run is given three strategies, two proposals each, before it is asked again") {
  adviser asked;
  scripted::server server([&](const scripted::request& r) { return asked(r); });
  bench b(server);
  const paradigm_shift op(b.settings());
  const auto turns = [&](int n) {
    for (int i = 0; i < n; ++i) b.vary(op);
    return std::exchange(asked.seen, {});
  };
  CHECK(turns(2) == "--");
  // Ten results, two of which improve on 1.5 and then on 1.6: a rate of 0.2.
  for (const double score : {1.6, 1.7, 1.65, 0.0, 1.0, 1.2, 1.3, 1.4, 1.0}) op.observe(result(score));
  CHECK(turns(2) == "--");  // nine results are no full window
  op.observe(result(1.0));
  CHECK(turns(2) == "--");  // 0.2 is not below 0.12
  op.observe(result(1.0, 0));
  CHECK(turns(1) == "-");  // measured again: no new result
  op.observe(result(1.0));
  CHECK(turns(7) == "i123123i1");  // one of ten; each strategy twice, and then a new call
  CHECK(has(asked.tried, "- no gain: STRATEGY_1"));
  CHECK(has(asked.tried, "- no gain: STRATEGY_3"));
  // An operator that knows nothing of strategies shows the one of now.
  llm_settings once = b.settings();
  once.attempts = 1;
  b.vary(llm_rewrite{once});
  CHECK(turns(5) == "123123");
  for (const double score : {1.8, 1.9}) op.observe(result(score));
  CHECK(turns(2) == "--");  // the strategies are used up, and the run does not stall any more
  b.vary(llm_rewrite{once});
  CHECK(turns(0) == "-");  // they left the notes, too
  for (int i = 0; i < 9; ++i) op.observe(result(1));
  CHECK(turns(1) == "i1");
  CHECK(has(asked.tried, "- the best score rose: STRATEGY_1"));
}

TEST_CASE("a reply without a strategy costs one call a window") {
  adviser asked;
  asked.answer = "I have none";
  scripted::server server([&](const scripted::request& r) { return asked(r); });
  bench b(server);
  const paradigm_shift op(b.settings(), {.window = 3});
  for (int i = 0; i < 3; ++i) op.observe(result(1));
  for (int i = 0; i < 4; ++i) b.vary(op);
  CHECK(asked.seen == "i----");
  for (int i = 0; i < 3; ++i) op.observe(result(1));
  b.vary(op);
  CHECK(asked.seen == "i----i-");
}
