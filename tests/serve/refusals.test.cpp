// timed
// What a server must refuse, and that nothing is lost by it: wrong tokens, giant bodies, slow clients,
// malformed requests, paths that lead elsewhere, bodies that were mutated at random.

#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/base/sqlite/sqlite.hpp"
#include "src/serve/tenants.hpp"
#include "tests/serve/played_service.hpp"

namespace {

using played::submission;

/// Whether the service still evaluates.
bool is_well(const played::service& it, const std::string& text) {
  const auto said = it.ask("POST", "/v1/evaluations?wait=20", submission(text));
  return said.status == 200 && said.body.find("\"status\":\"done\"") != std::string::npos;
}

/// Whether a connection is taken within some seconds: the server notices the ends of others when it gets to
/// it.
bool answers_soon(const played::service& it) {
  for (int i = 0; i < 500; ++i) {
    if (it.ask("GET", "/healthz").status == 200) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("an address that others reach needs tokens, and a file of tokens must be private and whole") {
  CHECK_THROWS_WITH_AS(played::service([](auto& settings) { settings.http.address = "0.0.0.0"; }),
                       doctest::Contains("--tokens"), kevo::error);
  const shell::scratch folder;
  const auto file = folder / "tokens";
  const auto load = [&](const char* text, std::filesystem::perms rights) {
    std::filesystem::remove(file);
    shell::write_file(file, text);
    std::filesystem::permissions(file, rights);
    kevo::serve::tenants made;
    made.load(file.string());
    return made.tenant_of("bearer 0123456789abcdef");
  };
  using std::filesystem::perms;
  CHECK(load("ann 0123456789abcdef\n", perms::owner_read) == "ann");
  CHECK_THROWS_AS(load("ann 0123456789abcdef\n", perms::owner_read | perms::others_read), kevo::error);
  CHECK_THROWS_WITH_AS(load("ann short\n", perms::owner_read), doctest::Contains("tokens:1"), kevo::error);
  CHECK_THROWS_AS(load("ann\n", perms::owner_read), kevo::error);
  CHECK_THROWS_AS(load("# nothing\n", perms::owner_read), kevo::error);
}

TEST_CASE("requests that are no requests are refused with their reason") {
  const played::service it([](auto& settings) { settings.http.body_bytes = 100000; });
  const auto answer_to = [&](const std::string& raw) {
    probe::connection one(it.port());
    one.send(raw);
    return one.receive();
  };
  CHECK(answer_to("HELLO\r\n\r\n").status == 400);
  CHECK(answer_to("GET / HTTP/9.9\r\n\r\n").status == 400);
  CHECK(answer_to(std::string("GET /\0 HTTP/1.1\r\n\r\n", 20)).status == 400);
  CHECK(answer_to("GET / HTTP/1.1\r\nX: " + std::string(40000, 'x') + "\r\n\r\n").status == 431);
  CHECK(answer_to("POST /v1/evaluations HTTP/1.1\r\nContent-Length: 5000000000\r\n\r\n").status == 413);
  CHECK(answer_to("POST /v1/evaluations HTTP/1.1\r\nContent-Length: -1\r\n\r\n").status == 400);
  CHECK(
      answer_to("POST /v1/evaluations HTTP/1.1\r\nContent-Length: 200000\r\n\r\n" + std::string(200000, ' '))
          .status == 413);
  // A body without an announced length is counted as it comes.
  std::string chunks = "POST /v1/evaluations HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 20; ++i) chunks += "2710\r\n" + std::string(10000, ' ') + "\r\n";
  CHECK(answer_to(chunks).status == 413);
  for (const char* body :
       {"", "{", "[]", "7", "null", "{\"task\":\"first\"}", "{\"task\":\"first\",\"program\":[]}",
        "{\"task\":{},\"program\":{}}", "\xff\xfe", "{\"program\":{\"language\":\"x\",\"files\":[]}}"})
    CHECK_MESSAGE(it.ask("POST", "/v1/evaluations", body).status == 400, body);
  CHECK(it.ask("POST", "/v1/evaluations?wait=soon", submission("a")).status == 400);
  CHECK(it.ask("POST", "/v1/evaluations", std::string(1000, '[') + std::string(1000, ']')).status == 400);
  for (const char* path : {"../x", "/etc/passwd", "a/../../x", "a//b", "", ".", "a\\\\b"}) {
    const std::string body = R"({"task":"first","program":{"language":"text","files":[{"path":")" +
                             std::string(path) + R"(","text":"x"}]}})";
    CHECK_MESSAGE(it.ask("POST", "/v1/evaluations", body).status == 400, path);
  }
  for (const char* target :
       {"/", "/v1", "/v1/evaluations/", "/v1/evaluations/..", "/v1/evaluations/../../etc/passwd",
        "/v1/evaluations/%2e%2e", "/../openapi.json", "//healthz", "/status/a/b", "/status/%zz", "/status/%",
        "/status/%4", "/results/a%2", "/results/%00", "/v1/evaluations/00000000000000000000000000000000"})
    CHECK_MESSAGE(it.ask("GET", target).status == 404, target);
  CHECK(it.it->evaluations == 0);
  CHECK(is_well(it, "fine"));
}

