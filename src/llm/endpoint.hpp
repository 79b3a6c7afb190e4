#pragma once
// A model behind an address: limits, retries and failures of one server.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/llm/client.hpp>

#include "src/llm/http.hpp"
#include "src/llm/refusals.hpp"

namespace kevo {

/// Who pays for the tries of a call, and until when tries may begin. All may be empty.
struct call_budget {
  std::function<void(const chat_reply&)> charge;  ///< told after every try what it took
  std::function<bool()> admit;                    ///< asked before every further try
  std::stop_token ending{};  ///< once requested, no try begins; one that is out may finish
};

/// Lets at most so many in at once, and so many a minute. Thread-safe.
class call_limiter {
 public:
  explicit call_limiter(call_limits limits) : limits_(limits) {}
  /// Waits for a place; false if stopped before there was one.
  bool enter(const std::stop_token& stop);
  void leave();
  std::size_t most_at_once() const;

 private:
  using clock = std::chrono::steady_clock;
  call_limits limits_;
  mutable std::mutex guard_;
  std::condition_variable_any freed_;
  std::size_t inside_ = 0;
  std::size_t most_ = 0;
  clock::time_point next_{};
};

/// Thread-safe; every call blocks. A key never shows in what it returns.
class endpoint {
 public:
  explicit endpoint(endpoint_settings settings);

  /// Tries until there is an answer, a failure that another try does not mend, or no try is left. A call
  /// a call counts as running only while a request is out. Tokens are those of all tries. Where a server does
  /// not tell them, they are estimated from the text that arrived; where none arrived of a request that was
  /// sent (a time-out, a cancelled call, a broken connection), the whole `max_tokens` is counted. A request
  /// that was not sent counts as none.
  chat_reply chat(const chat_request& request, const std::stop_token& stop, const call_budget& budget = {});
  /// One vector a text; empty with a failed reply.
  std::vector<std::vector<float>> embed(const std::vector<std::string>& texts, const std::stop_token& stop,
                                        chat_reply& reply, const call_budget& budget = {});

  const endpoint_settings& settings() const { return settings_; }
  std::size_t most_at_once() const { return limiter_.most_at_once(); }

 private:
  template <class Once>
  chat_reply tried(const std::stop_token& stop, const call_budget& budget, Once once);
  http_request request_to(const char* path, std::string body, const std::stop_token& stop) const;
  refused_request refusable(const http_request& sent, std::int64_t tokens, std::int64_t max_tokens) const;
  chat_reply program_once(const chat_request& request, const std::string& body,
                          const std::stop_token& stop) const;
  chat_reply chat_once(const chat_request& request, const std::string& body, const std::stop_token& stop,
                       double& retry_after_s) const;

  endpoint_settings settings_;
  url address_;
  std::optional<url> proxy_;
  std::vector<std::string> secrets_;
  call_limiter limiter_;
};

/// [s] that a Retry-After header asks for: seconds or a date; 0 if it says nothing.
double retry_after_seconds(const std::string& header, std::chrono::system_clock::time_point now);

}  // namespace kevo
