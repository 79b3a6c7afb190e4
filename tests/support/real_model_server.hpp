#pragma once
// A model server of somebody else's, run as a process for a test, and the runs that are tried on it.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/llm/endpoint.hpp"
#include "tests/support/llm_project.hpp"

namespace scripted {

/// A running server. It ends with this object.
class real_server {
 public:
  /// `command` gives its words, the first of which is a path, for a folder of its own and a port.
  explicit real_server(
      const std::function<std::vector<std::string>(const std::string& folder, int port)>& command)
      : port_(free_port()) {
    process_ = std::make_unique<shell::running>(command(folder_.string(), port_), folder_.string());
  }
  ~real_server() {
    process_->signal(SIGKILL);
    process_->wait();
  }
  real_server(const real_server&) = delete;
  real_server& operator=(const real_server&) = delete;
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }

  /// Waits until it answers; false after two minutes.
  bool ready(const std::string& model, const std::string& key = {}) const {
    kevo::endpoint_settings s;
    s.url = url();
    s.key = key;
    s.dialect.model = model;
    s.retries.tries = 1;
    kevo::endpoint asked(s);
    for (int i = 0; i < 600; ++i) {
      const auto reply =
          asked.chat({.messages = {{"user", "hello"}}, .tools = {}, .sampling = {.max_tokens = 8}}, {});
      if (reply.ok() || reply.status == kevo::reply_status::truncated) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return false;
  }

 private:
  static int free_port() {
    const server one([](const request&) { return answer{}; });
    return one.port();
  }
  shell::scratch folder_;
  int port_;
  std::unique_ptr<shell::running> process_;
};

/// The rest of a config: one turn of an operator, which may show other candidates.
inline std::string one_turn_of(const std::string& op) {
  return "run: {name: real, seed: 1, output: run, parallel: {variations: 1, builds: 1}}\n"
         "archive: {type: top_k, k: 20}\nselect: {type: greedy, inspirations: {top: 2, diverse: 1}}\n"
         "vary: {operators: [{type: " +
         op + ", similarity: 2}]}\nstop: {any: [{proposals: 1}, {seconds: 60}]}\n";
}

/// Gives the toy task a second seed, for operators that compare candidates.
inline void add_second_seed(const project& p) {
  shell::write_file(p.folder / "other.txt", "value 8\n");
  std::string task = shell::read_file(p.folder / "task.yaml");
  task.replace(task.find("[seed.txt]"), 10, "[seed.txt, other.txt]");
  shell::write_file(p.folder / "task.yaml", task);
}

}  // namespace scripted
