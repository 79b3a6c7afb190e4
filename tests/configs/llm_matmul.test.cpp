// labels: slow
// timeout: 300
// one processor
// configs/llm_matmul.yaml with the replies that were written by hand for it: offline, and faster than the
// seed for real.

#include <cstdlib>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace json = boost::json;

TEST_CASE("a config with language models runs offline from its cassette and improves on its seed") {
  const shell::scratch folder;
  // A proxy that leads nowhere: whoever opened a connection would fail.
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto kevo = [&](std::vector<std::string> words) {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  };
  const auto ended = kevo({"run", KEVO_SOURCE_DIR "/configs/llm_matmul.yaml", "--replay-models", "--json",
                           "--set", "run.output=run"});
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  const json::object all = json::parse(ended.out).as_object();
  const double speedup = all.at("best").at("speedup").to_number<double>();
  CHECK(speedup > 3);
  MESSAGE("speedup over the seed: " << speedup);
  CHECK(all.at("ledger").at("tokens_in").to_number<int>() > 1000);
  CHECK(all.at("ledger").at("money").to_number<double>() > 0);

  // What was sent and what came back is in the journal, with what it cost.
  const auto shown = kevo({"show", "run", "best", "--prompt"});
  REQUIRE_MESSAGE(shown.code == 0, shown.err);
  CHECK(shown.out.find("--- system") != std::string::npos);
  CHECK(shown.out.find("## Parent: #") != std::string::npos);
  CHECK(shown.out.find("for (int64_t k = 0; k < K; ++k)") != std::string::npos);
  CHECK(shown.out.find("Summary:") != std::string::npos);
  const auto row = kevo({"show", "run", "best", "--json"});
  CHECK(row.out.find("llm_") != std::string::npos);

  // The same decisions again from the journal alone.
  const auto again = kevo({"run", "--replay", "run"});
  CHECK_MESSAGE(again.out.find("all decisions were the same") != std::string::npos, again.out << again.err);

  // Operators included: with the replies and the drafts that the journal holds.
  const auto whole = kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(whole.out.find("all decisions were the same") != std::string::npos, whole.out << whole.err);
  CHECK_MESSAGE(whole.out.find("recorded replies of models were used") != std::string::npos, whole.out);
}
