#include "src/serve/service.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/serve/broker.hpp"
#include "src/serve/evaluator.hpp"
#include "src/serve/judge.hpp"
#include "src/serve/routes.hpp"

namespace kevo::serve {
namespace {

/// Checked before anything is opened.
service_settings safe(service_settings settings) {
  if (settings.tokens.empty() && !http_server::is_loopback(settings.http.address))
    throw error(
        error_code::usage,
        "other machines can reach " + settings.http.address + ", so that everybody could use this server", {},
        "give a file of tokens with --tokens, or listen on 127.0.0.1");
  if (settings.http.certificate.empty() != settings.http.key.empty())
    throw error(error_code::usage,
                "a certificate was given without its key, or a key without its certificate", {},
                "give both --certificate and --key");
  if (settings.state.empty())
    throw error(error_code::usage, "the folder of the record is missing", {}, "give one with --state FOLDER");
  return settings;
}

}  // namespace

class service::impl {
 public:
  impl(service_settings settings, fitness_maker make, const std::function<void(const std::string&)>& log)
      : settings_(safe(std::move(settings))),
        log_([this, log](const std::string& line) {
          const std::scoped_lock lock(log_guard_);
          log(line);
        }),
        tasks_(std::move(make), settings_.import, settings_.allow_tasks, settings_.state),
        tenants_(settings_.requests_per_s),
        jobs_(settings_.state, settings_.longest_queue, counts_),
        parts_{jobs_, tasks_, tenants_, counts_} {
    if (!settings_.tokens.empty()) tenants_.load(settings_.tokens);
    for (const auto& folder : settings_.tasks) {
      for (const auto& problem : tasks_.add(folder)) log_("a task was not loaded: " + problem);
    }
    if (tasks_.list().empty() && !settings_.allow_tasks)
      throw error(error_code::input, "this server would have no task", {},
                  "give a folder of tasks with --tasks, or --allow-tasks");
    if (const auto left = jobs_.queued(); left > 0)
      log_(fmt::format("{} evaluations of an earlier server are continued", left));
    judge judges = settings_.forward.urls.empty() ? judge_here(tasks_)
                                                  : judge_elsewhere(tasks_, settings_.forward, log_);
    evaluator_.emplace(jobs_, std::move(judges), counts_, settings_.at_once, log_);
    server_.emplace(
        settings_.http,
        [this](const http_call& head, bool with_body) { return gate_request(parts_, head, with_body); },
        [this](const http_call& call, const std::shared_ptr<http_exchange>& back) {
          handle_request(parts_, call, back);
        },
        counts_);
  }

  std::string url() const {
    const bool v6 = settings_.http.address.find(':') != std::string::npos;
    return fmt::format("{}://{}{}{}:{}", settings_.http.certificate.empty() ? "http" : "https", v6 ? "[" : "",
                       settings_.http.address, v6 ? "]" : "", server_->port());
  }
  std::size_t tasks() const { return tasks_.list().size(); }

 private:
  service_settings settings_;
  std::mutex log_guard_;
  std::function<void(const std::string&)> log_;
  metrics counts_;
  task_catalog tasks_;
  tenants tenants_;
  broker jobs_;
  service_parts parts_;
  // Evaluations end first, so that what they tell still has somebody to tell it to; then the server, whose
  // connections use the broker.
  std::optional<http_server> server_;
  std::optional<evaluator> evaluator_;
};

service::service(service_settings settings, fitness_maker make, std::function<void(const std::string&)> log)
    : impl_(std::make_unique<impl>(std::move(settings), std::move(make), log)) {}
service::~service() = default;

std::string service::url() const {
  return impl_->url();
}
std::size_t service::tasks() const {
  return impl_->tasks();
}

}  // namespace kevo::serve
