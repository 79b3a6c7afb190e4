// labels: slow
// timeout: 120
// A whole run against a server of which nine requests in ten go wrong, each in another way: it ends by its
// stop rule, loses no evaluation, books every token that the server charged, and keeps to its money.

#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "src/journal/journal.hpp"
#include "src/llm/recorded_reply.hpp"
#include "tests/support/llm_project.hpp"

using namespace kevo;

namespace {

constexpr double price_in = 1000;   ///< money for a million tokens
constexpr double price_out = 2000;  ///< money for a million tokens

/// Ten kinds of answer, each to a tenth of the requests, in an order that looks random.
struct faulty_model {
  std::array<std::atomic<int>, 10> given{};
  std::atomic<long long> untold_in = 0;  ///< charged, and cut off before it was said
  std::atomic<long long> untold_out = 0;

  static bool from_agent(const scripted::request& r) {
    return r.body.find("\"name\":\"write_file\"") != std::string::npos;
  }
  scripted::answer good(const scripted::request& r, int in, int out) const {
    const auto n = static_cast<long long>(1000 + r.number);
    if (from_agent(r)) return scripted::calls(scripted::agent_turn(n), in, out);
    const bool streamed = r.number % 2 == 0;
    return streamed ? scripted::streams(scripted::value_reply(n), in, out)
                    : scripted::says(scripted::value_reply(n), in, out);
  }
  scripted::answer cut_off(scripted::answer what, std::size_t after) {
    what.cut = after;
    untold_in += std::exchange(what.tokens_in, 0);
    untold_out += std::exchange(what.tokens_out, 0);
    return what;
  }

  static scripted::answer megabyte(int in, int out) {
    scripted::answer made = scripted::says("TEXT", in, out);
    made.body.replace(made.body.find("TEXT"), 4, std::string(1U << 20U, 'x'));
    return made;
  }

  scripted::answer operator()(const scripted::request& r) {
    const auto kind = (r.number / 10 * 7 + r.number * 3) % 10;
    ++given[kind];
    const int in = 100 + static_cast<int>(r.number % 50);
    const int out = 20 + static_cast<int>(r.number % 31);
    const auto n = static_cast<long long>(1000 + r.number);
    switch (kind) {
      case 0:
        return {.status = 429,
                .headers = r.number % 3 == 0 ? "Retry-After: 1\r\n" : "Retry-After: 0\r\n",
                .body = "{}"};
      case 1:
        return {.status = 500, .body = "oops \xff\xfe"};
      case 2:
        return {.hang = true};
      case 3: {  // half a body: every other server says the charge first
        scripted::answer half = scripted::says(scripted::value_reply(n), in, out);
        if (r.number % 4 < 2) return cut_off(half, half.body.size() / 2);
        half.body = "{\"usage\":{\"prompt_tokens\":" + std::to_string(in) +
                    ",\"completion_tokens\":" + std::to_string(out) + "},\"choices\":[{\"message\":{\"cont";
        return half;
      }
      case 4: {  // a stream that ends early: every other server says the charge with each event
        scripted::answer stream = scripted::streams(scripted::value_reply(n), in, out);
        if (r.number % 4 < 2) return cut_off(stream, stream.body.size() / 3);
        stream.body =
            "data: {\"choices\":[{\"delta\":{\"content\":\"Summ\"}}],\"usage\":{\"prompt_tokens\":" +
            std::to_string(in) + ",\"completion_tokens\":" + std::to_string(out) +
            "}}\n\ndata: {\"choices\":[{\"del";
        return stream;
      }
      case 5: {
        scripted::answer page = scripted::says(scripted::value_reply(n), in, out);
        page.content_type = "text/html";
        return page;
      }
      case 6:
        return megabyte(in, out);
      case 7: {
        scripted::answer broken = scripted::says(scripted::value_reply(n), in, out);
        broken.body.insert(broken.body.find("\"choices\":") + 10, "}");
        return broken;
      }
      case 8:
        return scripted::calls({{"write_file", "{\"path\": \"seed.txt\", \"te"}, {"time", "[1"}}, in, out);
      default:
        return good(r, in, out);
    }
  }
};

std::string llm_of(const scripted::server& server, const std::string& more = {}) {
  return "  models:\n    - {name: m, url: \"" + server.url() +
         "\", concurrency: 96, price: {input: 1000, output: 2000},\n"
         "       timeouts: {connect: 10, first: 0.7, total: 10}, retries: {tries: 6, first: 0.01, longest: "
         "2}}\n" +
         more;
}
constexpr const char* search_of_500 =
    "run: {name: faults, output: run, parallel: {variations: 96, builds: 2, proposals_ahead: 64}}\n"
    "archive: {type: top_k, k: 20}\nselect: {type: greedy}\n"
    "vary:\n  portfolio: {type: uniform}\n  operators:\n"
    "    - {type: llm_rewrite, concurrency: 96, attempts: 3, similarity: 2, max_tokens: 200}\n"
    "    - {type: llm_repair, concurrency: 96, attempts: 3, similarity: 2, max_tokens: 200}\n"
    "    - {type: agent, concurrency: 96, similarity: 2, max_tokens: 200, limits: {steps: 8}}\n"
    "stop: {any: [{proposals: 500}, {seconds: 100}]}\n";

double money_of(long long in, long long out) {
  return (static_cast<double>(in) * price_in + static_cast<double>(out) * price_out) / 1e6;
}

struct booked {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t estimated = 0;
  double money = 0;
};

/// What the journal says of all calls.
booked calls_in(const journal& record) {
  booked sum;
  record.for_each_model_call([&](ticket, std::int64_t number) {
    for (const model_call& call : record.model_calls(std::vector{number})) {
      sum.in += call.tokens_in;
      sum.out += call.tokens_out;
      sum.estimated += reply_of_json(call.response).tokens_estimated;
      sum.money += call.money;
    }
  });
  return sum;
}

/// Every evaluation that was begun was told, and every judgement of the script is one that was told. What a
/// turn had measured of its proposal is told again, at no cost.
void check_evaluations(const journal& record, const scripted::project& p) {
  std::set<ticket> out;
  std::size_t told = 0;
  record.for_each_event([&](const event& e) {
    if (const auto* asked = std::get_if<evaluation_asked>(&e.payload)) out.insert(asked->job);
    if (const auto* done = std::get_if<evaluation_told>(&e.payload)) out.erase(done->job);
    const auto* done = std::get_if<evaluation_told>(&e.payload);
    const bool judged = done != nullptr && done->result->cost.wall_s > 0;
    told += judged || std::holds_alternative<draft_evaluated>(e.payload) ? 1U : 0U;
  });
  CHECK(out.empty());
  CHECK(told == p.judged());
}

}  // namespace

