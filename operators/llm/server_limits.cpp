#include "operators/llm/server_limits.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

namespace kevo {
namespace {

/// A number stands between two texts; the second may be empty.
struct place_of_number {
  std::string_view before;
  std::string_view after;
};

constexpr place_of_number places_of_context[] = {
    {"context length is ", ""}, {"context length of ", ""}, {"context length (", ""},
    {"context size (", ""},     {"context size of ", ""},   {"context window of ", ""},
    {"tokens allowed (", ""},   {"> ", " maximum"},         {"exceed context limit: ", ""},
    {"context limit of ", ""},  {"context window is ", ""}, {"context window (", ""}};
constexpr place_of_number places_of_reply[] = {{"at most ", " completion"},
                                               {"at most ", " output"},
                                               {"> ", ", which is the maximum allowed number of output"},
                                               {"max_tokens` must be less than or equal to ", ""},
                                               {"max_completion_tokens` must be less than or equal to ", ""},
                                               {"range of max_tokens is [1, ", ""}};
constexpr std::string_view marks_of_length[] = {
    "context_length_exceeded", "context length",     "context size",      "context window",
    "context limit",           "prompt is too long", "input token count", "longer than"};

/// The number at the beginning of a text, with commas or in backticks, and how many characters it has.
std::optional<std::int64_t> number_at(std::string_view text, std::size_t& length) {
  std::int64_t value = 0;
  bool any = false;
  for (length = 0; length < text.size(); ++length) {
    const char c = text[length];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      if (value > 1'000'000'000) return std::nullopt;
      value = 10 * value + (c - '0');
      any = true;
    } else if (c == '`' || (c == ',' && any && length + 1 < text.size() &&
                            std::isdigit(static_cast<unsigned char>(text[length + 1])) != 0)) {
      continue;
    } else {
      break;
    }
  }
  return any ? std::optional(value) : std::nullopt;
}

std::int64_t first_number(std::string_view text, const place_of_number& where) {
  for (std::size_t at = text.find(where.before); at != std::string_view::npos;
       at = text.find(where.before, at + 1)) {
    std::string_view rest = text.substr(at + where.before.size());
    // "190000 + 32768 > 200000": the limit stands last.
    if (where.before == "exceed context limit: ") {
      const auto greater = rest.find("> ");
      if (greater == std::string_view::npos) continue;
      rest.remove_prefix(greater + 2);
    }
    std::size_t length = 0;
    const auto value = number_at(rest, length);
    if (value && *value > 0 && rest.substr(length).starts_with(where.after)) return *value;
  }
  return 0;
}

}  // namespace

server_limits limits_in(std::string_view refusal) {
  server_limits found;
  for (const auto& where : places_of_reply) {
    if (found.reply == 0) found.reply = first_number(refusal, where);
  }
  for (const auto& where : places_of_context) {
    if (found.context == 0) found.context = first_number(refusal, where);
  }
  std::string lower(refusal);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  found.too_long = found.context > 0 ||
                   std::any_of(std::begin(marks_of_length), std::end(marks_of_length),
                               [&](std::string_view mark) { return lower.find(mark) != std::string::npos; });
  return found;
}

}  // namespace kevo
