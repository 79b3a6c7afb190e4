#pragma once
// A real model server in a process of its own, and one-turn runs of the toy project against it.

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/llm/language_models.hpp"
#include "tests/support/llm_project.hpp"

namespace llm_test {

inline int free_port() {
  const scripted::server one([](const scripted::request&) { return scripted::answer{}; });
  return one.port();
}

/// The running program. It ends with this object.
class real_server {
 public:
  /// `words` are the program and its options, without those that give the port.
  explicit real_server(std::vector<std::string> words) : port_(free_port()) {
    words.insert(words.end(), {"--host", "127.0.0.1", "--port", std::to_string(port_)});
    process_ = std::make_unique<shell::running>(words, folder_.string());
  }
  ~real_server() {
    process_->signal(SIGKILL);
    process_->wait();
  }
  real_server(const real_server&) = delete;
  real_server& operator=(const real_server&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  kevo::endpoint_settings settings(const std::string& model, const std::string& key = {}) const {
    kevo::endpoint_settings s;
    s.url = url();
    s.key = key;
    s.dialect.model = model;
    s.retries.tries = 1;
    return s;
  }
  /// Waits until the model answers.
  bool ready(const std::string& model, const std::string& key = {}) const {
    kevo::endpoint asked(settings(model, key));
    for (int i = 0; i < 600; ++i) {
      if (asked.chat({.messages = {{"user", "hello"}}, .sampling = {.max_tokens = 16}}, {}).tokens_out > 0)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return false;
  }

 private:
  shell::scratch folder_;
  int port_;
  std::unique_ptr<shell::running> process_;
};

/// The operators, and what one turn of each needs.
inline const std::vector<std::string> operators = {"llm_rewrite",    "llm_diff",
                                                   "llm_crossover",  "llm_repair",
                                                   "llm_universal",  "llm_contrastive",
                                                   "summarize",      "summarize_rounds",
                                                   "paradigm_shift", "macro_micro, policy: model",
                                                   "agent"};
inline std::string one_turn_of(const std::string& op) {
  return "run: {name: real, seed: 1, output: run, parallel: {variations: 1, builds: 1}}\n"
         "archive: {type: top_k, k: 20}\nselect: {type: greedy, inspirations: {top: 2, diverse: 1}}\n"
         "vary: {operators: [{type: " +
         op + ", similarity: 2}]}\nstop: {any: [{proposals: 1}, {seconds: 60}]}\n";
}
/// A reply that suits every operator but the agent.
inline const std::string reply_for_all =
    "Summary: another number\n\nBottleneck: compute\nQuery: loops\nStep: 1\n<summary>Count on.</summary>\n\n"
    "## Performance Analysis\n1. it is higher\n\n## Algorithm Design\n1. count\n\n## Code Implementation\n\n"
    "```\nvalue 17\n```\n";

/// A run of one turn of `op` with the model of these lines, which replies with the value 17.
inline void check_useful_turn(const std::string& op, const std::string& model) {
  const scripted::project p(model, one_turn_of(op));
  shell::write_file(p.folder / "other.txt", "value 8\n");
  std::string task = shell::read_file(p.folder / "task.yaml");
  task.replace(task.find("[seed.txt]"), 10, "[seed.txt, other.txt]");
  shell::write_file(p.folder / "task.yaml", task);
  const auto ended = p.answer({"run", "config.yaml"});
  CHECK(ended.at("stopped_by").as_string() == "1 proposal");
  CHECK(ended.at("valid").to_number<int>() == 3);  // both seeds and value 17
  CHECK(ended.at("ledger").at("tokens_in").to_number<int>() > 0);
  CHECK(ended.at("ledger").at("tokens_out").to_number<int>() > 0);
}

}  // namespace llm_test
