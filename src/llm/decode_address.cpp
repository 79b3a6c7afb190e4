#include "src/llm/decode_address.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <kevo/error.hpp>

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

}  // namespace

std::string decode_url(settings& from, bool needed) {
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

std::string decode_key(settings& from, const std::string& directory, const std::string& url, bool needed) {
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

std::vector<request_header> decode_headers(settings& from, const std::string& directory, bool needed) {
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

}  // namespace kevo
