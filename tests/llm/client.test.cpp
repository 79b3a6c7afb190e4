// timed
// timeout: 120
// The client against a scripted server on real sockets: protocol, faults, retries, limits, TLS.

#include <chrono>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/base/text/utf8.hpp"
#include "src/llm/language_models.hpp"
#include "src/llm/recorded_reply.hpp"
#include "tests/llm/asking.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;
using namespace std::chrono_literals;

TEST_CASE("a request says what the protocol wants, and an answer comes back whole, streamed or not") {
  scripted::server server([](const scripted::request& r) {
    return r.body.find("\"stream\":true") != std::string::npos
               ? scripted::streams("Grüße, \"x\"\n\tdone", 7, 9)
               : scripted::says("Grüße, \"x\"\n\tdone", 7, 9);
  });
  for (const bool stream : {false, true}) {
    const chat_reply reply = asked(server, stream);
    CHECK(reply.ok());
    CHECK(reply.content == "Grüße, \"x\"\n\tdone");
    CHECK(reply.tokens_in == 7);
    CHECK(reply.tokens_out == 9);
    CHECK(reply.model == "scripted-1");
    CHECK(reply.tries == 1);
  }
  const auto seen = server.seen();
  CHECK(seen[0].head.find("POST /v1/chat/completions HTTP/1.1") == 0);
  CHECK(seen[0].head.find("Authorization: Bearer sk-secret-123") != std::string::npos);
  CHECK(seen[0].body.find(R"({"role":"user","content":"hello \"you\"\n"})") != std::string::npos);
  CHECK(seen[1].body.find("\"include_usage\":true") != std::string::npos);
}

TEST_CASE("thinking is kept apart, in fields and in the text") {
  CHECK(asked(scripted::says("<think>hm</think>\nso")).reasoning == "hm");
  CHECK(asked(scripted::says("<think>hm</think>\nso")).content == "\nso");
  // The prompt's template ends with the opening mark.
  CHECK(asked(scripted::says("hm, ```cpp\nint a;\n</think>\nso")).reasoning == "hm, ```cpp\nint a;\n");
  CHECK(asked(scripted::says("hm</think>\nso")).content == "\nso");
  CHECK(asked(scripted::says("write `<think>`, then `</think>`")).reasoning.empty());
  const chat_reply field = asked(scripted::answer{
      .body = R"({"choices":[{"message":{"content":"a","reasoning_content":"b"},"finish_reason":"stop"}]})"});
  CHECK(field.content == "a");
  CHECK(field.reasoning == "b");
  const chat_reply tool = asked(scripted::calls({{"compile", "{\"x\": 1"}}));
  REQUIRE(tool.tool_calls.size() == 1);
  CHECK(tool.ok());
  CHECK(tool.tool_calls[0].arguments == "{\"x\": 1");
}

TEST_CASE("tokens that the server had in its cache are told apart, and have a price of their own") {
  const auto cached = [](const std::string& usage) {
    return asked(scripted::answer{
        .body = R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],)" + usage + "}"});
  };
  for (const char* usage :
       {R"("usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":80}})",
        R"("usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":80})"}) {
    const chat_reply reply = cached(usage);
    CHECK(reply.tokens_in == 100);
    CHECK(reply.tokens_cached == 80);
    CHECK(reply_of_json(reply_json(reply)).tokens_cached == 80);
  }
  CHECK(cached(R"("usage":{"prompt_tokens":100,"completion_tokens":5})").tokens_cached == 0);
  CHECK(price_of({.input = 1e6, .output = 2e6, .cached = 1e5}, 100, 5, 80) == doctest::Approx(38));
  CHECK(price_of({.input = 1e6, .output = 2e6}, 100, 5, 80) == doctest::Approx(110));
}

