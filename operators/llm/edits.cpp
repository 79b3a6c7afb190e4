#include "operators/llm/edits.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "operators/llm/prompt.hpp"

namespace kevo {
namespace {

using lines = std::vector<std::string>;

lines split(std::string_view text) {
  lines all;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    all.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::string joined(const lines& all) {
  std::string text;
  for (const auto& line : all) text += line + "\n";
  return text;
}

std::string_view without_end(std::string_view line) {
  const auto last = line.find_last_not_of(" \t");
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}
std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : without_end(line.substr(first));
}
std::string_view indent_of(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

bool begins(std::string_view line, std::string_view mark, std::string_view word) {
  line = trimmed(line);
  if (!line.starts_with(mark)) return false;
  line.remove_prefix(mark.size());
  while (line.starts_with(mark.front())) line.remove_prefix(1);
  return trimmed(line) == word;
}

std::vector<text_edit> blocks(const lines& reply, std::string& complaint) {
  enum class part { outside, search, replace } now = part::outside;
  std::vector<text_edit> edits;
  for (const auto& line : reply) {
    if (begins(line, "<<<<<<", "SEARCH")) {
      if (now != part::outside) {
        complaint = fmt::format("block {} is not closed by >>>>>>> REPLACE", edits.size());
        return {};
      }
      edits.emplace_back();
      now = part::search;
    } else if (now == part::search && begins(line, "======", "")) {
      now = part::replace;
    } else if (now == part::replace && begins(line, ">>>>>>", "REPLACE")) {
      now = part::outside;
    } else if (now == part::search) {
      edits.back().search.push_back(line);
    } else if (now == part::replace) {
      edits.back().replace.push_back(line);
    }
  }
  if (now != part::outside) {
    complaint = fmt::format("block {} ends without {}", edits.size(),
                            now == part::search ? "=======" : ">>>>>>> REPLACE");
    return {};
  }
  return edits;
}

std::vector<text_edit> hunks(const lines& reply) {
  std::vector<text_edit> edits;
  bool inside = false;
  for (const auto& line : reply) {
    if (line.starts_with("@@")) {
      edits.emplace_back();
      inside = true;
    } else if (line.starts_with("```") || line.starts_with("--- ") || line.starts_with("+++ ") ||
               line.starts_with("diff ")) {
      inside = false;
    } else if (inside && line.starts_with("\\ ")) {
      continue;  // "\ No newline at end of file"
    } else if (inside) {
      const char sign = line.empty() ? ' ' : line.front();
      const std::string rest = line.empty() ? line : line.substr(1);
      if (sign != '+') edits.back().search.push_back(sign == ' ' || sign == '-' ? rest : line);
      if (sign != '-') edits.back().replace.push_back(sign == ' ' || sign == '+' ? rest : line);
    }
  }
  std::erase_if(edits, [](const text_edit& e) { return e.search == e.replace; });
  return edits;
}

using same_line = std::function<bool(std::string_view, std::string_view)>;

std::vector<std::size_t> places(const lines& source, const lines& search, const same_line& same) {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at + search.size() <= source.size(); ++at) {
    if (std::equal(search.begin(), search.end(), source.begin() + static_cast<std::ptrdiff_t>(at),
                   [&](const auto& a, const auto& b) { return same(a, b); }))
      found.push_back(at);
  }
  return found;
}

/// The lines of the source that agree with most of a search, for the complaint.
std::string nearest(const lines& source, const lines& search) {
  std::size_t best = 0;
  std::size_t most = 0;
  for (std::size_t at = 0; at < source.size(); ++at) {
    std::size_t agree = 0;
    for (std::size_t i = 0; i < search.size() && at + i < source.size(); ++i)
      agree += !trimmed(search[i]).empty() && trimmed(search[i]) == trimmed(source[at + i]) ? 1U : 0U;
    if (agree > most) {
      most = agree;
      best = at;
    }
  }
  if (most == 0) return "The source has nothing like it.";
  lines part;
  for (std::size_t i = best; i < source.size() && i < best + search.size() + 1; ++i)
    part.push_back(source[i]);
  for (std::size_t i = 0; i < search.size() && best + i < source.size(); ++i) {
    if (trimmed(search[i]) != trimmed(source[best + i]))
      return fmt::format("The nearest place is line {}; its line {} differs from what the block says:\n{}",
                         best + 1, best + i + 1, fenced(joined(part)));
  }
  return fmt::format("The nearest place is line {}:\n{}", best + 1, fenced(joined(part)));
}

/// The replacement, moved by the indentation by which source and search differ.
lines moved(const lines& replace, std::string_view source_indent, std::string_view search_indent) {
  lines result;
  for (const auto& line : replace) {
    if (!trimmed(line).empty() && std::string_view(line).starts_with(search_indent)) {
      result.push_back(std::string(source_indent) + line.substr(search_indent.size()));
    } else {
      result.push_back(line);
    }
  }
  return result;
}

}  // namespace

text_edit edit_of(std::string_view search, std::string_view replace) {
  return {split(search), split(replace)};
}

std::vector<text_edit> parse_edits(std::string_view reply, std::string& complaint) {
  const lines all = split(reply);
  std::vector<text_edit> edits = blocks(all, complaint);
  if (!complaint.empty()) return {};
  if (edits.empty()) edits = hunks(all);
  if (edits.empty())
    complaint = "the reply holds no edit: neither a SEARCH/REPLACE block nor a hunk of a unified diff";
  return edits;
}

bool holds_edit_marks(std::string_view reply) {
  const lines all = split(reply);
  return std::any_of(all.begin(), all.end(), [](const std::string& line) {
    return begins(line, "<<<<<<", "SEARCH") || begins(line, ">>>>>>", "REPLACE") || line.starts_with("@@");
  });
}

namespace {

/// "3 places (lines 4, 9 and 17)", of at least two; numbers from 0.
std::string places_text(const std::vector<std::size_t>& found) {
  constexpr std::size_t most = 8;
  std::string text = fmt::format("{} places (lines ", found.size());
  for (std::size_t i = 0; i < std::min(found.size(), most); ++i) {
    const bool last = i + 1 == found.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", found[i] + 1);
  }
  return text + (found.size() > most ? ", ...)" : ")");
}

std::string without_last_break(const lines& all) {
  std::string text = joined(all);
  if (!text.empty()) text.pop_back();
  return text;
}

/// Replaces a search that begins or ends within a line. `found` are the lines in which it fits; the text
/// changes if there is one.
void replace_within(lines& text, const lines& search, const lines& replace, std::vector<std::size_t>& found) {
  const std::string whole = joined(text);
  const std::string wanted = without_last_break(search);
  std::size_t first = 0;
  for (std::size_t at = whole.find(wanted); at != std::string::npos; at = whole.find(wanted, at + 1)) {
    if (found.empty()) first = at;
    found.push_back(static_cast<std::size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at), '\n')));
  }
  if (found.size() == 1)
    text = split(whole.substr(0, first) + without_last_break(replace) + whole.substr(first + wanted.size()));
}

}  // namespace

