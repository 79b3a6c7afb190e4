#include "src/llm/cassette.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <kevo/error.hpp>
#include <kevo/settings.hpp>

#include "src/base/settings/json.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/base/text/utf8.hpp"

namespace kevo {
namespace {

constexpr const char* heading =
    "# Replies of language models, recorded by kevo: `kevo run CONFIG --replay-models` answers from this "
    "file.\nreplies:\n";

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\x%02x", code);
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Whether a block scalar gives the text back byte for byte.
bool plain_block(const std::string& text) {
  if (text.empty() || text.front() == ' ' || text.front() == '\n' || text.front() == '#') return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) {
                        return (static_cast<unsigned char>(c) < 0x20 && c != '\n') ||
                               static_cast<unsigned char>(c) >= 0x7f;
                      }) &&
         text.find(" \n") == std::string::npos && text.back() != ' ';
}

void put_text(std::string& to, const std::string& name, const std::string& raw) {
  if (raw.empty()) return;
  const std::string text = as_utf8(raw);
  if (!plain_block(text)) {
    to += "    " + name + ": " + quoted(text) + "\n";
    return;
  }
  to += "    " + name + (text.back() == '\n' ? (text.ends_with("\n\n") ? ": |+\n" : ": |\n") : ": |-\n");
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    to += (end == at ? "" : "      ") + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
}

std::string entry_text(const cassette_key& key, const recorded_reply& what) {
  std::string text = "  - operator: " + quoted(key.operator_name) + "\n    model: " + quoted(key.model) +
                     "\n    ordinal: " + std::to_string(key.ordinal) + "\n";
  if (!what.request.empty()) text += "    request: " + quoted(what.request) + "\n";
  const chat_reply& r = what.reply;
  if (!r.ok()) text += "    status: " + std::string(to_string(r.status)) + "\n";
  if (r.tokens_cached > 0) text += "    tokens_cached: " + std::to_string(r.tokens_cached) + "\n";
  text += "    tokens_in: " + std::to_string(r.tokens_in) +
          "\n    tokens_out: " + std::to_string(r.tokens_out) + "\n";
  put_text(text, "reasoning", r.reasoning);
  put_text(text, "content", r.content);
  put_text(text, "detail", r.detail);
  put_text(text, "server_model", r.model);
  if (!r.tool_calls.empty()) {
    text += "    tool_calls:\n";
    for (const auto& call : r.tool_calls)
      text += "      - {id: " + quoted(call.id) + ", name: " + quoted(call.name) +
              ", arguments: " + quoted(call.arguments) + "}\n";
  }
  return text;
}

/// JSON as it was recorded, or a map as people write it.
std::string arguments_of_call(settings& call) {
  const settings_node* given = call.raw("arguments");
  return given != nullptr && given->is_map() ? json_of(*given) : call.text("arguments");
}

recorded_reply read_entry(settings& from) {
  recorded_reply what;
  what.request = from.text("request", {.def = ""});
  const std::vector<std::string> words(reply_status_names.begin(), reply_status_names.end());
  const std::string status = from.text("status", {.def = "ok", .one_of = words});
  chat_reply& r = what.reply;
  r.status = static_cast<reply_status>(std::find(words.begin(), words.end(), status) - words.begin());
  r.tokens_in = from.integer("tokens_in", {.def = 0, .min = 0});
  r.tokens_cached = std::min(from.integer("tokens_cached", {.def = 0, .min = 0}), r.tokens_in);
  r.tokens_out = from.integer("tokens_out", {.def = 0, .min = 0});
  r.reasoning = from.text("reasoning", {.def = ""});
  r.content = from.text("content", {.def = ""});
  r.detail = from.text("detail", {.def = ""});
  r.model = from.text("server_model", {.def = ""});
  for (settings& call : from.children("tool_calls", false)) {
    r.tool_calls.push_back({call.text("id", {.def = ""}), call.text("name"), arguments_of_call(call)});
  }
  return what;
}

