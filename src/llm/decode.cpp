#include "src/llm/decode.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "src/base/settings/path_setting.hpp"
#include "src/base/text/text_file.hpp"

namespace kevo {
namespace {

std::string key_of(settings& from, const std::string& directory, bool needed) {
  const std::string variable =
      from.text("key_env", {.def = "", .doc = "environment variable that holds the key; empty: no key"});
  const std::string file = path_from(
      from, "key_file", {.def = "", .doc = "file that holds the key, relative to the config; empty: none"},
      directory);
  std::string key;
  if (!file.empty()) {
    if (needed) key = read_text_file(file, 65536, from.place("key_file"));
  } else if (!variable.empty()) {
    if (const char* value = std::getenv(variable.c_str()); value != nullptr) key = value;
    if (key.empty() && needed)
      from.fail("key_env", "the environment variable " + variable + " is not set",
                "export it, or use a recorded run: kevo run CONFIG --replay-models");
  }
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' ')) key.pop_back();
  for (const char c : key) {
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f)
      throw error(error_code::input, "the key holds a space, a line break or a character that is not ASCII",
                  from.place(file.empty() ? "key_env" : "key_file"));
  }
  return key;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char buffer[8] = {c, 0};
    if (c == '"' || c == '\\') {
      out += '\\';
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
    }
    out += buffer;
  }
  return out + '"';
}

/// What a config says, as JSON.
std::string json_of(const settings_node& node) {
  using kind = settings_node::kind;
  std::string text;
  switch (node.type) {
    case kind::null:
      return "null";
    case kind::boolean:
      return node.boolean ? "true" : "false";
    case kind::integer:
      return std::to_string(node.integer);
    case kind::real:
      return std::isfinite(node.real) ? real_text(node.real) : "null";
    case kind::text:
      return quoted(node.text);
    case kind::list:
      for (const auto& item : node.items) text += (text.empty() ? "" : ",") + json_of(item);
      return "[" + text + "]";
    case kind::map:
      for (const auto& entry : node.entries)
        text += (text.empty() ? "" : ",") + quoted(entry.key) + ":" + json_of(entry.value);
      return "{" + text + "}";
  }
  return "null";
}

}  // namespace

model_settings decode_model(settings& from, const std::string& directory, bool needs_key) {
  model_settings made;
  made.name = from.text("name", {.doc = "in this config, in journals and in cassettes"});
  if (!from.probing() && (made.name.empty() || made.name.find('/') != std::string::npos))
    from.fail("name", "must not be empty and must not hold a slash");
  endpoint_settings& server = made.server;
  server.url = from.text("url", {.doc = "address of the server, up to and including /v1"});
  if (!from.probing()) {
    try {
      parse_url(server.url);
    } catch (const error& wrong) {
      from.fail("url", wrong.message(), wrong.hint());
    }
  }
  server.dialect.model = from.text("model", {.def = made.name, .doc = "what the server calls the model"});
  server.key = key_of(from, directory, needs_key);
  server.ca_file = path_from(from, "ca_file",
                             {.def = "", .doc = "certificates to trust beside the system's, PEM"}, directory);
  made.tier = from.text("tier", {.def = "", .doc = "what operators choose by: cheap, strong, ..."});
  made.weight = from.real(
      "weight", {.def = 1.0, .min = 0.0, .doc = "relative chance within a tier; 0: asked by name alone"});
  made.policy_version = from.text("policy_version", {.def = "", .doc = "of the weights, for trainers"});
  settings price = from.child_or_empty("price", "money for a million tokens");
  made.price.input =
      price.real("input", {.def = 0.0, .min = 0.0, .unit = "money per million tokens", .doc = "of prompts"});
  made.price.output =
      price.real("output", {.def = 0.0, .min = 0.0, .unit = "money per million tokens", .doc = "of replies"});
  server.dialect.stream =
      from.boolean("stream", {.def = true, .doc = "have the reply sent as it is written"});
  server.dialect.max_tokens_key =
      from.text("max_tokens_key", {.def = "max_tokens",
                                   .doc = "name of the request's token limit",
                                   .one_of = {"max_tokens", "max_completion_tokens"}});
  if (const settings_node* extra =
          from.raw("extra", "further fields of the request, as the server wants them", "map");
      extra != nullptr && extra->type != settings_node::kind::null) {
    if (!extra->is_map()) from.fail("extra", "expected a map");
    server.dialect.extra = json_of(*extra);
  }
  settings timeouts = from.child_or_empty("timeouts", "how long to wait");
  server.limits.connect_s =
      timeouts.real("connect", {.def = 10.0, .above = 0.0, .unit = "s", .doc = "name, connection, TLS"});
  server.limits.first_s =
      timeouts.real("first", {.def = 120.0, .above = 0.0, .unit = "s", .doc = "first token"});
  server.limits.total_s = timeouts.real("total", {.def = 600.0, .above = 0.0, .unit = "s", .doc = "one try"});
  settings retries =
      from.child_or_empty("retries", "after 429, 5xx, time-outs, broken connections and answers");
  server.retries.tries = static_cast<int>(
      retries.integer("tries", {.def = 5, .min = 1, .max = 100, .unit = "tries", .doc = "all in all"}));
  server.retries.first_s = retries.real(
      "first", {.def = 1.0, .min = 0.0, .unit = "s", .doc = "wait before the second; doubles, with jitter"});
  server.retries.longest_s = retries.real(
      "longest",
      {.def = 60.0, .min = 0.0, .unit = "s", .doc = "longest wait; a longer Retry-After ends the call"});
  server.calls.concurrency = static_cast<std::size_t>(
      from.integer("concurrency", {.def = 8, .min = 1, .max = 4096, .unit = "calls", .doc = "at once"}));
  server.calls.calls_per_minute =
      from.real("calls_per_minute", {.def = 0.0, .min = 0.0, .unit = "calls", .doc = "0: no limit"});
  return made;
}