TEST_CASE("what is wrong with an answer is told apart") {
  using status = reply_status;
  const auto status_of = [](const scripted::answer& a, bool stream = false) {
    return asked(a, stream).status;
  };
  CHECK(status_of(scripted::says("half a", 5, 5, "length")) == status::truncated);
  CHECK(status_of(scripted::says("  \n")) == status::empty);
  CHECK(status_of(scripted::says("", 1, 1, "content_filter")) == status::refused);
  CHECK(
      status_of(
          {.body = R"({"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]})"}) ==
      status::refused);
  CHECK(status_of({.body = "{\"choices\":"}) == status::malformed);
  CHECK(status_of({.body = "[1]"}) == status::malformed);
  CHECK(status_of({.body = "{}"}) == status::malformed);
  CHECK(status_of({.content_type = "text/html", .body = "<html>"}) == status::malformed);
  auto unnamed = scripted::says("an answer");
  unnamed.content_type.clear();
  CHECK(status_of(unnamed) == status::ok);
  unnamed.content_type = "text/html";
  CHECK(asked(unnamed, false).detail.find("content type 'text/html'") != std::string::npos);
  CHECK(status_of({.status = 401, .body = R"({"error":{"message":"no"}})"}) == status::unauthorized);
  CHECK(status_of({.status = 403, .body = R"({"error":{"message":"no"}})"}) == status::rejected);
  CHECK(status_of({.status = 500, .body = "oops"}) == status::server_error);
  CHECK(status_of({.status = 429, .body = "{}"}) == status::rate_limited);
  auto cut = scripted::says("a long answer");
  cut.cut = 20;
  CHECK(status_of(cut) == status::disconnected);
  auto stream = scripted::streams("a long answer that is cut");
  stream.body.resize(150);
  CHECK(status_of(stream, true) == status::malformed);
  auto megabytes = scripted::says(std::string(3U << 20U, 'x'));
  CHECK(status_of(megabytes) == status::malformed);
  CHECK(status_of(scripted::says(std::string(1U << 20U, 'x'))) == status::ok);
  const chat_reply babble = asked(scripted::says(std::string((1U << 20U) + 128, 'x'), 7, 9));
  CHECK(babble.status == status::malformed);  // more than its tokens can hold, and not kept
  CHECK(babble.content.empty());
  CHECK(babble.tokens_out == 3 * 9);
  CHECK(status_of({.hang = true}) == status::timed_out);
  // A key that the server repeats does not come through.
  const chat_reply told =
      asked(scripted::answer{.status = 401, .body = R"({"error":{"message":"bad key sk-secret-123!"}})"});
  CHECK(told.detail.find("bad key [key]!") != std::string::npos);
  endpoint nobody({.url = "http://127.0.0.1:1/v1", .dialect = {.model = "m"}, .retries = {.tries = 1}});
  CHECK(nobody.chat(hello, {}).status == status::disconnected);
}

TEST_CASE("calls are tried again where that may help, and Retry-After is honoured") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    if (r.number == 0) return {.status = 429, .headers = "Retry-After: 1\r\n", .body = "{}"};
    if (r.number == 1) return {.status = 503, .body = "{}"};
    return scripted::says("at last");
  });
  const chat_reply reply = asked(server);
  CHECK(reply.ok());
  CHECK(reply.tries == 3);
  CHECK(reply.wall_s >= 1.0);
  scripted::server refuses(
      [](const scripted::request&) -> scripted::answer { return {.status = 400, .body = "{}"}; });
  CHECK(asked(refuses).tries == 1);
  scripted::server later([](const scripted::request&) -> scripted::answer {
    return {.status = 429, .headers = "Retry-After: 3600\r\n", .body = "{}"};
  });
  CHECK(asked(later).tries == 1);
  const auto now = std::chrono::system_clock::from_time_t(784111777);  // Sun, 06 Nov 1994 08:49:37 GMT
  CHECK(retry_after_seconds("Sun, 06 Nov 1994 08:50:07 GMT", now) == doctest::Approx(30));
  CHECK(retry_after_seconds("2.5", now) == doctest::Approx(2.5));
  CHECK(retry_after_seconds("soon", now) == 0);
}

