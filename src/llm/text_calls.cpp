#include "src/llm/text_calls.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/json.hpp>

#include "src/llm/openai_fields.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Models write line breaks into JSON texts as they are.
std::string with_escaped_breaks(std::string_view text) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (c == '"') inside = !inside;
    if (inside && c == '\n') {
      out += "\\n";
    } else if (inside && c == '\t') {
      out += "\\t";
    } else if (inside && c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out;
}

/// All JSON values that follow each other in a text, also with commas or semicolons between them; nothing if
/// something else is there.
std::optional<std::vector<json::value>> values_in(std::string_view given) {
  const std::string text = with_escaped_breaks(given);
  std::string_view rest = without_blanks(text);
  std::vector<json::value> values;
  while (!rest.empty()) {
    json::stream_parser parser({}, {.max_depth = 64, .allow_invalid_utf8 = true});
    boost::system::error_code ec;
    const std::size_t read = parser.write_some(rest.data(), rest.size(), ec);
    if (!ec && !parser.done()) parser.finish(ec);  // a number may go on
    if (ec) return std::nullopt;
    values.push_back(parser.release());
    rest = without_blanks(rest.substr(read));
    if (rest.starts_with(';') || rest.starts_with(',')) rest = without_blanks(rest.substr(1));
  }
  return values;
}

std::string arguments_text(const json::object& from) {
  for (const char* key : {"arguments", "parameters", "args", "input"}) {
    const auto* value = from.if_contains(key);
    if (value == nullptr) continue;
    if (value->is_string()) return openai::text_of(from, key);
    if (value->is_object()) return json::serialize(*value);
  }
  return "{}";
}

/// {"name": ..., "arguments": ...} in its spellings; nothing if it names no tool.
std::optional<tool_call> call_of(const json::value& value) {
  const auto* one = value.if_object();
  if (one == nullptr) return std::nullopt;
  if (const auto* function = openai::object_of(*one, "function")) one = function;
  for (const char* key : {"name", "function", "tool", "tool_name"}) {
    if (std::string name = openai::text_of(*one, key); !name.empty())
      return tool_call{{}, std::move(name), arguments_text(*one)};
  }
  return std::nullopt;
}

/// The calls of a text that is JSON and nothing else; nothing if it is not, or one of its values is no call.
std::optional<std::vector<tool_call>> json_calls(std::string_view text) {
  auto values = values_in(text);
  if (!values || values->empty()) return std::nullopt;
  std::vector<json::value> flat;
  for (auto& value : *values) {
    if (auto* list = value.if_array()) {
      for (auto& one : *list) flat.push_back(std::move(one));
    } else {
      flat.push_back(std::move(value));
    }
  }
  std::vector<tool_call> calls;
  for (const auto& value : flat) {
    auto call = call_of(value);
    if (!call) return std::nullopt;
    calls.push_back(*std::move(call));
  }
  return calls.empty() ? std::nullopt : std::optional(std::move(calls));
}

/// What stands between two marks, from `at` on, which then is behind the second one; nothing if the first is
/// not there. Without the second mark it goes on to the end.
std::optional<std::string_view> between(std::string_view text, std::string_view open, std::string_view close,
                                        std::size_t& at) {
  const auto begin = text.find(open, at);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto from = begin + open.size();
  const auto end = text.find(close, from);
  at = end == std::string_view::npos ? text.size() : end + close.size();
  return text.substr(from, end == std::string_view::npos ? end : end - from);
}