TEST_CASE("who may not ask is refused before the body is read, and a body where none belongs is not read") {
  const shell::scratch folder;
  shell::write_file(folder / "tokens", "ann 0123456789abcdef0123456789abcdef\n");
  std::filesystem::permissions(folder / "tokens", std::filesystem::perms::owner_read);
  const played::service it([&](auto& settings) { settings.tokens = (folder / "tokens").string(); });
  const auto answer_to = [&](const std::string& line, const std::string& header) {
    probe::connection one(it.port());
    one.send(line + " HTTP/1.1\r\n" + header + "Content-Length: 10000000\r\n\r\n");
    const int status = one.receive(5000).status;
    one.some(5000);
    CHECK(one.ended());
    return status;
  };
  CHECK(answer_to("POST /v1/evaluations", "") == 401);
  CHECK(answer_to("POST /v1/evaluations", "Authorization: Bearer 0123456789abcdef0123456789abcdee\r\n") ==
        401);
  CHECK(answer_to("POST /v1/evaluations", "Authorization: Basic YTpi\r\nExpect: 100-continue\r\n") == 401);
  CHECK(answer_to("GET /healthz", "") == 413);
  CHECK(answer_to("POST /healthz", "") == 413);
  CHECK(answer_to("GET /v1/tasks", "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n") == 413);
  CHECK(it.ask("GET", "/v1/tasks", "", "0123456789abcdef0123456789abcdef").status == 200);
}