TEST_CASE("a stop ends a call that hangs") {
  scripted::server server([](const scripted::request&) -> scripted::answer { return {.hang = true}; });
  endpoint_settings patient = settings_for(server);
  patient.limits = {.connect_s = 5, .first_s = 30, .total_s = 30};
  endpoint model(patient);
  std::stop_source stop;
  const std::jthread later([&] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });
  const auto began = std::chrono::steady_clock::now();
  CHECK(model.chat(hello, stop.get_token()).status == reply_status::cancelled);
  CHECK(std::chrono::steady_clock::now() - began < 5s);
}

TEST_CASE("TLS is verified: the right certificate, and the right name") {
  scripted::server server([](const scripted::request&) { return scripted::says("sealed"); }, true);
  endpoint_settings s = settings_for(server);
  CHECK(endpoint(s).chat(hello, {}).status == reply_status::rejected);  // nobody vouches for it
  s.ca_file = server.ca_file();
  const chat_reply sealed = endpoint(s).chat(hello, {});
  CHECK_MESSAGE(sealed.ok(), sealed.detail);
  CHECK(sealed.content == "sealed");
  s.url = "https://127.0.0.1:" + std::to_string(server.port()) + "/v1";  // it vouches for localhost alone
  CHECK(endpoint(s).chat(hello, {}).status == reply_status::rejected);
}

TEST_CASE("proxies come from the environment") {
  ::setenv("http_proxy", "http://user:p%40ss@proxy.example:3128", 1);
  ::setenv("no_proxy", "localhost, .internal,10.0.0.1:8000", 1);
  CHECK(proxy_from_environment(parse_url("http://api.example/v1"))->host == "proxy.example");
  CHECK(proxy_from_environment(parse_url("http://api.example/v1"))->user == "user:p@ss");
  CHECK(!proxy_from_environment(parse_url("http://localhost:8000/v1")));
  CHECK(!proxy_from_environment(parse_url("http://a.internal/v1")));
  CHECK(!proxy_from_environment(parse_url("http://10.0.0.1:8000/v1")));
  CHECK(proxy_from_environment(parse_url("http://10.0.0.1:8001/v1")));
  CHECK(!proxy_from_environment(parse_url("https://api.example/v1")));
  scripted::server server([](const scripted::request&) { return scripted::says("through"); });
  ::setenv("http_proxy", ("http://user:pw@127.0.0.1:" + std::to_string(server.port())).c_str(), 1);
  ::unsetenv("no_proxy");
  endpoint_settings s = settings_for(server);
  s.url = "http://far.example/v1";
  CHECK(endpoint(s).chat(hello, {}).content == "through");
  CHECK(server.seen()[0].head.find("POST http://far.example:80/v1/chat/completions") == 0);
  CHECK(server.seen()[0].head.find("Proxy-Authorization: Basic dXNlcjpwdw==") != std::string::npos);
  ::unsetenv("http_proxy");
}

