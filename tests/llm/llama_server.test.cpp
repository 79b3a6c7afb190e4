// labels: slow
// timeout: 300
// The model client and the operators against a real server of llama.cpp with a tiny model of random weights,
// to which a grammar leaves one reply, a reply without an end, or any. Skipped where KEVO_LLAMA_SERVER and
// KEVO_LLAMA_MODEL do not name the server's command and the model (docs/llm.md, "Common servers").

#include <cstdlib>
#include <sstream>

#include <doctest/doctest.h>

#include <kevo/journal.hpp>

#include "tests/support/real_model_server.hpp"
#include "tests/support/skip.hpp"

namespace {

/// A reply that suits every operator without tools.
const std::string fixed_reply =
    "Summary: another number\n\nBottleneck: compute\nQuery: loops\nStep: 1\n<summary>Count on.</summary>\n\n"
    "## Performance Analysis\n1. it is higher\n\n## Algorithm Design\n1. count\n\n## Code "
    "Implementation\n\n```\nvalue 17\n```\n";

std::string grammar_of(const std::string& text) {
  std::string rule = "root ::= \"";
  for (const char c : text) rule += c == '\n' ? std::string("\\n") : std::string(1, c);
  return rule + "\"\n";
}

/// The words of the server's command; empty if the test cannot run.
std::vector<std::string> command() {
  std::vector<std::string> words;
  if (const char* named = std::getenv("KEVO_LLAMA_SERVER"); named != nullptr) {
    std::istringstream stream(named);
    for (std::string word; stream >> word;) words.push_back(word);
  }
  if (std::getenv("KEVO_LLAMA_MODEL") == nullptr) words.clear();
  return words;
}

/// llama.cpp's server, whose replies follow a grammar if there is one.
class llama : public scripted::real_server {
 public:
  explicit llama(const std::string& grammar)
      : real_server([&](const std::string& folder, int port) {
          std::vector<std::string> words = command();
          for (const std::string& word :
               {std::string("-m"), std::string(std::getenv("KEVO_LLAMA_MODEL")), std::string("--port"),
                std::to_string(port), std::string("-c"), std::string("65536")})
            words.push_back(word);
          if (!grammar.empty()) {
            shell::write_file(folder + "/reply.gbnf", grammar);
            words.insert(words.end(), {"--grammar-file", folder + "/reply.gbnf"});
          }
          return words;
        }) {}
};

std::string model_at(const scripted::real_server& server, const std::string& more) {
  return "  patience: 0\n  models: [{name: m, url: \"" + server.url() + "\", " + more +
         "retries: {tries: 1}}]\n";
}

std::vector<kevo::model_call> calls_of(const scripted::project& p) {
  std::vector<std::int64_t> numbers;
  const auto run = kevo::journal::open_read_only((p.folder / "run").string());
  run.for_each_model_call([&](kevo::ticket, std::int64_t number) { numbers.push_back(number); });
  return run.model_calls(numbers);
}

bool cannot_run() {
  if (!command().empty()) return false;
  kevo_test::skip("KEVO_LLAMA_SERVER and KEVO_LLAMA_MODEL do not name a llama.cpp server and a model");
  return true;
}

}  // namespace

TEST_CASE("every operator gets a useful reply from llama.cpp's server, and its tokens are booked exactly") {
  if (cannot_run()) return;
  const llama server(grammar_of(fixed_reply));
  REQUIRE(server.ready("m"));
  for (const std::string op :
       {"llm_rewrite", "llm_diff", "llm_crossover", "llm_repair", "llm_universal", "llm_contrastive",
        "macro_micro, policy: model", "summarize", "paradigm_shift"}) {
    for (const bool stream : {true, false}) {
      CAPTURE(op);
      CAPTURE(stream);
      const scripted::project p(model_at(server, stream ? "" : "stream: false, "), scripted::one_turn_of(op));
      scripted::add_second_seed(p);
      const auto ended = p.answer({"run", "config.yaml"});
      CHECK(ended.at("stopped_by").as_string() == "1 proposal");
      CHECK(ended.at("valid").to_number<int>() == 3);  // both seeds and value 17
      const auto calls = calls_of(p);
      REQUIRE(!calls.empty());
      std::int64_t out = 0;
      for (const auto& call : calls) {
        CHECK(call.response.find("value 17") != std::string::npos);
        // The vocabulary is the bytes; the end of the reply is a token, too.
        CHECK(call.tokens_out >= static_cast<std::int64_t>(fixed_reply.size()));
        CHECK(call.tokens_out <= static_cast<std::int64_t>(fixed_reply.size()) + 1);
        CHECK(call.tokens_in > 300);
        out += call.tokens_out;
      }
      CHECK(ended.at("ledger").at("tokens_out").to_number<std::int64_t>() == out);
      const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});
      CHECK_MESSAGE(again.out.find("all decisions were the same") != std::string::npos,
                    again.out << again.err);
    }
  }
}

TEST_CASE("a reply of llama.cpp's server that does not end is cut, by its tokens or by a time-out") {
  if (cannot_run()) return;
  const llama server("root ::= [a-z] root\n");
  REQUIRE(server.ready("m"));
  const auto run = [&](const std::string& more, const std::string& settings) {
    const scripted::project p(model_at(server, more), scripted::one_turn_of("llm_rewrite, " + settings));
    p.answer({"run", "config.yaml", "--set", "stop={seconds: 8}"});
    return calls_of(p);
  };
  const auto cut = run("", "max_tokens: 200, attempts: 1");
  REQUIRE(!cut.empty());
  CHECK(cut.front().tokens_out == 200);
  const auto late = run("timeouts: {total: 1}, ", "max_tokens: 60000, attempts: 1");
  REQUIRE(!late.empty());
  CHECK(late.front().tokens_out > 200);  // what had arrived, or more
  CHECK(late.front().tokens_out <= 60000);
}

TEST_CASE("what a random model says makes no program and harms nothing, with and without tools") {
  if (cannot_run()) return;
  const llama server("");
  REQUIRE(server.ready("m"));
  for (const std::string op : {"llm_rewrite", "agent"}) {
    CAPTURE(op);
    const scripted::project p(model_at(server, ""), scripted::one_turn_of(op + ", max_tokens: 400"));
    const auto ended = p.answer({"run", "config.yaml"});
    CHECK(ended.at("valid").to_number<int>() == 1);
    CHECK(ended.at("ledger").at("tokens_out").to_number<int>() > 0);
    const auto again = p.kevo({"run", "--replay", "run", "--replay-models"});
    CHECK_MESSAGE(again.out.find("all decisions were the same") != std::string::npos, again.out << again.err);
  }
}
