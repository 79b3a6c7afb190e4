// The command line itself: words that are no verbs, and the version.

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace {

shell::result kevo(std::vector<std::string> words) {
  return shell::run(shell::kevo(std::move(words)));
}

}  // namespace

TEST_CASE("a word that is no verb is named, with the nearest verb") {
  const auto near = kevo({"exprot", "runs/x"});
  CHECK(near.code == 2);
  CHECK(near.err.find("no verb 'exprot'") != std::string::npos);
  CHECK(near.err.find("did you mean 'export'?") != std::string::npos);

  const auto far = kevo({"frobnicate"});
  CHECK(far.code == 2);
  CHECK(far.err.find("no verb 'frobnicate'") != std::string::npos);
  CHECK(far.err.find("resume") != std::string::npos);
  CHECK(far.err.find("kevo --help") != std::string::npos);

  const auto nested = kevo({"task", "chekc", "task.yaml"});
  CHECK(nested.code == 2);
  CHECK(nested.err.find("kevo task has no verb 'chekc' (did you mean 'check'?") != std::string::npos);

  const auto as_json = kevo({"frobnicate", "--json"});
  CHECK(as_json.code == 2);
  CHECK(as_json.err.empty());
  CHECK(boost::json::parse(as_json.out).at("error").at("code") == "usage");
}

TEST_CASE("a known verb with wrong words is told of these words, not of the verb") {
  const auto ended = kevo({"show", "--limti", "3"});
  CHECK(ended.code == 2);
  CHECK(ended.err.find("no verb") == std::string::npos);
  CHECK(kevo({}).err.find("no verb") == std::string::npos);
}

TEST_CASE("--version says what the verb says") {
  const auto flag = kevo({"--version"});
  CHECK(flag.code == 0);
  CHECK(flag.out.starts_with("kevo "));
  CHECK(flag.out == kevo({"version"}).out);
}