std::string apply_edits(std::string_view source, const std::vector<text_edit>& edits,
                        std::string& complaint) {
  lines text = split(source);
  for (std::size_t n = 0; n < edits.size(); ++n) {
    const text_edit& edit = edits[n];
    lines search = edit.search;
    lines replace = edit.replace;
    // Blank lines at the ends are often the model's own.
    const auto blank = [](const std::string& line) { return trimmed(line).empty(); };
    while (!search.empty() && blank(search.front()) && !replace.empty() && blank(replace.front())) {
      search.erase(search.begin());
      replace.erase(replace.begin());
    }
    if (search.empty() || std::all_of(search.begin(), search.end(), blank)) {
      if (!text.empty()) {
        complaint = fmt::format("edit {} of {} has an empty search part: name the lines that it replaces",
                                n + 1, edits.size());
        return std::string(source);
      }
      text = replace;
      continue;
    }
    const same_line levels[] = {[](auto a, auto b) { return a == b; },
                                [](auto a, auto b) { return without_end(a) == without_end(b); },
                                [](auto a, auto b) { return trimmed(a) == trimmed(b); }};
    std::vector<std::size_t> found;
    std::size_t level = 0;
    for (; level < 3 && found.empty(); ++level) found = places(text, search, levels[level]);
    if (found.empty()) {
      replace_within(text, search, replace, found);
      if (found.size() == 1) continue;
    }
    if (found.size() != 1) {
      complaint = found.empty() ? fmt::format("edit {} of {} does not match the source. {}", n + 1,
                                              edits.size(), nearest(text, search))
                                : fmt::format("edit {} of {} fits in {}: give more of the text around it",
                                              n + 1, edits.size(), places_text(found));
      return std::string(source);
    }
    const auto at = text.begin() + static_cast<std::ptrdiff_t>(found.front());
    if (level == 3) {
      const auto solid =
          static_cast<std::size_t>(std::find_if_not(search.begin(), search.end(), blank) - search.begin());
      replace = moved(replace, indent_of(text[found.front() + solid]), indent_of(search[solid]));
    }
    const auto after = text.erase(at, at + static_cast<std::ptrdiff_t>(search.size()));
    text.insert(after, replace.begin(), replace.end());
  }
  return joined(text);
}

}  // namespace kevo