TEST_CASE("500 proposals while nine requests in ten go wrong") {
  faulty_model model;
  scripted::server server([&](const scripted::request& r) { return model(r); });
  server.remember(false);
  const scripted::project p(llm_of(server), search_of_500);
  const auto ended = p.answer({"run", "config.yaml"});
  CHECK(ended.at("stopped_by").as_string() == "500 proposals");
  const auto& ledger = ended.at("ledger").as_object();
  CHECK(ledger.at("proposals").to_number<int>() >= 500);

  const auto total = static_cast<double>(server.requests());
  for (std::size_t kind = 0; kind < model.given.size(); ++kind) {
    CAPTURE(kind);
    CHECK(model.given[kind] / total == doctest::Approx(0.1).epsilon(0.05));
  }
  MESSAGE(server.requests() << " requests, " << ledger.at("proposals") << " proposals, "
                            << ledger.at("elapsed_s") << " s");

  const auto record = journal::open_read_only((p.folder / "run").string());
  check_evaluations(record, p);
  const booked calls = calls_in(record);
  CHECK(ledger.at("tokens_in").to_number<std::int64_t>() == calls.in);
  CHECK(ledger.at("tokens_out").to_number<std::int64_t>() == calls.out);
  CHECK(ledger.at("money").to_number<double>() == doctest::Approx(calls.money).epsilon(1e-9));
  CHECK(calls.money == doctest::Approx(money_of(calls.in, calls.out)).epsilon(1e-9));
  // To the token: what the server told is what was booked. What it charged and could not tell is an estimate.
  CHECK(calls.in + calls.out - calls.estimated == server.tokens_in() + server.tokens_out());
  CHECK(model.untold_in > 0);
  CHECK(calls.estimated > model.untold_in + model.untold_out);
}

TEST_CASE("a money cap bites in the middle of it, and holds") {
  faulty_model model;
  scripted::server server([&](const scripted::request& r) { return model(r); });
  server.remember(false);
  constexpr double cap = 60;
  SUBCASE("the cap alone") {
    const scripted::project p(llm_of(server, "  max_money: 60\n"), search_of_500);
    const auto ended = p.answer({"run", "config.yaml"});
    CHECK(ended.at("stopped_by").as_string() == "operators exhausted");
    const auto& ledger = ended.at("ledger").as_object();
    CHECK(ledger.at("proposals").to_number<int>() < 500);
    CHECK(ledger.at("money").to_number<double>() <= cap);
    CHECK(ledger.at("money").to_number<double>() > 0.9 * cap);
    const auto record = journal::open_read_only((p.folder / "run").string());
    check_evaluations(record, p);
    const booked calls = calls_in(record);
    CHECK(calls.in + calls.out - calls.estimated == server.tokens_in() + server.tokens_out());
  }
  SUBCASE("a stop rule below the cap") {
    const scripted::project p(llm_of(server, "  max_money: 60\n"), search_of_500);
    const auto ended =
        p.answer({"run", "config.yaml", "--set", "stop={any: [{proposals: 500}, {money: 40}]}"});
    CHECK(ended.at("stopped_by").as_string() == "spent 40");
    CHECK(ended.at("ledger").as_object().at("money").to_number<double>() <= cap);
  }
  // By the server's own account, what it could not tell included.
  const double charged =
      money_of(server.tokens_in() + model.untold_in, server.tokens_out() + model.untold_out);
  CHECK(charged <= cap);
}
