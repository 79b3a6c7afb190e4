#include "operators/llm/prompt.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>
#include <kevo/error.hpp>

#include "src/base/text/text_file.hpp"
#include "src/base/text/utf8.hpp"

namespace kevo {
namespace {

constexpr std::size_t smallest_rest = 400;  ///< [bytes] a shorter remnant of a section says nothing

struct piece {
  bool place = false;
  std::string_view text;  ///< of a place its name
};

std::vector<piece> pieces_of(const std::string& file, std::string_view text) {
  std::vector<piece> all;
  while (!text.empty()) {
    const auto open = text.find("{{");
    const auto close = open == std::string_view::npos ? open : text.find("}}", open);
    if (open != std::string_view::npos && close == std::string_view::npos)
      throw error(error_code::input, "a placeholder is not closed: '}}' is missing after '{{'",
                  {.file = file});
    if (const auto plain = text.substr(0, open); !plain.empty()) all.push_back({false, plain});
    if (open == std::string_view::npos) break;
    all.push_back({true, text.substr(open + 2, close - open - 2)});
    text.remove_prefix(close + 2);
  }
  return all;
}

std::vector<std::pair<std::string, std::string_view>> messages_of(const std::string& file,
                                                                  std::string_view text) {
  std::vector<std::pair<std::string, std::string_view>> found;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line == "=== system" || line == "=== user") {
      if (!found.empty())
        found.back().second =
            found.back().second.substr(0, static_cast<std::size_t>(&text[at] - found.back().second.data()));
      found.emplace_back(line.substr(4), text.substr(std::min(end + 1, text.size())));
    }
    at = end + 1;
  }
  if (found.empty() || found.back().first != "user")
    throw error(error_code::input, "the last part of a prompt file must begin with the line '=== user'",
                {.file = file});
  return found;
}

void trim(std::vector<prompt_section>& sections, std::size_t excess, std::vector<std::string>& cut) {
  std::vector<prompt_section*> order;
  for (auto& s : sections) {
    if (!s.whole && !s.text.empty()) order.push_back(&s);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->priority < b->priority; });
  for (prompt_section* s : order) {
    if (excess == 0) return;
    const std::size_t size = s->text.size();
    if (size < excess + smallest_rest) {
      cut.push_back(s->name + " (all of it)");
      s->text.clear();
    } else {
      s->text = shortened(s->text, size - excess);
      cut.push_back(fmt::format("{} ({} of {} bytes)", s->name, size - s->text.size(), size));
    }
    excess -= std::min(excess, size - s->text.size());
  }
}

}  // namespace

assembled_prompt assemble(const std::string& file, std::string_view text,
                          std::vector<prompt_section> sections, std::int64_t budget) {
  const auto messages = messages_of(file, text);
  std::size_t fixed = 0;
  std::vector<bool> used(sections.size());
  for (const auto& [role, body] : messages) {
    for (const auto& one : pieces_of(file, body)) {
      if (!one.place) {
        fixed += one.text.size();
        continue;
      }
      const auto it =
          std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.name == one.text; });
      if (it == sections.end()) {
        std::vector<std::string> names;
        names.reserve(sections.size());
        for (const auto& s : sections) names.push_back(s.name);
        throw error(error_code::input, fmt::format("there is no section '{}'", one.text), {.file = file},
                    detail::hint_for(one.text, names, "sections"));
      }
      used[static_cast<std::size_t>(it - sections.begin())] = true;
    }
  }
  std::size_t total = fixed;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!used[i]) sections[i].text.clear();
    total += sections[i].text.size();
  }
  assembled_prompt made;
  const auto allowed = static_cast<std::size_t>(std::max<std::int64_t>(budget, 0)) * 3;
  if (total > allowed) trim(sections, total - allowed, made.cut);

  for (const auto& [role, body] : messages) {
    std::string filled;
    for (const auto& one : pieces_of(file, body)) {
      if (!one.place) {
        filled += one.text;
        continue;
      }
      const auto it =
          std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.name == one.text; });
      filled += it->text;
    }
    // Places that stayed empty leave blank lines behind.
    for (auto at = filled.find("\n\n\n"); at != std::string::npos; at = filled.find("\n\n\n", at))
      filled.erase(at, 1);
    made.messages.push_back({role, std::move(filled)});
  }
  if (!made.cut.empty()) {
    std::string missing = "\n(Left out for length: ";
    for (std::size_t i = 0; i < made.cut.size(); ++i) missing += (i == 0 ? "" : ", ") + made.cut[i];
    made.messages.back().content += missing + ")\n";
  }
  return made;
}

std::string prompt_text(const std::string& folder, const std::string& name) {
  const std::string own = folder.empty() ? "" : folder + "/" + name + ".md";
  if (!own.empty() && std::filesystem::exists(own)) return read_text_file(own);
  const std::string_view text = shipped_prompt(name);
  if (text.empty())
    throw error(error_code::input, "there is no prompt named '" + name + "'", {.file = own},
                detail::hint_for(name, shipped_prompts(), "shipped prompts"));
  return std::string(text);
}

std::string fenced(std::string_view text, std::string_view language) {
  std::size_t longest = 2;
  std::size_t now = 0;
  for (const char c : text) {
    now = c == '`' ? now + 1 : 0;
    longest = std::max(longest, now);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  const std::string gap = fmt::format("\n[... {} bytes left out ...]\n", text.size() - limit);
  const std::size_t kept = limit > gap.size() ? limit - gap.size() : 0;
  const std::size_t head = kept * 2 / 3;
  const std::size_t tail = text.size() - (kept - head);
  return std::string(text.substr(0, boundary_before(text, head))) + gap +
         std::string(text.substr(boundary_after(text, tail)));
}

}  // namespace kevo
