#include "src/cli/init_model.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/llm/decode.hpp"
#include "src/llm/http.hpp"

namespace kevo::cli {
namespace {

namespace json = boost::json;

/// Services whose models are known by their names or hosts.
struct provider {
  std::string_view host;
  std::string_view url;
  std::string_view key_env;
  std::string_view more;  ///< further settings of the entry
};
constexpr provider by_openai{"api.openai.com", "https://api.openai.com/v1", "OPENAI_API_KEY",
                             ", max_tokens_key: max_completion_tokens"};
constexpr provider by_anthropic{"api.anthropic.com", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", ""};
constexpr provider by_gemini{"generativelanguage.googleapis.com",
                             "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", ""};
constexpr provider by_openrouter{"openrouter.ai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", ""};
constexpr provider by_ollama{"localhost", "http://localhost:11434/v1", "", ""};

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Who offers a model of this name. Ollama's names have a colon, those of OpenRouter a slash.
provider provider_of(std::string_view name) {
  if (name.starts_with("claude-")) return by_anthropic;
  if (name.starts_with("gemini-")) return by_gemini;
  if (name.find('/') != std::string_view::npos) return by_openrouter;
  if (name.find(':') != std::string_view::npos) return by_ollama;
  return by_openai;
}

std::string quoted_text(std::string_view text) {
  return json::serialize(json::value(text));
}

/// The models that a server lists; empty if it does not answer within seconds.
std::vector<std::string> models_at(const url& address, const std::string& key) {
  http_request asked;
  asked.to = address;
  const auto query = asked.to.path.find('?');
  const std::string rest = query == std::string::npos ? std::string() : asked.to.path.substr(query);
  asked.to.path.resize(std::min(query, asked.to.path.size()));
  while (asked.to.path.ends_with('/')) asked.to.path.pop_back();
  asked.to.path += "/models" + rest;
  asked.proxy = proxy_from_environment(address);
  asked.headers = {{"Accept", "application/json"}};
  if (!key.empty()) asked.headers.emplace_back("Authorization", "Bearer " + key);
  asked.limits = {.connect_s = 3, .first_s = 5, .idle_s = 5, .total_s = 10};
  asked.get = true;
  const http_response answer = post(asked);
  std::vector<std::string> names;
  boost::system::error_code ec;
  const json::value all = json::parse(answer.body, ec);
  if (ec || answer.status / 100 != 2 || !all.is_object()) return names;
  const auto* data = all.get_object().if_contains("data");
  const auto* list = data == nullptr ? nullptr : data->if_array();
  if (list == nullptr) return names;
  for (const auto& one : *list) {
    const auto* id = one.is_object() ? one.get_object().if_contains("id") : nullptr;
    if (id != nullptr && id->is_string()) names.emplace_back(id->get_string());
  }
  return names;
}

std::string entry_line(const std::string& address, const std::string& model, std::string_view key_env,
                       std::string_view more) {
  return fmt::format("{{name: model, url: {}, model: {}{}{}}}", quoted_text(address), quoted_text(model),
                     key_env.empty() ? "" : fmt::format(", key_env: {}", key_env), more);
}

/// Refuses what a run would refuse: a password in an address, for instance.
void require_valid(const std::string& line) {
  settings entry(parse_yaml(line, "--model"));
  decode_model(entry, ".", false);
  entry.finish();
}

model_entry entry_of_address(const std::string& address) {
  constexpr const char* placeholder = "NAME_OF_YOUR_MODEL";
  require_valid(entry_line(address, placeholder, "", ""));
  const url parts = parse_url(address);
  provider known{};
  for (const provider& one : {by_openai, by_anthropic, by_gemini, by_openrouter}) {
    if (one.host == parts.host) known = one;
  }
  const std::string key_env(known.key_env);
  const auto names = models_at(parts, key_env.empty() ? std::string() : environment_text(key_env.c_str()));
  model_entry made{entry_line(address, names.empty() ? placeholder : names.front(), key_env, known.more), {}};
  if (names.empty()) {
    made.note = fmt::format("{} does not list its models: write the name of yours into llm.models", address);
  } else if (names.size() > 1) {
    made.note =
        fmt::format("{} has {} models, of which the config uses '{}'", address, names.size(), names.front());
  }
  if (key_env.empty() && parts.tls)
    made.note += fmt::format("{}if it needs a key, add key_env: NAME_OF_A_VARIABLE to llm.models",
                             made.note.empty() ? "" : "; ");
  return made;
}

}  // namespace

model_entry model_entry_of(const std::string& url_or_name) {
  if (url_or_name.empty())
    throw error(error_code::usage, "the language model has no name", {}, "write --model URL or --model NAME");
  if (url_or_name.find("://") != std::string::npos) return entry_of_address(url_or_name);
  const std::string base = environment_text("OPENAI_BASE_URL");
  const provider by = provider_of(url_or_name);
  const bool elsewhere = !base.empty() && (by.host == by_openai.host || by.host == by_openrouter.host);
  const bool keyed = !elsewhere || !environment_text("OPENAI_API_KEY").empty();
  model_entry made{elsewhere ? entry_line(base, url_or_name, keyed ? "OPENAI_API_KEY" : "", "")
                             : entry_line(std::string(by.url), url_or_name, by.key_env, by.more),
                   {}};
  require_valid(made.line);
  const std::string key_env(elsewhere ? "" : by.key_env);
  if (!key_env.empty() && environment_text(key_env.c_str()).empty())
    made.note = fmt::format("before the run, put your key into the environment: export {}=...", key_env);
  return made;
}

std::string with_model(std::string config, const model_entry& model) {
  const auto replace_line = [&config](std::string_view begins, const std::string& with) {
    const auto at = config.find(begins);
    const auto end = config.find('\n', at);
    config.replace(at, end - at, with);
  };
  config.insert(config.find("fitness:"), "llm:\n  models:\n    - " + model.line + "\n");
  const std::string_view operators = "operators: [";
  config.insert(config.find(operators) + operators.size(), "{type: llm_rewrite}, {type: llm_diff}, ");
  replace_line("stop:", "stop:    {any: [{evaluations: 200}, {seconds: 1800}]}");
  return config;
}

}  // namespace kevo::cli