/// The value of a parameter: one line break at each end belongs to the form.
std::string parameter_text(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

/// <function=NAME> ... </function> and <invoke name="NAME"> ... </invoke>.
std::optional<std::vector<tool_call>> tagged_calls(std::string_view text) {
  struct form {
    std::string_view open, name_end, close, parameter, parameter_name_end, parameter_close;
  };
  constexpr form forms[] = {
      {"<function=", ">", "</function>", "<parameter=", ">", "</parameter>"},
      {"<invoke name=\"", "\">", "</invoke>", "<parameter name=\"", "\">", "</parameter>"}};
  std::vector<tool_call> calls;
  for (const form& how : forms) {
    for (std::size_t at = 0; const auto block = between(text, how.open, how.close, at);) {
      const auto end = block->find(how.name_end);
      if (end == std::string_view::npos) return std::nullopt;
      tool_call call{{}, std::string(without_blanks(block->substr(0, end))), {}};
      const std::string_view body = block->substr(end + how.name_end.size());
      json::object arguments;
      for (std::size_t inside = 0;
           const auto one = between(body, how.parameter, how.parameter_close, inside);) {
        const auto name_end = one->find(how.parameter_name_end);
        if (name_end == std::string_view::npos) return std::nullopt;
        arguments[without_blanks(one->substr(0, name_end))] =
            parameter_text(one->substr(name_end + how.parameter_name_end.size()));
      }
      call.arguments = json::serialize(arguments);
      if (arguments.empty() && !without_blanks(body).empty())
        call.arguments = with_escaped_breaks(without_blanks(body));
      calls.push_back(std::move(call));
    }
  }
  return calls.empty() ? std::nullopt : std::optional(std::move(calls));
}

/// NAME and then <arg_key>KEY</arg_key><arg_value>VALUE</arg_value>.
std::optional<std::vector<tool_call>> keyed_call(std::string_view text) {
  const auto first = text.find("<arg_key>");
  if (first == std::string_view::npos) return std::nullopt;
  tool_call call{{}, std::string(without_blanks(text.substr(0, first))), {}};
  json::object arguments;
  std::size_t at = 0;
  while (const auto key = between(text, "<arg_key>", "</arg_key>", at)) {
    const auto value = between(text, "<arg_value>", "</arg_value>", at);
    if (!value) return std::nullopt;
    arguments[without_blanks(*key)] = parameter_text(*value);
  }
  call.arguments = json::serialize(arguments);
  return std::vector{std::move(call)};
}

/// NAME{...} and NAME[ARGS]{...}, as Mistral's models write calls.
std::optional<std::vector<tool_call>> named_call(std::string_view text) {
  const auto brace = text.find('{');
  if (brace == std::string_view::npos) return std::nullopt;
  std::string_view name = without_blanks(text.substr(0, brace));
  constexpr std::string_view mark = "[ARGS]";
  if (name.ends_with(mark)) name.remove_suffix(mark.size());
  const bool plain = !name.empty() && name.find_first_of(" \t\r\n[]<>\"") == std::string_view::npos;
  const auto values = values_in(text.substr(brace));
  if (!plain || !values || values->size() != 1 || !values->front().is_object()) return std::nullopt;
  return std::vector{tool_call{{}, std::string(name), json::serialize(values->front())}};
}

/// Without the fence of Markdown around it.
std::string_view unfenced(std::string_view text) {
  text = without_blanks(text);
  if (!text.starts_with("```") || !text.ends_with("```") || text.size() < 7) return text;
  text.remove_suffix(3);
  const auto line = text.find('\n');
  return line == std::string_view::npos ? text : without_blanks(text.substr(line));
}

std::vector<tool_call> calls_between_marks(std::string_view text, const std::vector<tool_definition>& tools) {
  const std::string_view body = unfenced(text);
  if (auto calls = json_calls(body)) return *std::move(calls);
  if (auto calls = tagged_calls(body)) return *std::move(calls);
  if (auto calls = keyed_call(body)) return *std::move(calls);
  if (auto calls = named_call(body)) return *std::move(calls);
  std::string name = "tool_call";
  std::size_t first = std::string_view::npos;
  for (const auto& tool : tools) {
    const auto at = body.find('"' + tool.name + '"');
    if (at >= first) continue;
    first = at;
    name = tool.name;
  }
  return {{{}, std::move(name), std::string(body)}};
}

struct mark {
  std::string_view open;
  std::string_view close;  ///< empty: the rest of the text
  bool kept = false;       ///< whether the marks are a part of what is read
};
constexpr mark marks[] = {{"<tool_call>", "</tool_call>"},
                          {"<tool_calls>", "</tool_calls>"},
                          {"<function_call>", "</function_call>"},
                          {"<|tool_call|>", "<|/tool_call|>"},
                          {"<|tool_call>", "<tool_call|>"},
                          {"<|python_tag|>", "<|eom_id|>"},
                          {"[TOOL_CALLS]", ""},
                          {"<function=", "</function>", true},
                          {"<invoke name=\"", "</invoke>", true}};

}  // namespace

std::string call_ids(const chat_request& request) {
  return "t" + std::to_string(10000 + request.messages.size());
}

void take_calls_from_text(chat_reply& reply, const std::vector<tool_definition>& tools,
                          const std::string& ids) {
  if (!reply.ok() || !reply.tool_calls.empty() || tools.empty()) return;
  const std::string_view text = reply.content;
  const auto offered = [&](const tool_call& call) {
    return std::any_of(tools.begin(), tools.end(), [&](const auto& tool) { return tool.name == call.name; });
  };
  std::vector<tool_call> found;
  std::string rest;
  std::size_t at = 0;
  while (at < text.size()) {
    const mark* next = nullptr;
    std::size_t begin = std::string_view::npos;
    for (const mark& one : marks) {
      const auto where = text.find(one.open, at);
      if (where >= begin) continue;
      begin = where;
      next = &one;
    }
    if (next == nullptr) break;
    const auto from = begin + next->open.size();
    const auto end = next->close.empty() ? std::string_view::npos : text.find(next->close, from);
    const auto after = end == std::string_view::npos ? text.size() : end + next->close.size();
    const std::string_view inside = next->kept
                                        ? text.substr(begin, after - begin)
                                        : text.substr(from, end == std::string_view::npos ? end : end - from);
    rest += text.substr(at, begin - at);
    for (auto& call : calls_between_marks(inside, tools)) found.push_back(std::move(call));
    at = after;
  }
  rest += text.substr(std::min(at, text.size()));
  if (found.empty()) {
    auto calls = json_calls(unfenced(text));
    if (!calls || !std::all_of(calls->begin(), calls->end(), offered)) return;
    found = *std::move(calls);
    rest.clear();
  }
  for (std::size_t i = 0; i < found.size(); ++i) found[i].id = ids + std::to_string(i);
  reply.content = std::string(without_blanks(rest));
  reply.tool_calls = std::move(found);
}

}  // namespace kevo