TEST_CASE("a record that cannot be written for a while loses no result, and the server goes on") {
  const played::service it;
  kevo::sqlite::connection other((it.folder() / "state/service.sqlite").string(),
                                 kevo::sqlite::access::write);
  it.it->before = [&](const kevo::evaluation_request& asked) {
    if (asked.program->text() == "a") other.execute("ALTER TABLE jobs RENAME TO away");
  };
  CHECK(it.ask("POST", "/v1/evaluations?wait=0", submission("a")).status == 202);
  while (it.it->evaluations == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (int i = 0; i < 500 && it.log().find("cannot be written") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(it.log().find("cannot be written") != std::string::npos);
  CHECK(it.ask("POST", "/v1/evaluations", submission("b")).status == 503);
  CHECK(it.ask("GET", "/healthz").status == 200);
  other.execute("ALTER TABLE away RENAME TO jobs");
  CHECK(is_well(it, "a"));
  CHECK(is_well(it, "b"));
  CHECK(it.it->evaluations == 2);
}

TEST_CASE("a full queue, too many requests and too many connections are refused until there is room") {
  const played::service it([](auto& settings) {
    settings.longest_queue = 2;
    settings.http.connections = 8;
  });
  std::atomic<bool> go{false};
  it.it->before = [&](const kevo::evaluation_request& request) {
    while (!go && !request.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  CHECK(it.ask("POST", "/v1/evaluations", submission("1")).status == 202);
  while (it.it->evaluations == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(it.ask("POST", "/v1/evaluations", submission("2")).status == 202);
  CHECK(it.ask("POST", "/v1/evaluations", submission("3")).status == 202);
  const auto full = it.ask("POST", "/v1/evaluations", submission("4"));
  CHECK(full.status == 429);
  CHECK(full.head.find("Retry-After: ") != std::string::npos);
  CHECK(it.ask("POST", "/v1/evaluations", submission("3")).status == 202);  // it is there already
  go = true;
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("3")).status == 200);
  CHECK(is_well(it, "5"));
  {
    // The server notices the ends of the connections before this one when it gets to it.
    std::vector<std::unique_ptr<probe::connection>> held;
    held.push_back(std::make_unique<probe::connection>(it.port()));
    while (held[0]->ask("GET", "/metrics").body.find("kevo_serve_open_connections 1\n") == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    while (held.size() < 8) held.push_back(std::make_unique<probe::connection>(it.port()));
    for (const auto& each : held) CHECK(each->ask("GET", "/healthz").status == 200);
    CHECK(it.ask("GET", "/healthz").status == 0);
  }
  CHECK(answers_soon(it));

  const played::service narrow([](auto& settings) { settings.http.connections_of_address = 2; });
  {
    std::vector<std::unique_ptr<probe::connection>> held;
    while (held.size() < 2) held.push_back(std::make_unique<probe::connection>(narrow.port()));
    for (const auto& each : held) CHECK(each->ask("GET", "/healthz").status == 200);
    CHECK(narrow.ask("GET", "/healthz").status == 0);
  }
  CHECK(answers_soon(narrow));

  const played::service limited([](auto& settings) { settings.requests_per_s = 1; });
  // Two at once, and one more for each second that the ten of them take.
  const auto start = std::chrono::steady_clock::now();
  int refused = 0;
  for (int i = 0; i < 10; ++i) refused += limited.ask("GET", "/v1/tasks").status == 429 ? 1 : 0;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  CHECK(refused >= 8 - std::floor(passed.count()));
  CHECK(refused <= 8);
}

TEST_CASE("slow clients are disconnected, and hold up nobody") {
  const played::service it([](auto& settings) {
    settings.http.head_s = 0.2;
    settings.http.body_s = 0.3;
    settings.http.threads = 1;
  });
  probe::connection silent(it.port());
  probe::connection half_head(it.port());
  half_head.send("POST /v1/evalu");
  probe::connection half_body(it.port());
  half_body.send("POST /v1/evaluations HTTP/1.1\r\nContent-Length: 100\r\n\r\n{");
  CHECK(is_well(it, "meanwhile"));
  for (auto* one : {&silent, &half_head, &half_body}) {
    CHECK(one->some(5000).empty());
    CHECK(one->ended());
  }
  // A client may see the end of its connection before the server has counted it.
  const auto alone = [&] {
    return it.ask("GET", "/metrics").body.find("kevo_serve_open_connections 1\n") != std::string::npos;
  };
  bool counted = alone();
  for (int i = 0; i < 500 && !counted; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    counted = alone();
  }
  CHECK(counted);
}

TEST_CASE("mutated requests are answered or refused, and the service goes on") {
  const played::service it;
  std::mt19937 random(7);
  const std::vector<std::pair<std::string, std::string>> seeds = {
      {"/v1/evaluations",
       submission("abc", R"("stage":"checked","priority":3,"deadline_s":5,"attempt":"x")")},
      {"/v1/batches", R"({"evaluations":[)" + submission("a") + "," + submission("b") + "]}"},
      {"/evaluate",
       R"({"task_id":"t","reference_code":"class Model: pass","kernel_code":"class ModelNew: pass"})"},
      {"/workflow/submit",
       R"({"workflow":"kernelbench","task_id":"t","payload":{"reference_code":"class Model: pass","kernel_code":"x"}})"},
  };
  const std::string pieces[] = {"{",
                                "}",
                                "[",
                                "]",
                                "\"",
                                ",",
                                ":",
                                "null",
                                "1e999",
                                "-1",
                                "\\u0000",
                                "\\ud800",
                                "\xff",
                                std::string(1, '\0'),
                                "{}",
                                "\"task\":",
                                "9999999999999999999999"};
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto mutate = [&](std::string text) {
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(text.size() + 1);
      switch (below(4)) {
        case 0:
          text.insert(at, pieces[below(std::size(pieces))]);
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        case 2:
          if (at < text.size()) text[at] = static_cast<char>(random() & 0xffU);
          break;
        default:
          text.insert(at, text.substr(below(text.size() + 1), below(30)));
      }
    }
    return text;
  };
  std::size_t answered = 0;
  std::size_t crashes = 0;
  {
    probe::connection one(it.port());
    for (int i = 0; i < 3000; ++i) {
      const auto& [target, body] = seeds[below(seeds.size())];
      const auto said = one.ask("POST", target, mutate(body));
      answered += said.status / 100 == 2 || said.status / 100 == 4 ? 1 : 0;
      crashes += said.status == 500 ? 1 : 0;
    }
  }
  CHECK(answered == 3000);
  CHECK(crashes == 0);
  const std::string whole = "POST /v1/evaluations?wait=0 HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                            std::to_string(seeds[0].second.size()) + "\r\n\r\n" + seeds[0].second;
  for (int i = 0; i < 300; ++i) {
    probe::connection raw(it.port());
    raw.send(mutate(whole));
    raw.some(1);
  }
  CHECK(is_well(it, "still here"));
}