/// Whether a file holds nothing that a new recording would destroy: it is empty, or a cassette that was
/// recorded
/// (`about` is in those that people wrote).
bool may_be_recorded_over(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  settings_node root;
  if (file.peek() == std::ifstream::traits_type::eof()) return true;
  try {
    root = load_yaml(path);
  } catch (const error&) {
    return false;
  }
  return root.is_map() && root.find("replies") != nullptr && root.find("about") == nullptr;
}

}  // namespace

std::string to_string(const cassette_key& key) {
  return key.operator_name + "/" + key.model + "/" + std::to_string(key.ordinal);
}

cassette::cassette(std::string path, cassette_mode mode) : path_(std::move(path)), mode_(mode) {
  if (mode_ == cassette_mode::off) return;
  const bool there = std::filesystem::exists(path_);
  if (mode_ == cassette_mode::replay && !there)
    throw error(error_code::input, "the cassette to replay does not exist", {.file = path_},
                "record one with llm.cassette.mode=record");
  if (there && mode_ != cassette_mode::record) {
    load();
    return;
  }
  // A config may be somebody else's, and name any file.
  if (there && !may_be_recorded_over(path_))
    throw error(error_code::input,
                "the file exists and is not a recorded cassette; recording would overwrite it",
                {.file = path_}, "name another file as llm.cassette.file, or remove this one");
  std::error_code failed;
  const auto folder = std::filesystem::path(path_).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  std::FILE* file = std::fopen(path_.c_str(), "wb");
  const bool good = file != nullptr && std::fputs(heading, file) >= 0;
  if (file == nullptr || (std::fclose(file) != 0) || !good)
    throw error(error_code::environment, std::string("cannot begin the cassette: ") + std::strerror(errno),
                {.file = path_}, "name a file in a writable folder as llm.cassette.file");
}

void cassette::load() {
  settings root(load_yaml(path_));
  root.text("about", {.def = ""});
  settings calls = root.child_or_empty("calls");
  for (const std::string& name : calls.keys()) {
    for (const std::string& whose : calls.texts(name)) {
      if (!sequences_.try_emplace(whose, name).second)
        calls.fail(name,
                   "the calls of '" + whose + "' belong to the sequence '" + sequences_[whose] + "' already",
                   "name them in one sequence only");
    }
  }
  for (settings& one : root.children("replies", true)) {
    const cassette_key key{one.text("operator"), one.text("model"),
                           static_cast<std::uint64_t>(one.integer("ordinal", {.min = 0}))};
    if (!entries_.try_emplace(key, read_entry(one)).second)
      throw error(error_code::input, "the cassette contains the reply " + to_string(key) + " twice",
                  one.place(), "remove one of the two entries");
  }
  root.finish();
}

std::size_t cassette::size() const {
  const std::scoped_lock lock(guard_);
  return entries_.size();
}

std::string cassette::sequence(const std::string& operator_name, std::int64_t turn) const {
  for (const std::string& whose : {operator_name + (turn == 0 ? "/first" : "/later"), operator_name}) {
    if (const auto it = sequences_.find(whose); it != sequences_.end()) return it->second;
  }
  return operator_name;
}

std::optional<recorded_reply> cassette::find(const cassette_key& key) const {
  const std::scoped_lock lock(guard_);
  const auto it = entries_.find(key);
  return it == entries_.end() ? std::nullopt : std::optional(it->second);
}

void cassette::add(const cassette_key& key, const recorded_reply& what) {
  const std::scoped_lock lock(guard_);
  std::FILE* file = std::fopen(path_.c_str(), "ab");
  const std::string text = entry_text(key, what);
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) good = std::fclose(file) == 0 && good;
  if (!good)
    throw error(error_code::environment, std::string("cannot write the cassette: ") + std::strerror(errno),
                {.file = path_}, "free some disk space, or name another file as llm.cassette.file");
}

}  // namespace kevo