TEST_CASE("TLS goes through a proxy by CONNECT, and is verified end to end") {
  scripted::server server([](const scripted::request&) { return scripted::streams("sealed"); }, true);
  scripted::proxy through(server.port());
  endpoint_settings s = settings_for(server, true);
  s.ca_file = server.ca_file();
  s.limits.connect_s = 5;
  s.limits.first_s = 5;
  s.limits.total_s = 5;
  ::setenv("https_proxy", ("http://me:secret@127.0.0.1:" + std::to_string(through.port())).c_str(), 1);
  const chat_reply sealed = endpoint(s).chat(hello, {});
  CHECK_MESSAGE(sealed.content == "sealed", sealed.detail);
  REQUIRE(through.asked().size() == 1);
  const std::string head = through.asked()[0];
  CHECK(head.find("CONNECT localhost:" + std::to_string(server.port()) + " HTTP/1.1\r\n") == 0);
  CHECK(head.find("Proxy-Authorization: Basic bWU6c2VjcmV0") != std::string::npos);
  CHECK(head.find("sk-secret-123") == std::string::npos);  // the key is for the server alone
  CHECK(server.seen()[0].head.find("Bearer sk-secret-123") != std::string::npos);
  CHECK(server.seen()[0].head.find("Proxy-Authorization") == std::string::npos);

  // A name that the certificate does not hold is refused, though the proxy leads to the same server.
  s.url = "https://elsewhere.example:" + std::to_string(server.port()) + "/v1";
  s.retries.tries = 1;
  CHECK(endpoint(s).chat(hello, {}).status == reply_status::rejected);
  CHECK(through.asked()[1].find("CONNECT elsewhere.example:") == 0);

  // no_proxy goes straight to the server.
  ::setenv("NO_PROXY", "example.com,localhost", 1);
  s.url = server.url();
  CHECK(endpoint(s).chat(hello, {}).content == "sealed");
  CHECK(through.asked().size() == 2);
  ::unsetenv("NO_PROXY");

  scripted::proxy refuses(server.port(), "407 Proxy Authentication Required");
  ::setenv("https_proxy", ("http://127.0.0.1:" + std::to_string(refuses.port())).c_str(), 1);
  const chat_reply refused = endpoint(s).chat(hello, {});
  CHECK(refused.status == reply_status::disconnected);
  CHECK_MESSAGE(refused.detail.find("the proxy answered 407 to CONNECT") != std::string::npos,
                refused.detail);
  ::unsetenv("https_proxy");
}

TEST_CASE("bytes that are no UTF-8 break neither a request nor a reply nor a cassette") {
  const std::string broken = "caf\xe9 \xff\xc3(\xed\xa0\x80 end";
  scripted::server server([&](const scripted::request& r) {
    CHECK(r.body.find("caf\xef\xbf\xbd ") != std::string::npos);  // U+FFFD, in messages and in arguments
    CHECK(r.body.find('\xff') == std::string::npos);
    return r.number == 0 ? scripted::says("Gr\xfc\xdf" + broken)
                         : scripted::answer{.status = 400, .body = "sorry " + broken};
  });
  chat_request request = hello;
  request.messages.push_back({"tool", broken, {}, "id"});
  request.messages.push_back({"assistant", "", {{"id", "time", broken}}});
  const shell::scratch folder;
  const std::string path = (folder / "tape.yaml").string();
  auto models = models_of(server, 0, cassette_mode::record, path);
  std::vector<model_call> calls;
  variation_services services;
  services.record = [&](const model_call& c) { calls.push_back(c); };
  variation_request owner;
  owner.services = std::make_shared<const variation_services>(services);
  const chat_reply good = models.ask({.operator_name = "op"}, request, owner);
  CHECK(good.ok());
  CHECK(good.content == "Gr\xef\xbf\xbd\xef\xbf\xbd" + as_utf8(broken));
  const chat_reply bad = models.ask({.operator_name = "op"}, request, owner);
  CHECK(bad.detail == "the server answered 400: sorry " + as_utf8(broken));
  REQUIRE(calls.size() == 2);
  for (const auto& call : calls) {
    CHECK(as_utf8(call.messages) == call.messages);
    CHECK(as_utf8(call.response) == call.response);
    const chat_reply again = reply_of_json(call.response);
    CHECK(again.content == (&call == calls.data() ? good.content : ""));
  }
  CHECK(cassette(path, cassette_mode::replay).find({"op", "small", 0})->reply.content == good.content);
  CHECK(cassette(path, cassette_mode::replay).find({"op", "small", 1})->reply.detail == bad.detail);
}

