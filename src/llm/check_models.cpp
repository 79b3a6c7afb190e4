#include "src/llm/check_models.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "src/llm/endpoint.hpp"
#include "src/llm/language_models.hpp"

namespace kevo {
namespace {

constexpr double longest_check_s = 30;

/// A model that thinks before it answers needs some room.
constexpr std::int64_t check_tokens = 1024;

chat_request check_request() {
  chat_request asked;
  asked.messages = {
      {"user", std::string("This is a test of the connection. Call the tool ") + check_tool +
                   " once, with the argument word set to \"kevo\". If you have no tools, answer \"kevo\"."}};
  asked.tools = {{check_tool, "Says that the connection works.",
                  R"({"type":"object","properties":{"word":{"type":"string"}},"required":["word"]})"}};
  asked.sampling.max_tokens = check_tokens;
  return asked;
}

/// A reply that was cut or holds nothing was given by a model nevertheless.
bool was_given(const chat_reply& reply) {
  return reply.ok() || reply.status == reply_status::truncated || reply.status == reply_status::empty ||
         reply.status == reply_status::refused;
}

class checked_model {
 public:
  checked_model(const model_settings& model, bool embeds, const std::stop_token& stop)
      : model_(model), server_(patient(model.server)), stop_(stop), embeds_(embeds) {}

  model_check run() {
    found_.model = model_.name;
    embeds_ ? ask_for_embedding() : ask_to_chat();
    return std::move(found_);
  }

 private:
  static endpoint_settings patient(endpoint_settings server) {
    server.retries.tries = 1;
    server.limits.first_s = std::min(server.limits.first_s, longest_check_s);
    server.limits.total_s = std::min(server.limits.total_s, longest_check_s);
    return server;
  }

  void ask_to_chat() {
    chat_request asked = check_request();
    chat_reply reply = server_.chat(asked, stop_);
    book(reply);
    std::string no_tools;
    if (reply.status == reply_status::rejected) {
      no_tools = reply.detail;
      asked.tools.clear();
      chat_reply plain = server_.chat(asked, stop_);
      book(plain);
      if (was_given(plain)) reply = std::move(plain);
    }
    if (!was_given(reply)) {
      found_.refused = reply.status == reply_status::rejected || reply.status == reply_status::unauthorized;
      found_.said = reply.detail;
      if (found_.refused && !(model_.weight > 0)) ask_for_embedding();
      return;
    }
    found_.works = true;
    found_.calls_tools = std::any_of(reply.tool_calls.begin(), reply.tool_calls.end(),
                                     [](const tool_call& call) { return call.name == check_tool; });
    found_.said = fmt::format("answered in {:.1f} s", found_.wall_s);
    if (found_.calls_tools) {
      found_.said += " and called a tool";
    } else if (asked.tools.empty()) {
      found_.said += "; it refuses tools, which the operator agent needs: " + no_tools;
    } else {
      found_.said += "; it did not call the tool that it was offered, as the operator agent needs it";
    }
  }

  void ask_for_embedding() {
    chat_reply reply;
    const auto vectors = server_.embed({"kevo"}, stop_, reply);
    book(reply);
    if (vectors.empty()) {
      if (found_.said.empty()) found_.said = reply.detail;
      found_.refused = reply.status == reply_status::rejected || reply.status == reply_status::unauthorized;
      return;
    }
    found_.works = true;
    found_.refused = false;
    found_.said =
        fmt::format("gave an embedding of {} numbers in {:.1f} s", vectors.front().size(), found_.wall_s);
  }

  void book(const chat_reply& reply) {
    found_.wall_s += reply.wall_s;
    found_.money += price_of(model_.price, reply.tokens_in, reply.tokens_out);
  }

  const model_settings& model_;
  endpoint server_;
  const std::stop_token& stop_;
  bool embeds_;
  model_check found_;
};

}  // namespace

std::vector<model_check> check_models(const models_settings& models, const std::stop_token& stop) {
  std::vector<model_check> all(models.models.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < all.size(); ++i) {
    threads.emplace_back([&, i] {
      const model_settings& model = models.models[i];
      try {
        all[i] = checked_model(model, model.name == models.knowledge_embeddings, stop).run();
      } catch (const std::exception& wrong) {  // a key with a line break, for instance
        all[i] = {.model = model.name, .refused = true, .said = wrong.what()};
      }
    });
  }
  threads.clear();
  return all;
}

}  // namespace kevo
