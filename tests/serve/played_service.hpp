#pragma once
// A service in this process whose fitness function is a function of the test.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include <kevo/evaluate.hpp>

#include "src/serve/service.hpp"
#include "tests/support/http_probe.hpp"
#include "tests/support/shell.hpp"

namespace played {

/// Gives a valid evaluation whose score is the length of the text, and counts.
struct world {
  std::atomic<int> evaluations{0};
  std::function<void(const kevo::evaluation_request&)> before;    ///< may block or throw; may be empty
  std::function<kevo::evaluation(const std::string&)> evaluates;  ///< of a text; may be empty
  std::mutex guard;
  std::vector<std::string> order;  ///< texts as they were evaluated
};

struct length_fitness {
  std::shared_ptr<world> of;
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    ++of->evaluations;
    const std::string text(request.program->text());
    {
      const std::scoped_lock lock(of->guard);
      of->order.push_back(text);
    }
    if (of->before) of->before(request);
    if (of->evaluates) return of->evaluates(text);
    kevo::evaluation made;
    made.outcome = kevo::outcome::valid;
    made.score = static_cast<double>(text.size());
    made.feedback = "length " + std::to_string(text.size());
    made.backend = "played";
    kevo::workload_result hidden;
    hidden.uuid = "secret size";
    hidden.hidden = true;
    hidden.outcome = kevo::outcome::valid;
    made.workloads.push_back(hidden);
    return made;
  }
};

inline int port_of(const std::string& url) {
  return std::atoi(url.c_str() + url.rfind(':') + 1);
}

/// A service with the tasks "first" and "second".
class service {
 public:
  explicit service(std::function<void(kevo::serve::service_settings&)> change = {})
      : service_change_(change) {
    shell::write_file(folder_ / "tasks/first/task.yaml", "name: first\nseeds: [seed.txt]\n");
    shell::write_file(folder_ / "tasks/first/seed.txt", "one\n");
    shell::write_file(folder_ / "tasks/second.yaml", "name: second\nseeds: [first/seed.txt]\n");
    start();
  }
  void start(std::uint16_t port = 0) {
    kevo::serve::service_settings settings;
    settings.http.port = port;
    settings.tasks = {(folder_ / "tasks").string()};
    settings.state = (folder_ / "state").string();
    if (service_change_) service_change_(settings);
    running_ = std::make_unique<kevo::serve::service>(
        settings,
        [it = it](const std::shared_ptr<const kevo::task>&) { return kevo::any_fitness(length_fitness{it}); },
        [this](const std::string& line) {
          const std::scoped_lock lock(log_guard_);
          log_ += line + '\n';
        });
  }
  void stop() { running_.reset(); }
  std::string url() const { return running_->url(); }
  int port() const { return port_of(url()); }
  probe::reply ask(const std::string& method, const std::string& target, const std::string& body = {},
                   const std::string& token = {}) const {
    return probe::ask(port(), method, target, body, token);
  }
  const shell::scratch& folder() const { return folder_; }
  std::string log() const {
    const std::scoped_lock lock(log_guard_);
    return log_;
  }

  std::shared_ptr<world> it = std::make_shared<world>();

 private:
  mutable std::mutex log_guard_;
  std::string log_;
  std::function<void(kevo::serve::service_settings&)> service_change_;
  shell::scratch folder_;
  std::unique_ptr<kevo::serve::service> running_;
};

inline std::string submission(const std::string& text, const std::string& more = {},
                              const std::string& task = "first") {
  return R"({"task":")" + task + R"(","program":{"language":"text","files":[{"path":"kernel.txt","text":")" +
         text + R"("}]})" + (more.empty() ? "" : "," + more) + "}";
}

inline boost::json::object object(const probe::reply& of) {
  return boost::json::parse(of.body).as_object();
}
inline std::string text_in(const probe::reply& of, const char* key) {
  return std::string(object(of).at(key).as_string());
}

}  // namespace played