TEST_CASE("a charge is booked wherever the server names it, and estimated where it cannot") {
  const auto tokens = [](const scripted::answer& a, bool stream = false) {
    scripted::server server([&](const scripted::request&) { return a; });
    endpoint_settings s = settings_for(server, stream);
    s.retries.tries = 1;
    return endpoint(s).chat(hello, {});
  };
  auto page = scripted::says("x", 7, 9);
  page.content_type = "text/html";
  CHECK(tokens(page).tokens_in == 7);
  CHECK(tokens(page).tokens_out == 9);
  auto broken = scripted::says("x", 7, 9);
  broken.body[1] = '}';
  CHECK(tokens(broken).tokens_out == 9);
  CHECK(tokens(broken).tokens_estimated == 0);
  CHECK(
      tokens({.status = 500, .body = R"({"error":"late","usage":{"prompt_tokens":7,"completion_tokens":9}})"})
          .tokens_in == 7);
  // A quoted usage is the model's text, not the server's word.
  auto quoted = scripted::says(R"({"usage":{"prompt_tokens":1000000,"completion_tokens":1}})", 7, 9);
  quoted.content_type = "text/html";
  CHECK(tokens(quoted).tokens_in == 7);
  auto cut = scripted::says(std::string(300, 'x'), 7, 9);
  cut.cut = 200;
  CHECK(tokens(cut).tokens_estimated == tokens(cut).tokens_in + tokens(cut).tokens_out);
  CHECK(tokens(cut).tokens_out == estimated_tokens(200));
  CHECK(tokens({.body = R"({"choices":[{"message":{"content":"free"},"finish_reason":"stop"}]})"})
            .tokens_estimated > 0);
  CHECK(tokens({.status = 500, .body = "oops"}).tokens_in == 0);
  // A server that was sent the request and says nothing may have written all that it was allowed to.
  CHECK(tokens({.hang = true}).tokens_in == estimated_tokens(hello));
  CHECK(tokens({.hang = true}).tokens_out == hello.sampling.max_tokens);
  CHECK(tokens({.hang = true}).tokens_estimated == estimated_tokens(hello) + hello.sampling.max_tokens);
  auto huge = scripted::says(std::string(3U << 20U, 'x'));
  CHECK(tokens(huge).tokens_out == hello.sampling.max_tokens);
}

TEST_CASE("a stream that is cut, late or cancelled is charged for what it carried") {
  const std::string text(600, 'x');
  // Each event carries 7 bytes of text in more than 80 bytes.
  scripted::answer cut = scripted::streams(text);
  cut.cut = cut.body.size() / 2;
  const auto estimate = [](const chat_reply& reply) {
    CHECK(!reply.counted);
    CHECK(reply.tokens_estimated == reply.tokens_in + reply.tokens_out);
    CHECK(reply.tokens_out > estimated_tokens(250));
    CHECK(reply.tokens_out < estimated_tokens(350));
  };
  const auto asked_once = [](const scripted::server& server, const std::stop_token& stop = {}) {
    endpoint_settings s = settings_for(server, true);
    s.retries.tries = 1;
    return endpoint(s).chat(hello, stop);
  };
  scripted::server cuts([&](const scripted::request&) { return cut; });
  chat_reply reply = asked_once(cuts);
  CHECK(reply.status == reply_status::disconnected);
  estimate(reply);

  scripted::answer stays = cut;
  stays.stay = true;
  scripted::server hangs([&](const scripted::request&) { return stays; });
  reply = asked_once(hangs);
  CHECK(reply.status == reply_status::timed_out);
  estimate(reply);

  std::stop_source stop;
  const std::jthread later([&] {
    std::this_thread::sleep_for(400ms);
    stop.request_stop();
  });
  reply = asked_once(hangs, stop.get_token());
  CHECK(reply.status == reply_status::cancelled);
  estimate(reply);

  // A stream that began and brought no text: what it thinks may have any length.
  scripted::answer silent = scripted::streams("");
  silent.body =
      "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n" + silent.body;
  silent.cut = silent.body.find("\n\n") + 2;
  silent.stay = true;
  scripted::server thinks([&](const scripted::request&) { return silent; });
  reply = asked_once(thinks);
  CHECK(reply.status == reply_status::timed_out);
  CHECK(reply.tokens_out == hello.sampling.max_tokens);
  CHECK(reply.tokens_estimated == reply.tokens_in + reply.tokens_out);
}

