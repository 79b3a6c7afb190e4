// kevo init --model: a config with a language model that is read, for an address and for names.

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/has.hpp"
#include "tests/support/llm_server.hpp"

namespace {

struct made_project {
  shell::result init;
  std::string config;
  shell::result read;
};

made_project made_with(const std::string& model, const std::string& kind = "cpu") {
  const shell::scratch folder;
  made_project made;
  made.init = shell::run(shell::kevo({"init", "own", "--template", kind, "--model", model}), folder.string());
  if (made.init.code != 0) return made;
  made.config = shell::read_file(folder / "own/config.yaml");
  made.read = shell::run(shell::kevo({"run", "own/config.yaml", "--print-config"}), folder.string());
  return made;
}

}  // namespace

TEST_CASE("a name tells the provider, and the config is read and has operators that ask the model") {
  ::unsetenv("OPENAI_BASE_URL");
  ::unsetenv("OPENAI_API_KEY");
  const struct {
    const char* name;
    const char* url;
    const char* key;
  } all[] = {{"gpt-5", "https://api.openai.com/v1", "OPENAI_API_KEY"},
             {"claude-opus-4-6", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"},
             {"gemini-3-flash", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"},
             {"qwen/qwen3-coder", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
             {"qwen3-coder:30b", "http://localhost:11434/v1", ""}};
  for (const auto& one : all) {
    CAPTURE(one.name);
    const made_project made = made_with(one.name);
    REQUIRE_MESSAGE(made.init.code == 0, made.init.err);
    CHECK(has(made.init.out, "kevo run --check own/config.yaml"));
    CHECK_MESSAGE(has(made.config, one.url), made.config);
    CHECK(has(made.config, std::string("\"") + one.name + "\""));
    CHECK(has(made.config, "{type: llm_rewrite}"));
    CHECK_MESSAGE(made.read.code == 0, made.read.err);
    if (*one.key != 0) CHECK(has(made.config, std::string("key_env: ") + one.key));
  }
  for (const char* kind : {"openmp", "cuda", "triton", "command"}) {
    const made_project made = made_with("gpt-5", kind);
    CHECK_MESSAGE(made.read.code == 0, made.read.err);
  }
}

TEST_CASE("of a server the first model that it lists is used, and a password is refused") {
  scripted::server server([](const scripted::request&) -> scripted::answer {
    return {.body = R"({"object":"list","data":[{"id":"first-model"},{"id":"second"}]})"};
  });
  const made_project made = made_with(server.url());
  REQUIRE_MESSAGE(made.init.code == 0, made.init.err);
  CHECK(server.seen().at(0).head.starts_with("GET /v1/models HTTP/1.1\r\n"));
  CHECK(has(made.config, "model: \"first-model\""));
  CHECK(has(made.init.out, "has 2 models"));
  CHECK_MESSAGE(made.read.code == 0, made.read.err);
  const made_project silent = made_with("http://127.0.0.1:1/v1");
  CHECK(silent.init.code == 0);
  CHECK(has(silent.init.out, "does not list its models"));
  const made_project refused = made_with("http://me:hunter2@127.0.0.1:1/v1");
  CHECK(refused.init.code == 2);
  CHECK_MESSAGE(!has(refused.init.err, "hunter2"), refused.init.err);
}
