// A server that is killed (SIGKILL) while it takes and evaluates requests: each request is answered exactly
// once, and nothing is evaluated again but what was being evaluated. KEVO_SERVE_REQUESTS=10000 makes it a
// test of long queues.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "src/base/sqlite/sqlite.hpp"
#include "tests/support/http_probe.hpp"
#include "tests/support/shell.hpp"

namespace {

constexpr int at_once = 2;

/// `kevo serve` with a fitness function that notes each of its calls in the file `calls`.
class killable_server {
 public:
  killable_server() {
    shell::write_file(folder_ / "task/task.yaml", "name: numbers\nseeds: [seed.txt]\n");
    shell::write_file(folder_ / "task/seed.txt", "0\n");
    shell::write_file(folder_ / "score.sh",
                      "read n <\"$1\"\necho \"$n\" >>calls\necho \"{\\\"score\\\": $n}\"\n");
    start();
  }
  void start() {
    running_.emplace(
        shell::kevo({"serve", (folder_ / "task").string(), "--state", (folder_ / "state").string(),
                     "--listen", "127.0.0.1:" + std::to_string(port_), "--at-once", std::to_string(at_once),
                     "--set", "fitness.backend=command", "--set", "fitness.command=[sh, score.sh]", "--set",
                     "fitness.sandbox=off", "--set", "fitness.directory=" + folder_.string()}),
        folder_.string());
    const std::string mark = "http://127.0.0.1:";
    for (int i = 0; i < 2000; ++i) {
      const std::string said = running_->out_so_far();
      if (const auto at = said.find(mark);
          at != std::string::npos && said.find('\n', at) != std::string::npos) {
        port_ = std::atoi(said.c_str() + at + mark.size());
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL("the server does not start: " << running_->out_so_far());
  }
  void end(int signal) {
    running_->signal(signal);
    running_->wait();
  }
  int port() const { return port_; }
  std::vector<int> calls() const {
    std::istringstream lines(shell::read_file(folder_ / "calls"));
    std::vector<int> all;
    for (int one = 0; lines >> one;) all.push_back(one);
    return all;
  }
  std::string record() const { return (folder_ / "state/service.sqlite").string(); }

 private:
  shell::scratch folder_;
  std::optional<shell::running> running_;
  int port_ = 0;
};

std::string body_of(int number) {
  return R"({"task":"numbers","program":{"language":"text","files":[{"path":"n.txt","text":")" +
         std::to_string(number) + R"(\n"}]}})";
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
  const int count = asked == nullptr ? 200 : std::max(std::atoi(asked), 10);
  killable_server server;
  const int port = server.port();
  std::vector<std::string> ids(static_cast<std::size_t>(count));
  std::atomic<int> acknowledged{0};
  const auto began = std::chrono::steady_clock::now();
  std::jthread client([&] {
    std::optional<probe::connection> line;
    for (int i = 0; i < count; ++i) {
      const auto said = insist(line, port, "POST", "/v1/evaluations", body_of(i));
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
  const std::size_t then = server.calls().size();
  kill_when([&] { return server.calls().size() >= (then + static_cast<std::size_t>(count)) / 2; });

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
    const auto said = insist(line, port, "POST", "/v1/evaluations", body_of(i));
    CHECK(said.status == 200);
    CHECK(boost::json::parse(said.body).at("id").as_string() == ids[static_cast<std::size_t>(i)]);
  }
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - began;
  server.end(SIGTERM);
  const auto calls = server.calls();
  CHECK(std::set<int>(calls.begin(), calls.end()).size() == static_cast<std::size_t>(count));
  CHECK(calls.size() <= static_cast<std::size_t>(count + kills * at_once));
  kevo::sqlite::connection record(server.record(), kevo::sqlite::access::read);
  CHECK(record.integer("SELECT count(*) FROM jobs WHERE progress = 2") == count);
  CHECK(record.integer("SELECT count(*) FROM jobs") == count);
  CHECK(record.integer("SELECT count(*) FROM tickets") == count);
  MESSAGE(count << " requests taken in " << taken.count() << " s, all answered after " << whole.count()
                << " s, " << kills << " kills, " << calls.size() << " evaluations");
}
