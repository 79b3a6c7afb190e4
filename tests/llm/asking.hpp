#pragma once
// Clients of a scripted server.

#include <string>

#include "src/llm/language_models.hpp"
#include "tests/support/llm_server.hpp"

namespace llm_test {

using namespace kevo;

inline endpoint_settings settings_for(const scripted::server& server, bool stream = false) {
  endpoint_settings s;
  s.url = server.url();
  s.key = "sk-secret-123";
  s.dialect = {.model = "m", .stream = stream};
  s.limits = {.connect_s = 2, .first_s = 0.4, .total_s = 1.5, .body_bytes = 1U << 21U};
  s.retries = {.tries = 3, .first_s = 0.01, .longest_s = 2};
  return s;
}

inline const chat_request hello{.messages = {{"system", "be brief"}, {"user", "hello \"you\"\n"}},
                                .tools = {},
                                .sampling = {.max_tokens = 8192}};

inline chat_reply asked(const scripted::server& server, bool stream = false) {
  endpoint model(settings_for(server, stream));
  return model.chat(hello, {});
}

inline chat_reply asked(const scripted::answer& always, bool stream = false) {
  scripted::server server([&](const scripted::request&) { return always; });
  return asked(server, stream);
}

inline language_models models_of(const scripted::server& server, double max_money,
                                 cassette_mode mode = cassette_mode::off, const std::string& path = {}) {
  model_settings one{
      .name = "small", .price = {.input = 1000, .output = 10000}, .server = settings_for(server)};
  one.server.limits.first_s = 5;
  one.server.limits.total_s = 5;
  return language_models({.models = {one}, .max_money = max_money, .mode = mode, .cassette_path = path});
}

}  // namespace llm_test
