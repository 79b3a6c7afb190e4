#include "src/llm/decode.hpp"

#include <set>
#include <utility>

#include "src/base/settings/json.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/llm/decode_address.hpp"

namespace kevo {
namespace {

void decode_price(settings& from, model_settings& made) {
  settings price = from.child_or_empty("price", "price of a million tokens");
  made.price.input = price.real(
      "input", {.def = 0.0, .min = 0.0, .unit = "money per million tokens", .doc = "price of prompt tokens"});
  made.price.output = price.real(
      "output", {.def = 0.0, .min = 0.0, .unit = "money per million tokens", .doc = "price of reply tokens"});
  made.price.cached = price.optional<double>(
      "cached", {.min = 0.0,
                 .unit = "money per million tokens",
                 .doc = "price of prompt tokens that the server has in its cache and reports as such; null: "
                        "the same as input"});
}

void decode_dialect(settings& from, endpoint_settings& server) {
  server.dialect.stream = from.boolean(
      "stream", {.def = true, .doc = "whether the server streams the reply while it is generated"});
  server.dialect.several_replies = from.boolean(
      "several_replies",
      {.def = true,
       .doc = "for operators with samples: whether one request asks for all replies to a prompt (field n); "
              "if false, or if the server does not support this, each reply is a request of its own"});
  server.dialect.max_tokens_key =
      from.text("max_tokens_key",
                {.def = "max_tokens",
                 .doc = "name of the field that limits the length of the reply in requests to this server",
                 .one_of = {"max_tokens", "max_completion_tokens"}});
  if (const settings_node* extra =
          from.raw("extra", "additional fields that are copied into every request", "map");
      extra != nullptr && extra->type != settings_node::kind::null) {
    if (!extra->is_map()) from.fail("extra", "expected a map (key: value)");
    server.dialect.extra = json_of(*extra);
  }
}

void decode_timeouts(settings& from, endpoint_settings& server) {
  settings timeouts = from.child_or_empty("timeouts", "time limits of a call");
  server.limits.connect_s =
      timeouts.real("connect", {.def = 10.0,
                                .above = 0.0,
                                .unit = "s",
                                .doc = "time limit of name resolution and connection together; the TLS "
                                       "handshake has the same limit once more"});
  server.limits.first_s =
      timeouts.real("first", {.def = 120.0,
                              .above = 0.0,
                              .unit = "s",
                              .doc = "time limit until the first token of the reply arrives"});
  server.limits.idle_s = timeouts.real(
      "idle",
      {.def = 120.0,
       .above = 0.0,
       .unit = "s",
       .doc = "time limit between two parts of a reply that is streamed; a reply that stalls for longer "
              "is requested again"});
  server.limits.total_s = timeouts.real(
      "total", {.def = 600.0, .above = 0.0, .unit = "s", .doc = "time limit of one attempt as a whole"});
}

void decode_retries(settings& from, endpoint_settings& server) {
  settings retries = from.child_or_empty(
      "retries",
      "repeated attempts after status 429 or 5xx, time-outs, broken connections and incomplete replies");
  server.retries.tries = static_cast<int>(
      retries.integer("tries", {.def = 5,
                                .min = 1,
                                .max = 100,
                                .unit = "tries",
                                .doc = "maximum number of attempts per call, including the first"}));
  server.retries.first_s = retries.real("first", {.def = 1.0,
                                                  .min = 0.0,
                                                  .unit = "s",
                                                  .doc = "waiting time before the second attempt; it doubles "
                                                         "with each further attempt, with random jitter"});
  server.retries.longest_s =
      retries.real("longest", {.def = 60.0,
                               .min = 0.0,
                               .unit = "s",
                               .doc = "maximum waiting time between attempts; if the server asks for more "
                                      "(Retry-After), the call fails"});
}

void decode_rate(settings& from, endpoint_settings& server) {
  server.calls.concurrency = static_cast<std::size_t>(
      from.integer("concurrency", {.def = 8,
                                   .min = 1,
                                   .max = 4096,
                                   .unit = "calls",
                                   .doc = "maximum number of concurrent calls to this model"}));
  server.calls.calls_per_minute =
      from.real("calls_per_minute", {.def = 0.0,
                                     .min = 0.0,
                                     .unit = "calls",
                                     .doc = "maximum number of calls per minute; 0 means no limit"});
}

void decode_cassette(settings& from, const std::string& directory, models_settings& made) {
  settings cassette = from.child_or_empty("cassette", "recorded replies of language models");
  const std::string mode = cassette.text(
      "mode", {.def = "off",
               .doc = "use of the cassette, a file of recorded replies; off: none; record: save all replies; "
                      "replay: answer from the cassette only, without a network; auto: answer from the "
                      "cassette, request missing replies from the server and save them",
               .one_of = {"off", "record", "replay", "auto"}});
  made.mode = mode == "record"   ? cassette_mode::record
              : mode == "replay" ? cassette_mode::replay
              : mode == "auto"   ? cassette_mode::automatic
                                 : cassette_mode::off;
  const std::string file =
      path_from(cassette, "file",
                {.def = "", .doc = "YAML file of the recorded replies, relative to the config"}, directory);
  if (made.mode != cassette_mode::off && file.empty() && !from.probing())
    from.fail("cassette.file", "the config names no file of recorded replies",
              "write cassette: {file: FILE.yaml} below llm; docs/llm.md describes the file");
  made.cassette_path = file;
}

void decode_choice(settings& from, const std::string& directory, const registry& plugins,
                   choice_settings& made) {
  settings choice = from.child_or_empty("choose", "how a model is chosen among those of a tier");
  const std::string by = choice.text(
      "by", {.def = "weight",
             .doc = "how a model is chosen; weight: at random, with the models' weights; bandit: by the "
                    "improvements of its candidates and its price; portfolio: by a portfolio as under vary",
             .one_of = {"weight", "bandit", "portfolio"}});
  made.bandit = by == "bandit";
  if (by == "portfolio") {
    settings portfolio =
        choice.child_or_empty("portfolio", "the portfolio for by: portfolio, written as under vary");
    made.portfolio =
        plugins.portfolios.make(portfolio, {.directory = directory, .plugins = &plugins}, "type", "ucb1");
  }
  made.exploration =
      choice.real("exploration", {.def = 0.2,
                                  .min = 0.0,
                                  .max = 1.0,
                                  .unit = "probability",
                                  .doc = "for bandit: probability of a uniformly random model"});
  made.decay = choice.real(
      "decay", {.def = 0.95,
                .max = 1.0,
                .above = 0.0,
                .doc = "for bandit: factor by which the weight of earlier rewards decays with each new one"});
  made.cost_weight =
      choice.real("cost_weight", {.def = 0.5,
                                  .min = 0.0,
                                  .doc = "for bandit: weight of the price, which is the mean cost of a "
                                         "model's call divided by that of the most expensive model"});
}

/// `names` are those of the models, of which one may embed pages.
void decode_knowledge(settings& from, const std::string& directory, const std::set<std::string>& names,
                      models_settings& made) {
  settings knowledge = from.child_or_empty("knowledge", "knowledge pages that are added to prompts");
  made.knowledge = path_from(
      knowledge, "folder",
      {.def = "",
       .doc = "folder of Markdown knowledge pages, relative to the config; empty means no knowledge"},
      directory);
  made.skills = path_from(
      knowledge, "skills",
      {.def = "",
       .doc = "folder, relative to the config, for pages that a model writes about changes that worked: the "
              "candidate is confirmed and at least 1.1 times as fast as its parent; empty disables this"},
      directory);
  made.knowledge_embeddings =
      knowledge.text("embeddings", {.def = "",
                                    .doc = "name of the embedding model in llm.models that also ranks pages "
                                           "by meaning; empty: pages are ranked by words only"});
  const bool known = made.knowledge_embeddings.empty() || names.contains(made.knowledge_embeddings);
  if (!known && !from.probing())
    knowledge.fail("embeddings", "llm.models has no model named '" + made.knowledge_embeddings + "'",
                   "add it to llm.models, or name a model of that list");
}

}  // namespace

model_settings decode_model(settings& from, const std::string& directory, bool needs_key, bool from_files) {
  model_settings made;
  made.name = from.text("name", {.doc = "name of the model in this config, in journals and in cassettes"});
  if (!from.probing() && (made.name.empty() || made.name.find('/') != std::string::npos))
    from.fail("name", "the name must not be empty and must not contain a slash");
  endpoint_settings& server = made.server;
  server.command = from.texts(
      "command",
      {.doc =
           "program and its arguments that answer in place of a server: it gets the request as JSON on its "
           "standard input and prints the reply. It starts in the folder of the config; a path with a slash "
           "is "
           "relative to it. timeouts.total limits its time"},
      std::vector<std::string>{});
  if (!server.command.empty()) server.directory = directory;
  const bool asked = !from_files;
  server.url = decode_url(from, asked && server.command.empty());
  if (!server.url.empty() && !server.command.empty() && !from.probing())
    from.fail("command", "a model has either a url or a command", "remove one of them");
  server.dialect.model = from.text(
      "model", {.def = made.name, .doc = "name of the model on the server; empty: the value of name"});
  server.key = decode_key(from, directory, server.url, needs_key && asked);
  server.headers = decode_headers(from, directory, needs_key && asked);
  server.ca_file = path_from(from, "ca_file",
                             {.def = "",
                              .doc = "PEM file of certificates to trust in addition to those of the "
                                     "system, relative to the config; empty means no file"},
                             directory);
  made.tier = from.text(
      "tier", {.def = "", .doc = "label by which operators choose models, for example cheap or strong"});
  made.weight = from.real("weight", {.def = 1.0,
                                     .min = 0.0,
                                     .doc = "relative probability of being chosen within the tier; 0: only "
                                            "operators that name the model use it"});
  made.policy_version = from.text(
      "policy_version", {.def = "", .doc = "label of the model weights, stored with each call for training"});
  decode_price(from, made);
  decode_dialect(from, server);
  decode_timeouts(from, server);
  decode_retries(from, server);
  decode_rate(from, server);
  if (from_files || !server.command.empty()) {  // each gets the whole of one request and gives one reply
    server.dialect.stream = false;
    server.dialect.several_replies = false;
  }
  return made;
}

std::shared_ptr<language_models> decode_models(settings& from, const std::string& directory,
                                               const registry& plugins, bool ready) {
  models_settings made;
  decode_cassette(from, directory, made);
  const bool needs_keys = ready && made.mode != cassette_mode::replay;
  made.from_files =
      from.text("ask",
                {.def = "servers",
                 .doc = "who is asked. files: nobody; the run stops when a model is asked, its requests are "
                        "files in the folder requests of the run, and kevo resume takes the replies from "
                        "files beside them (kevo run --until-model sets this)",
                 .one_of = {"servers", "files"}}) == "files";
  std::set<std::string> names;
  for (settings& one : from.children("models", false, "the language models")) {
    made.models.push_back(decode_model(one, directory, needs_keys, made.from_files));
    if (!names.insert(made.models.back().name).second)
      one.fail("name", "two models have this name", "give each model a different name");
  }
  decode_choice(from, directory, plugins, made.choice);
  made.max_money = from.real(
      "max_money", {.def = 0.0,
                    .min = 0.0,
                    .unit = "money",
                    .doc = "spending limit; a call that might exceed it is not made; 0 means no limit"});
  made.patience_s =
      from.real("patience", {.def = made.patience_s,
                             .min = 0.0,
                             .unit = "s",
                             .doc = "if no model has answered for this long, the run ends with an error and "
                                    "can be resumed; until then, kevo tries an unreachable server again. 0: "
                                    "a call to an unreachable server fails, and the run continues"});
  made.prompts = path_from(from, "prompts",
                           {.def = "",
                            .doc = "folder of prompt files that replace the shipped ones, "
                                   "relative to the config; empty means no folder"},
                           directory);
  decode_knowledge(from, directory, names, made);
  if (made.models.empty()) return nullptr;
  made.ready = ready;
  return std::make_shared<language_models>(std::move(made));
}

}  // namespace kevo
