// timed
// A server that is killed (SIGKILL) while it takes and evaluates requests: each request is answered exactly
// once, and nothing is evaluated again but what was being evaluated. KEVO_SERVE_REQUESTS=10000 makes it a
// test of long queues.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "src/base/sqlite/sqlite.hpp"
#include "tests/support/http_probe.hpp"
#include "tests/support/served.hpp"

namespace {

constexpr int at_once = 2;

std::vector<int> numbers_in(const std::filesystem::path& file) {
  std::istringstream lines(shell::read_file(file));
  std::vector<int> all;
  for (int one = 0; lines >> one;) all.push_back(one);
  return all;
}

/// The answer to a request that is sent until there is one.
probe::reply insist(std::optional<probe::connection>& line, int port, const std::string& method,
                    const std::string& target, const std::string& body = {}) {
  for (;;) {
    if (!line) line.emplace(port);
    auto said = line->ask(method, target, body);
    if (said.status != 0) return said;
    line.reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

TEST_CASE("requests survive a server that is killed three times, each answered exactly once") {
  const char* asked = std::getenv("KEVO_SERVE_REQUESTS");
  const int count = asked == nullptr ? 100 : std::max(std::atoi(asked), 10);
  const shell::scratch folder;
  auto words = shell::kevo(shell::numbers_service(folder.string()));
  words.insert(words.end(), {"--at-once", std::to_string(at_once)});
  shell::served server(words, folder.string());
  const int port = server.port();
  REQUIRE(port != 0);
  const auto calls = [&] { return numbers_in(folder / "calls"); };
  std::vector<std::string> ids(static_cast<std::size_t>(count));
  std::atomic<int> acknowledged{0};
  const auto began = std::chrono::steady_clock::now();
  std::jthread client([&] {
    std::optional<probe::connection> line;
    for (int i = 0; i < count; ++i) {
      const auto said = insist(line, port, "POST", "/v1/evaluations", shell::number_request(i));
      ids[static_cast<std::size_t>(i)] = std::string(boost::json::parse(said.body).at("id").as_string());
      ++acknowledged;
    }
  });
  int kills = 0;
  const auto kill_when = [&](const auto& time_has_come) {
    while (!time_has_come()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server.end(SIGKILL);
    ++kills;
    server.start();
  };
  kill_when([&] { return acknowledged >= count / 4; });
  kill_when([&] { return acknowledged >= count / 2; });
  client.join();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  const std::size_t then = calls().size();
  kill_when([&] { return calls().size() >= (then + static_cast<std::size_t>(count)) / 2; });

  std::optional<probe::connection> line;
  int right = 0;
  for (int i = 0; i < count; ++i) {
    const auto& id = ids[static_cast<std::size_t>(i)];
    auto state =
        boost::json::parse(insist(line, port, "GET", "/v1/evaluations/" + id + "?wait=60").body).as_object();
    right += state.at("status") == "done" && state.at("evaluation").at("score").to_number<int>() == i ? 1 : 0;
  }
  CHECK(right == count);
  for (int i = 0; i < count; i += 7) {  // the same requests again are the same evaluations
    const auto said = insist(line, port, "POST", "/v1/evaluations", shell::number_request(i));
    CHECK(said.status == 200);
    CHECK(boost::json::parse(said.body).at("id").as_string() == ids[static_cast<std::size_t>(i)]);
  }
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - began;
  server.end(SIGTERM);
  const auto made = calls();
  CHECK(std::set<int>(made.begin(), made.end()).size() == static_cast<std::size_t>(count));
  CHECK(made.size() <= static_cast<std::size_t>(count + kills * at_once));
  kevo::sqlite::connection record((folder / "state/service.sqlite").string(), kevo::sqlite::access::read);
  CHECK(record.integer("SELECT count(*) FROM jobs WHERE progress = 2") == count);
  CHECK(record.integer("SELECT count(*) FROM jobs") == count);
  CHECK(record.integer("SELECT count(*) FROM tickets") == count);
  MESSAGE(count << " requests taken in " << taken.count() << " s, all answered after " << whole.count()
                << " s, " << kills << " kills, " << made.size() << " evaluations");
}