TEST_CASE("a stream whose events count the tokens is charged for those that had arrived, however it ends") {
  const std::string text = R"x({"choices":[{"delta":{"content":"x"}}],)x";
  for (const std::string count :
       {R"x("usage":{"prompt_tokens":9,"completion_tokens":)x",                        // vLLM
        R"x("timings":{"cache_n":8,"prompt_n":1,"prompt_ms":0.5,"predicted_n":)x"}) {  // llama.cpp
    CAPTURE(count);
    std::string events;
    for (const char* n : {"1", "2", "3"}) events += "data: " + text + count + n + "}}\n\n";
    scripted::server server([&](const scripted::request&) {
      return scripted::answer{
          .content_type = "text/event-stream", .body = events + "data: ", .cut = events.size(), .stay = true};
    });
    endpoint_settings s = settings_for(server, true);
    s.retries.tries = 1;
    const chat_reply reply = endpoint(s).chat(hello, {});
    CHECK(reply.status == reply_status::timed_out);
    CHECK(reply.counted);
    CHECK(reply.tokens_in == 9);
    CHECK(reply.tokens_out == 3);
    CHECK(reply.tokens_estimated == 0);
  }
}

TEST_CASE("a key is hidden wherever a server repeats it") {
  scripted::server server([](const scripted::request&) {
    auto a = scripted::calls({{"write_sk-secret-123456789", "{\"text\": \"sk-secret-123456789\"}"}});
    for (const std::string part : {"call_0", "scripted-1"})
      a.body.replace(a.body.find(part), part.size(), part + "sk-secret-123456789");
    return a;
  });
  endpoint_settings s = settings_for(server);
  s.key = "sk-secret-123456789";
  const chat_reply reply = endpoint(s).chat(hello, {});
  REQUIRE(reply.tool_calls.size() == 1);
  CHECK(reply.tool_calls[0].name == "write_[key]");
  CHECK(reply.tool_calls[0].id == "call_0[key]");
  CHECK(reply.model == "scripted-1[key]");
  CHECK(reply.tool_calls[0].arguments == "{\"text\": \"[key]\"}");
}

TEST_CASE("every try of a call has its money set aside before it begins") {
  // Each try costs 0.12 and may cost 1.02; the first four fail after they were paid for.
  scripted::server server([](const scripted::request& r) {
    auto a = scripted::says("x", 20, 10);
    if (r.number < 4) a.content_type = "text/html";
    return a;
  });
  endpoint_settings s = settings_for(server);
  s.limits.first_s = s.limits.total_s = 5;
  s.retries = {.tries = 10, .first_s = 0.001};
  chat_request small = hello;
  small.sampling.max_tokens = 100;
  const auto asked_with = [&](double cap) {
    language_models models({.models = {{.name = "m", .price = {.input = 1000, .output = 10000}, .server = s}},
                            .max_money = cap});
    const chat_reply reply = models.ask({.operator_name = "t"}, small, {});
    CHECK(models.account().reserved == doctest::Approx(0));
    CHECK(models.account().spent <= cap);
    return reply;
  };
  const chat_reply stopped = asked_with(1.3);
  CHECK(stopped.status == reply_status::malformed);
  CHECK(stopped.tries == 3);
  CHECK(stopped.tokens_in == 60);
  CHECK(stopped.detail.find("llm.max_money leaves no room for another try") != std::string::npos);
  CHECK(asked_with(3).ok());
}

TEST_CASE("no more calls are out at once than allowed, and embeddings come in order") {
  scripted::server server([](const scripted::request& r) -> scripted::answer {
    if (r.head.find("/embeddings") != std::string::npos)
      return {.body = R"({"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]})"};
    auto a = scripted::says("x");
    a.delay = 30ms;
    return a;
  });
  endpoint_settings s = settings_for(server);
  s.calls.concurrency = 3;
  endpoint model(s);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 9; ++i) threads.emplace_back([&] { CHECK(model.chat(hello, {}).ok()); });
  }
  CHECK(model.most_at_once() == 3);
  CHECK(server.most_at_once() <= 3);
  chat_reply reply;
  const auto vectors = model.embed({"a", "b"}, {}, reply);
  REQUIRE(vectors.size() == 2);
  CHECK(vectors[0] == std::vector<float>{1, 0});
}
