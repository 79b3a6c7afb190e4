// labels: slow
// timeout: 300
// The operators against a real proxy: LiteLLM's, whose models answer with a fixed reply. Skipped where
// KEVO_LITELLM does not name the program `litellm` (pip install 'litellm[proxy]').

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/support/real_server.hpp"
#include "tests/support/skip.hpp"

using namespace llm_test;

namespace {

constexpr const char* key = "sk-kevo-test-0123456789abcdef";

/// A proxy with two models: `text` writes one reply that suits every operator, `tools` calls the agent's
/// tools.
std::string proxy_config() {
  return R"(
general_settings: {master_key: sk-kevo-test-0123456789abcdef}
model_list:
  - model_name: text
    litellm_params:
      model: openai/text
      api_key: none
      mock_response: )" +
         scripted::json_text(reply_for_all) + R"(
  - model_name: tools
    litellm_params:
      model: openai/tools
      api_key: none
      mock_response: ""
      mock_tool_calls:
        - {id: call_0, type: function, function: {name: write_file, arguments: '{"path": "seed.txt", "text": "value 17\n"}'}}
        - {id: call_1, type: function, function: {name: time, arguments: '{}'}}
        - {id: call_2, type: function, function: {name: submit, arguments: '{"summary": "another number"}'}}
)";
}

std::string model_at(const real_server& server, const std::string& name, const std::string& more) {
  return "  models: [{name: m, url: \"" + server.url() + "\", model: " + name + ", key_env: KEVO_TEST_KEY, " +
         more + "retries: {tries: 1}}]\n";
}

}  // namespace

TEST_CASE("every operator gets a useful reply from LiteLLM's proxy") {
  const char* program = std::getenv("KEVO_LITELLM");
  if (program == nullptr || !std::filesystem::exists(program))
    return kevo_test::skip("KEVO_LITELLM does not name the program litellm");
  const shell::scratch folder;
  shell::write_file(folder / "proxy.yaml", proxy_config());
  ::setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True", 1);
  const real_server server({program, "--config", (folder / "proxy.yaml").string()});
  REQUIRE(server.ready("text", key));
  ::setenv("KEVO_TEST_KEY", key, 1);
  for (const std::string& op : operators) {
    for (const bool stream : {true, false}) {
      if (stream && op == "agent") continue;  // the proxy's fixed replies lose tool calls in a stream
      CAPTURE(op);
      CAPTURE(stream);
      check_useful_turn(op,
                        model_at(server, op == "agent" ? "tools" : "text", stream ? "" : "stream: false, "));
    }
  }
  // A model that the proxy does not know: it says so at once.
  const scripted::project p(model_at(server, "nobody", ""), one_turn_of("llm_rewrite"));
  const auto unknown = p.kevo({"run", "config.yaml", "--plain"});
  const std::string said = unknown.out + unknown.err;
  CHECK_MESSAGE(
      said.find("warning: the server of the language model 'm' rejects the request") != std::string::npos,
      said);
  CHECK(said.find("Invalid model name") != std::string::npos);
}
