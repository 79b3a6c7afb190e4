// labels: slow
// timeout: 300
// The operators against a real proxy: LiteLLM's, whose models answer with a fixed reply. Skipped where
// KEVO_LITELLM does not name the program `litellm` (pip install 'litellm[proxy]').

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/support/real_model_server.hpp"
#include "tests/support/skip.hpp"

namespace {

constexpr const char* key = "sk-kevo-test-0123456789abcdef";

/// A proxy with two models: `text` writes one reply that suits every operator, `tools` calls the agent's
/// tools.
constexpr const char* proxy_config = R"(
general_settings: {master_key: sk-kevo-test-0123456789abcdef}
model_list:
  - model_name: text
    litellm_params:
      model: openai/text
      api_key: none
      mock_response: "Summary: another number\n\nBottleneck: compute\nQuery: loops\nStep: 1\n<summary>Count on.</summary>\n\n## Performance Analysis\n1. it is higher\n\n## Algorithm Design\n1. count\n\n## Code Implementation\n\n```\nvalue 17\n```\n"
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

/// LiteLLM's proxy with `proxy_config`.
class proxy : public scripted::real_server {
 public:
  explicit proxy(const std::string& program)
      : real_server([&](const std::string& folder, int port) {
          shell::write_file(folder + "/proxy.yaml", proxy_config);
          ::setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True", 1);
          return std::vector<std::string>{program,     "--config", folder + "/proxy.yaml", "--host",
                                          "127.0.0.1", "--port",   std::to_string(port)};
        }) {}
};

std::string model_at(const proxy& server, const std::string& name, const std::string& more) {
  return "  models: [{name: m, url: \"" + server.url() + "\", model: " + name + ", key_env: KEVO_TEST_KEY, " +
         more + "retries: {tries: 1}}]\n";
}

}  // namespace

TEST_CASE("every operator gets a useful reply from LiteLLM's proxy") {
  const char* program = std::getenv("KEVO_LITELLM");
  if (program == nullptr || !std::filesystem::exists(program))
    return kevo_test::skip("KEVO_LITELLM does not name the program litellm");
  const proxy server(program);
  REQUIRE(server.ready("text", key));
  ::setenv("KEVO_TEST_KEY", key, 1);
  for (const std::string op :
       {"llm_rewrite", "llm_diff", "llm_crossover", "llm_repair", "llm_universal", "llm_contrastive",
        "macro_micro, policy: model", "summarize", "paradigm_shift", "agent"}) {
    for (const bool stream : {true, false}) {
      if (stream && op == "agent") continue;  // the proxy's fixed replies lose tool calls in a stream
      CAPTURE(op);
      CAPTURE(stream);
      const scripted::project p(
          model_at(server, op == "agent" ? "tools" : "text", stream ? "" : "stream: false, "),
          scripted::one_turn_of(op));
      scripted::add_second_seed(p);
      const auto ended = p.answer({"run", "config.yaml"});
      CHECK(ended.at("stopped_by").as_string() == "1 proposal");
      CHECK(ended.at("valid").to_number<int>() == 3);  // both seeds and value 17
      CHECK(ended.at("ledger").at("tokens_in").to_number<int>() > 0);
      CHECK(ended.at("ledger").at("tokens_out").to_number<int>() > 0);
    }
  }
  // A model that the proxy does not know: it says so at once.
  const scripted::project p(model_at(server, "nobody", ""), scripted::one_turn_of("llm_rewrite"));
  const auto unknown = p.kevo({"run", "config.yaml", "--plain"});
  const std::string said = unknown.out + unknown.err;
  CHECK_MESSAGE(
      said.find("warning: the server of the language model 'm' rejects the request") != std::string::npos,
      said);
  CHECK(said.find("Invalid model name") != std::string::npos);
}
