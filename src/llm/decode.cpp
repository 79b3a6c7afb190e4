#include "src/llm/decode.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <string_view>

#include "src/base/settings/json.hpp"
#include "src/base/settings/overrides.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/base/text/text_file.hpp"
#include "src/llm/url.hpp"

namespace kevo {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Whether OPENAI_API_KEY is meant for this address: a key must not go to a server that it was not made for.
bool is_openai_address(const std::string& url) {
  return url.starts_with("https://api.openai.com/") ||
         (!url.empty() && url == environment("OPENAI_BASE_URL"));
}

std::string key_of(settings& from, const std::string& directory, const std::string& url, bool needed) {
  const bool usual = !from.probing() && !from.has("key_file") && is_openai_address(url) &&
                     !environment("OPENAI_API_KEY").empty();
  const std::string variable = from.text(
      "key_env",
      {.def = usual ? "OPENAI_API_KEY" : "",
       .doc = "environment variable that holds the API key; empty means no key. If the key is absent, "
              "OPENAI_API_KEY is used for the servers https://api.openai.com and OPENAI_BASE_URL"});
  const std::string file = path_from(
      from, "key_file",
      {.def = "", .doc = "file that holds the API key, relative to the config; empty means no file"},
      directory);
  std::string key;
  if (!file.empty()) {
    if (needed) key = read_text_file(file, 65536, from.place("key_file"));
  } else if (!variable.empty()) {
    if (const char* value = std::getenv(variable.c_str()); value != nullptr) key = value;
    if (key.empty() && needed)
      from.fail("key_env", "the environment variable " + variable + " is not set",
                "export it, or replay recorded replies with: kevo run CONFIG --replay-models");
  }
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' ')) key.pop_back();
  for (const char c : key) {
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f)
      throw error(error_code::input,
                  "the API key contains a space, a line break or a character that is not ASCII",
                  from.place(file.empty() ? "key_env" : "key_file"), "remove this character from the key");
  }
  return key;
}

/// Whether a name is one under which keys and passwords are sent.
bool names_a_secret(std::string name) {
  for (char& c : name) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "key" || name == "sig" || name == "code") return true;
  for (const char* part :
       {"authorization", "api-key", "apikey", "-key", "token", "secret", "password", "cookie"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

/// Whether RFC 9110 allows this as the name of a header.
bool is_header_name(const std::string& name) {
  constexpr std::string_view more = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || more.find(c) != std::string_view::npos;
  });
}

/// What the client sets by itself, and what would break a request.
bool is_own_header(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name == "host" || name == "content-length" || name == "transfer-encoding" || name == "connection";
}

/// The value of a header that the config does not hold itself: of an environment variable or of a file.
std::string secret_of(settings& from, const std::string& directory, bool needed) {
  const std::string variable =
      from.text("env", {.def = "", .doc = "environment variable that holds the value of the header"});
  const std::string file = path_from(
      from, "file", {.def = "", .doc = "file that holds the value, relative to the config"}, directory);
  std::string value;
  if (variable.empty() && file.empty())
    from.fail("env", "the value of this header is missing",
              "write {env: NAME_OF_A_VARIABLE} or {file: PATH}");
  if (!file.empty()) {
    if (needed) value = read_text_file(file, 65536, from.place("file"));
  } else if (const char* there = std::getenv(variable.c_str()); there != nullptr) {
    value = there;
  }
  while (!value.empty() && (value.back() == '\n' || value.back() == '\r' || value.back() == ' '))
    value.pop_back();
  if (value.empty() && needed && !variable.empty())
    from.fail("env", "the environment variable " + variable + " is not set",
              "export it, or replay recorded replies with: kevo run CONFIG --replay-models");
  if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c >= 0x7f; }))
    from.fail(file.empty() ? "env" : "file",
              "the value of this header contains a line break or a character that is not ASCII",
              "remove this character");
  return value;
}