std::shared_ptr<language_models> decode_models(settings& from, const std::string& directory,
                                               const registry& plugins, bool ready) {
  models_settings made;
  settings cassette = from.child_or_empty("cassette", "recorded replies");
  const std::string mode = cassette.text(
      "mode", {.def = "off",
               .doc = "record writes replies, replay never asks a model, auto asks for what is not recorded",
               .one_of = {"off", "record", "replay", "auto"}});
  made.mode = mode == "record"   ? cassette_mode::record
              : mode == "replay" ? cassette_mode::replay
              : mode == "auto"   ? cassette_mode::automatic
                                 : cassette_mode::off;
  const std::string file = path_from(
      cassette, "file", {.def = "", .doc = "YAML file of the replies, relative to the config"}, directory);
  if (made.mode != cassette_mode::off && file.empty() && !from.probing())
    cassette.fail("file", "a cassette needs a file");
  made.cassette_path = file;
  const bool needs_keys = ready && made.mode != cassette_mode::replay;
  std::set<std::string> names;
  for (settings& one : from.children("models", false, "the models")) {
    made.models.push_back(decode_model(one, directory, needs_keys));
    if (!names.insert(made.models.back().name).second) one.fail("name", "two models have this name");
  }
  settings choice = from.child_or_empty("choose", "which model of a tier is asked");
  const std::string by = choice.text(
      "by", {.def = "weight",
             .doc = "weight, or bandit: by what its candidates gained and what it costs, or a portfolio",
             .one_of = {"weight", "bandit", "portfolio"}});
  made.choice.bandit = by == "bandit";
  if (by == "portfolio") {
    settings portfolio = choice.child_or_empty("portfolio", "by: portfolio; as under vary");
    made.choice.portfolio =
        plugins.portfolios.make(portfolio, {.directory = directory, .plugins = &plugins}, "type", "ucb1");
  }
  made.choice.exploration = choice.real(
      "exploration",
      {.def = 0.2, .min = 0.0, .max = 1.0, .unit = "probability", .doc = "bandit: of a uniform draw"});
  made.choice.decay =
      choice.real("decay", {.def = 0.95, .max = 1.0, .above = 0.0, .doc = "bandit: of earlier rewards"});
  made.choice.cost_weight =
      choice.real("cost_weight", {.def = 0.5, .min = 0.0, .doc = "bandit: of a call's price"});
  made.max_money = from.real(
      "max_money",
      {.def = 0.0, .min = 0.0, .unit = "money", .doc = "no call begins that might exceed it; 0: no cap"});
  made.prompts = path_from(from, "prompts",
                           {.def = "", .doc = "folder of prompt files that replace shipped ones"}, directory);
  settings knowledge = from.child_or_empty("knowledge", "pages that prompts are given");
  made.knowledge =
      path_from(knowledge, "folder",
                {.def = "", .doc = "Markdown pages, relative to the config; empty: none"}, directory);
  made.skills = path_from(knowledge, "skills",
                          {.def = "",
                           .doc = "folder where what made candidates at least 1.1 times as "
                                  "fast is written back as pages; empty: nowhere"},
                          directory);
  made.knowledge_embeddings = knowledge.text(
      "embeddings", {.def = "", .doc = "model of llm.models that ranks pages by meaning, too; empty: none"});
  const bool known = made.knowledge_embeddings.empty() || names.contains(made.knowledge_embeddings);
  if (!known && !from.probing())
    knowledge.fail("embeddings", "llm.models has no model named '" + made.knowledge_embeddings + "'");
  if (made.models.empty()) return nullptr;
  made.ready = ready;
  return std::make_shared<language_models>(std::move(made));
}

}  // namespace kevo
