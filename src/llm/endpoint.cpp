#include "src/llm/endpoint.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <random>

#include "src/base/text/utf8.hpp"
#include "src/base/time/wait_unless_stopped.hpp"
#include "src/llm/openai.hpp"
#include "src/llm/openai_stream.hpp"
#include "src/llm/program_call.hpp"
#include "src/llm/text_calls.hpp"

namespace kevo {
namespace {

using clock = std::chrono::steady_clock;

/// Whether an answer is to be read as JSON; some servers do not say that it is.
bool is_json(const http_response& answer) {
  if (answer.content_type.find("json") != std::string::npos) return true;
  const auto first = answer.body.find_first_not_of(" \t\r\n");
  return answer.content_type.empty() && first != std::string::npos && answer.body[first] == '{';
}

/// Half of it to all of it: many callers that failed together must not come back together.
double jittered(double seconds) {
  thread_local std::minstd_rand stream{std::random_device{}()};
  return seconds * std::uniform_real_distribution<double>(0.5, 1.0)(stream);
}

void hide(std::string& text, const std::string& secret) {
  if (secret.empty()) return;
  constexpr std::string_view instead = "[key]";
  for (std::size_t at = text.find(secret); at != std::string::npos;
       at = text.find(secret, at + instead.size()))
    text.replace(at, secret.size(), instead);
}

/// A word like "none", which servers without keys are given, may well stand in an answer.
bool is_secret(const std::string& key) {
  return key.size() >= 16;
}

void hide_secret(chat_reply& reply, const std::string& key) {
  hide(reply.detail, key);
  if (is_secret(key)) {
    for (auto* text :
         {&reply.content, &reply.reasoning, &reply.model, &reply.log_probabilities, &reply.token_ids})
      hide(*text, key);
    for (auto& call : reply.tool_calls) {
      for (auto* text : {&call.id, &call.name, &call.arguments}) hide(*text, key);
    }
  }
  for (auto& one : reply.further) hide_secret(one, key);
}

/// What a server may not repeat. A header such as "Bearer KEY" holds a secret that stands alone elsewhere.
std::vector<std::string> secrets_of(const endpoint_settings& settings) {
  std::vector<std::string> all{settings.key};
  for (const auto& header : settings.headers) {
    if (!header.secret) continue;
    all.push_back(header.value);
    const auto space = header.value.rfind(' ');
    if (space == std::string::npos) continue;
    std::string last = header.value.substr(space + 1);
    if (is_secret(last)) all.push_back(std::move(last));
  }
  return all;
}

/// The path of an operation below a base path: before the query, if there is one.
std::string path_below_base(const std::string& base, std::string_view operation) {
  const auto query = base.find('?');
  std::string path = base.substr(0, query);
  const std::string rest = query == std::string::npos ? std::string() : base.substr(query);
  constexpr std::string_view whole = "/chat/completions";  // some copy the address of one operation
  while (path.ends_with('/')) path.pop_back();
  if (path.ends_with(whole)) path.erase(path.size() - whole.size());
  return path.append(operation) + rest;
}

chat_reply failed(reply_status status, std::string detail) {
  chat_reply reply;
  reply.status = status;
  reply.detail = std::move(detail);
  return reply;
}

/// What an HTTP answer is before anyone looks into it; ok means: look.
chat_reply judged(const http_response& answer, const refused_request& asked) {
  switch (answer.failure) {
    case http_failure::none:
      break;
    case http_failure::cancelled:
      return failed(reply_status::cancelled, "cancelled");
    case http_failure::timed_out:
      return failed(reply_status::timed_out, answer.detail);
    case http_failure::too_large:
      return failed(reply_status::malformed, answer.detail);
    case http_failure::tls:
      return failed(reply_status::rejected, answer.detail);
    case http_failure::connect:
    case http_failure::disconnected: {
      chat_reply reply = failed(reply_status::disconnected, answer.detail);
      reply.unreachable = answer.failure == http_failure::connect;
      return reply;
    }
  }
  const std::string words = error_text(answer.body);
  std::string said = "the server answered " + std::to_string(answer.status) + ": " + words;
  if (const std::string cure = cure_of(answer.status, words, answer.location, asked); !cure.empty())
    said += " (" + cure + ")";
  if (answer.status == 429) return failed(reply_status::rate_limited, said);
  if (answer.status == 408 || answer.status == 409 || answer.status / 100 == 5) {
    chat_reply reply = failed(reply_status::server_error, said);
    reply.unreachable = answer.status >= 502 && answer.status <= 504;
    return reply;
  }
  if (answer.status == 401) return failed(reply_status::unauthorized, said);
  if (answer.status / 100 != 2) return failed(reply_status::rejected, said);
  return {};
}

/// What the model wrote, of an answer that came in events.
std::size_t written_bytes(const chat_reply& reply) {
  std::size_t bytes = reply.content.size() + reply.reasoning.size();
  for (const auto& call : reply.tool_calls) bytes += call.name.size() + call.arguments.size();
  for (const auto& one : reply.further) bytes += written_bytes(one);
  return bytes;
}

/// Whether a request was sent and no word on its cost came back: the server may have worked on it, and charge
/// for that, until the connection ended.
bool ended_with_unknown_cost(const http_response& answer) {
  const bool ended = answer.failure == http_failure::timed_out || answer.failure == http_failure::cancelled ||
                     answer.failure == http_failure::disconnected;
  return ended && answer.sent && (answer.status == 0 || answer.status / 100 == 2);
}

/// No tokenizer that is known makes more than this of a token (128 spaces).
constexpr std::size_t most_bytes_a_token = 128;

/// A reply that cannot be what was asked for would fill prompts and journals.
void refuse_babble(chat_reply& reply, std::int64_t max_tokens) {
  const std::size_t bytes = reply.content.size() + reply.reasoning.size();
  if (max_tokens <= 0 || bytes / most_bytes_a_token <= static_cast<std::size_t>(max_tokens)) return;
  reply.status = reply_status::malformed;
  reply.detail = std::to_string(bytes) + " bytes are more than a reply of " + std::to_string(max_tokens) +
                 " tokens can have";
  reply.content.clear();
  reply.reasoning.clear();
  reply.tool_calls.clear();
}

/// Each call needs an id by which it is answered; some servers leave it empty.
void name_calls(chat_reply& reply, const std::string& ids) {
  for (std::size_t i = 0; i < reply.tool_calls.size(); ++i) {
    if (reply.tool_calls[i].id.empty()) reply.tool_calls[i].id = ids + std::to_string(i);
  }
}

bool another_try_may_help(reply_status status) {
  return status == reply_status::rate_limited || status == reply_status::server_error ||
         status == reply_status::disconnected || status == reply_status::malformed ||
         status == reply_status::timed_out;
}

}  // namespace

bool call_limiter::enter(const std::stop_token& stop) {
  std::unique_lock lock(guard_);
  if (!freed_.wait(lock, stop, [this] { return inside_ < limits_.concurrency; })) return false;
  most_ = std::max(most_, ++inside_);
  if (limits_.calls_per_minute > 0) {
    const auto now = clock::now();
    const auto turn = std::max(now, next_);
    next_ = turn + std::chrono::duration_cast<clock::duration>(
                       std::chrono::duration<double>(60 / limits_.calls_per_minute));
    lock.unlock();
    if (turn > now && !wait_unless_stopped(std::chrono::duration<double>(turn - now).count(), stop)) {
      leave();
      return false;
    }
  }
  return true;
}

void call_limiter::leave() {
  {
    const std::scoped_lock lock(guard_);
    --inside_;
  }
  freed_.notify_one();
}

std::size_t call_limiter::most_at_once() const {
  const std::scoped_lock lock(guard_);
  return most_;
}

endpoint::endpoint(endpoint_settings settings)
    : settings_(std::move(settings)),
      address_(settings_.command.empty() && !settings_.url.empty() ? parse_url(settings_.url) : url{}),
      proxy_(address_.host.empty() ? std::nullopt : proxy_from_environment(address_)),
      secrets_(secrets_of(settings_)),
      limiter_(settings_.calls) {}

http_request endpoint::request_to(const char* path, std::string body, const std::stop_token& stop) const {
  http_request request;
  request.to = address_;
  request.to.path = path_below_base(address_.path, path);
  request.proxy = proxy_;
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
  if (!settings_.key.empty()) request.headers.emplace_back("Authorization", "Bearer " + settings_.key);
  for (const auto& header : settings_.headers) request.headers.emplace_back(header.name, header.value);
  request.body = std::move(body);
  request.ca_file = settings_.ca_file;
  request.limits = settings_.limits;
  request.stop = stop;
  return request;
}

/// What is known of a request if it is refused.
refused_request endpoint::refusable(const http_request& sent, std::int64_t tokens,
                                    std::int64_t max_tokens) const {
  const bool v6 = sent.to.host.find(':') != std::string::npos;
  return {.url = (sent.to.tls ? "https://" : "http://") + (v6 ? "[" + sent.to.host + "]" : sent.to.host) +
                 ":" + sent.to.port + sent.to.path,
          .model = settings_.dialect.model,
          .tokens = tokens,
          .max_tokens = max_tokens};
}

/// A program counts no tokens, unless its reply says how many there were.
chat_reply endpoint::program_once(const chat_request& request, const std::string& body,
                                  const std::stop_token& stop) const {
  chat_reply reply = ask_program(settings_.command, settings_.directory, body, call_ids(request),
                                 settings_.limits.total_s, stop);
  take_calls_from_text(reply, request.tools, call_ids(request));
  refuse_babble(reply, request.sampling.max_tokens);
  if (!reply.counted && reply.ok()) {
    reply.tokens_in = estimated_tokens(request);
    reply.tokens_out = std::min(request.sampling.max_tokens, estimated_tokens(written_bytes(reply)));
    reply.tokens_estimated = reply.tokens_in + reply.tokens_out;
  }
  return reply;
}

chat_reply endpoint::chat_once(const chat_request& request, const std::string& body,
                               const std::stop_token& stop, double& retry_after_s) const {
  if (!settings_.command.empty()) return program_once(request, body, stop);
  http_request asked = request_to("/chat/completions", body, stop);
  chat_stream stream;
  if (settings_.dialect.stream) asked.part = [&stream](std::string_view part) { stream.feed(part); };
  const http_response answer = post(asked);
  retry_after_s = retry_after_seconds(answer.retry_after, std::chrono::system_clock::now());
  const bool begun = answer.status / 100 == 2;
  const bool events = begun && answer.content_type.find("text/event-stream") != std::string::npos;
  chat_reply reply = judged(answer, refusable(asked, estimated_tokens(request), request.sampling.max_tokens));
  std::size_t written = answer.body.size();
  if (events) {
    chat_reply part = stream.finish();
    written = written_bytes(part);  // events are many times as long as what they carry
    if (reply.ok()) {
      reply = std::move(part);
    } else {
      reply.tokens_in = part.tokens_in;
      reply.tokens_cached = part.tokens_cached;
      reply.tokens_out = part.tokens_out;
      reply.counted = part.counted;
    }
  } else if (!reply.ok()) {
    // there is nothing to read
  } else if (!is_json(answer)) {
    reply = failed(reply_status::malformed, "the answer is neither JSON nor an event stream (content type '" +
                                                as_utf8(answer.content_type.substr(0, 80)) + "')");
  } else {
    reply = parse_chat(answer.body);
  }
  take_calls_from_text(reply, request.tools, call_ids(request));
  name_calls(reply, call_ids(request));
  refuse_babble(reply, request.sampling.max_tokens);
  for (auto& one : reply.further) refuse_babble(one, request.sampling.max_tokens);
  // What was generated was paid for, whether or not it can be used.
  if (!reply.counted) take_stray_usage(answer.body, reply);
  if (!reply.counted && (begun || ended_with_unknown_cost(answer))) {
    // Of what arrived its length tells. Where nothing arrived, any length may have been written.
    const std::int64_t most = request.sampling.max_tokens * request.replies;
    const bool unread =
        answer.failure == http_failure::too_large || (written == 0 && ended_with_unknown_cost(answer));
    reply.tokens_in = estimated_tokens(request);
    reply.tokens_out = unread ? most : std::min(most, estimated_tokens(written));
    reply.tokens_estimated = reply.tokens_in + reply.tokens_out;
  }
  return reply;
}

template <class Once>
chat_reply endpoint::tried(const std::stop_token& stop, const call_budget& budget, Once once) {
  const auto began = clock::now();
  chat_reply reply;
  std::int64_t tokens_in = 0;
  std::int64_t tokens_cached = 0;
  std::int64_t tokens_out = 0;
  std::int64_t tokens_estimated = 0;
  const std::stop_token& begins_until = budget.ending.stop_possible() ? budget.ending : stop;
  for (int n = 1;; ++n) {
    double retry_after_s = 0;
    if (!limiter_.enter(begins_until)) {
      reply = failed(reply_status::cancelled, "cancelled");
    } else {
      reply = once(retry_after_s);
      limiter_.leave();
    }
    reply.tries = n;
    tokens_in += reply.tokens_in;
    tokens_cached += reply.tokens_cached;
    tokens_out += reply.tokens_out;
    tokens_estimated += reply.tokens_estimated;
    if (budget.charge) budget.charge(reply);
    if (!another_try_may_help(reply.status) || n >= settings_.retries.tries) break;
    const double usual_s =
        std::min(settings_.retries.longest_s, settings_.retries.first_s * std::ldexp(1.0, n - 1));
    if (retry_after_s > settings_.retries.longest_s) {
      reply.detail += "; it asks to wait " + std::to_string(static_cast<std::int64_t>(retry_after_s)) + " s";
      break;
    }
    if (!wait_unless_stopped(std::max(retry_after_s, jittered(usual_s)), begins_until)) {
      if (stop.stop_requested()) {
        reply = failed(reply_status::cancelled, "cancelled");
        reply.tries = n;
      } else {
        reply.detail += "; it was not tried again, because the run is ending";
      }
      break;
    }
    if (budget.admit && !budget.admit()) {
      reply.detail += "; llm.max_money leaves no room for another try";
      break;
    }
  }
  reply.tokens_in = tokens_in;
  reply.tokens_cached = tokens_cached;
  reply.tokens_out = tokens_out;
  reply.tokens_estimated = tokens_estimated;
  reply.wall_s = std::chrono::duration<double>(clock::now() - began).count();
  for (const auto& secret : secrets_) hide_secret(reply, secret);
  return reply;
}

chat_reply endpoint::chat(const chat_request& request, const std::stop_token& stop,
                          const call_budget& budget) {
  const std::string body = chat_body(request, settings_.dialect);
  return tried(stop, budget,
               [&](double& retry_after_s) { return chat_once(request, body, stop, retry_after_s); });
}

std::vector<std::vector<float>> endpoint::embed(const std::vector<std::string>& texts,
                                                const std::stop_token& stop, chat_reply& reply,
                                                const call_budget& budget) {
  const std::string body = embedding_body(settings_.dialect.model, texts);
  std::vector<std::vector<float>> vectors;
  reply = tried(stop, budget, [&](double& retry_after_s) {
    if (!settings_.command.empty())
      return failed(reply_status::rejected, "a program gives no embeddings: use a model with a url");
    const http_request asked = request_to("/embeddings", body, stop);
    const http_response answer = post(asked);
    retry_after_s = retry_after_seconds(answer.retry_after, std::chrono::system_clock::now());
    chat_reply verdict = judged(answer, refusable(asked, estimated_tokens(body.size()), 0));
    if (verdict.ok()) {
      vectors = parse_embeddings(answer.body, texts.size(), verdict);
      if (vectors.empty() && !texts.empty()) verdict.status = reply_status::malformed;
    }
    if (!verdict.counted) take_stray_usage(answer.body, verdict);
    if (!verdict.counted && (answer.status / 100 == 2 || ended_with_unknown_cost(answer))) {
      for (const auto& text : texts) verdict.tokens_in += estimated_tokens(text.size());
      verdict.tokens_estimated = verdict.tokens_in;
    }
    return verdict;
  });
  return vectors;
}

double retry_after_seconds(const std::string& header, std::chrono::system_clock::time_point now) {
  if (header.empty()) return 0;
  double seconds = 0;
  const auto [end, failure] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (failure == std::errc() && end == header.data() + header.size())
    return seconds > 0 ? std::min(seconds, 1e9) : 0;
  std::tm date{};
  if (::strptime(header.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr) return 0;
  const double wait = std::difftime(::timegm(&date), std::chrono::system_clock::to_time_t(now));
  return wait > 0 ? wait : 0;
}

}  // namespace kevo