std::vector<request_header> headers_from(settings& from, const std::string& directory, bool needed) {
  constexpr const char* doc =
      "further headers of each request, by name. A value is a text, or {env: NAME} or {file: PATH} for the "
      "value of an environment variable or of a file; keys and tokens must be given in one of these two "
      "forms";
  if (from.probing()) {
    from.raw("headers", doc, "map of texts");
    return {};
  }
  std::vector<request_header> made;
  settings headers = from.child_or_empty("headers", doc);
  for (const std::string& name : headers.keys()) {
    if (!is_header_name(name) || is_own_header(name))
      headers.fail(name, "a request cannot have a header of this name set by a config");
    if (headers.raw().find(name)->is_map()) {
      settings source = headers.child(name, "where the value of the header is found");
      made.push_back({name, secret_of(source, directory, needed), true});
      continue;
    }
    std::string value = headers.text(name, {.doc = "value of the header"});
    if (names_a_secret(name) || value.find("${") != std::string::npos)
      headers.fail(name, "the value of this header would be stored with the run",
                   "put it into an environment variable and write " + name + ": {env: NAME_OF_THE_VARIABLE}");
    made.push_back({name, std::move(value), false});
  }
  return made;
}

/// A config and a journal hold the address as it is: nothing in it may be secret.
void refuse_secrets_in_url(const settings& from, const std::string& text) {
  const url parts = parse_url(text);
  if (!parts.user.empty())
    from.fail(
        "url", "the address '" + without_user(text) + "' contains a user name or a password",
        "remove it from the address. A key is given by key_env: NAME_OF_A_VARIABLE; for user and password "
        "write headers: {Authorization: {env: NAME_OF_A_VARIABLE}} with a variable that holds "
        "\"Basic ...\"");
  const auto query = parts.path.find('?');
  std::size_t begin = query;
  while (begin != std::string::npos) {
    ++begin;
    const std::size_t end = parts.path.find('&', begin);
    const std::string pair = parts.path.substr(begin, end == std::string::npos ? end : end - begin);
    const std::string name = pair.substr(0, pair.find('='));
    if (names_a_secret(name))
      from.fail("url", "the query of the address contains '" + name + "', which would be stored with the run",
                "remove it from the address, and give the key by key_env or headers");
    begin = end;
  }
}

/// Where the variables of OpenAI's own client say that the server is.
std::string usual_url() {
  if (std::string named = environment("OPENAI_BASE_URL"); !named.empty()) return named;
  return environment("OPENAI_API_KEY").empty() ? std::string() : std::string("https://api.openai.com/v1");
}

/// `needed`: the replies do not come from elsewhere.
std::string url_from(settings& from, bool needed) {
  std::string url = from.text(
      "url",
      {.def = needed && !from.probing() ? usual_url() : std::string(),
       .doc = "base URL of the OpenAI-compatible server, mostly up to and including /v1; a query is kept. "
              "If absent, the environment variable OPENAI_BASE_URL, or https://api.openai.com/v1 if only "
              "OPENAI_API_KEY is set"});
  if (from.probing()) return url;
  if (url.empty()) {
    if (needed)
      from.fail("url", "this model has neither an address nor a command",
                "write url: \"http://localhost:8000/v1\" or command: [PROGRAM], or set OPENAI_BASE_URL or "
                "OPENAI_API_KEY in the environment");
    return url;
  }
  try {
    refuse_secrets_in_url(from, url);
  } catch (const error& wrong) {
    error_place place = from.place("url");
    if (is_override(place) && url.find('@') != std::string::npos) place.file = "--set " + place.key;
    throw error(error_code::input, wrong.message(), std::move(place), wrong.hint());
  }
  return url;
}

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
  server.url = url_from(from, asked && server.command.empty());
  if (!server.url.empty() && !server.command.empty() && !from.probing())
    from.fail("command", "a model has either a url or a command", "remove one of them");
  server.dialect.model = from.text(
      "model", {.def = made.name, .doc = "name of the model on the server; empty: the value of name"});
  server.key = key_of(from, directory, server.url, needs_key && asked);
  server.headers = headers_from(from, directory, needs_key && asked);
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
