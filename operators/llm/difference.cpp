#include "operators/llm/difference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fitness/cascade/feedback.hpp"
#include "operators/llm/prompt.hpp"
#include "operators/llm/sections.hpp"
#include "src/base/text/line_diff.hpp"

namespace kevo {

std::string difference_text(std::string_view before, std::string_view after) {
  if (before == after) return {};
  const auto left = lines_of(before);
  const auto right = lines_of(after);
  std::string out;
  for (const auto& row : fold(diff_lines(left, right))) {
    if (row.kind == diff_kind::folded) out += fmt::format("@@ {} lines are the same @@\n", row.count);
    if (row.kind == diff_kind::same) out += fmt::format(" {}\n", left[row.left_line - 1]);
    if (row.kind == diff_kind::removed || row.kind == diff_kind::changed)
      out += fmt::format("-{}\n", left[row.left_line - 1]);
    if (row.kind == diff_kind::added || row.kind == diff_kind::changed)
      out += fmt::format("+{}\n", right[row.right_line - 1]);
  }
  return out;
}

std::string shown_beside(const program& one, const program& other, const std::string& name_of_other) {
  std::string text;
  for (const auto& file : one.files) {
    const auto same = std::find_if(other.files.begin(), other.files.end(),
                                   [&](const auto& each) { return each.path == file.path; });
    const std::string difference =
        same == other.files.end() ? std::string() : difference_text(same->text, file.text);
    if (same != other.files.end() && difference.empty()) continue;
    if (one.files.size() > 1) text += fmt::format("File {}:\n\n", file.path);
    if (difference.empty() || file.text.size() < 2 * difference.size()) {
      text += fenced(file.text, one.language);
    } else {
      text += fmt::format("Its difference to {}:\n\n{}", name_of_other, fenced(difference, "diff"));
    }
  }
  return text;
}

std::string described_with_times(const candidate_snapshot& one) {
  constexpr std::size_t most_of_plan = 300;
  std::string text = headline(one);
  const char* before = "; ";
  if (one.evaluation) {
    for (const auto& w : one.evaluation->workloads) {
      if (w.hidden || !(w.time_ns > 0)) continue;
      text += fmt::format("{}{} {}", before, w.uuid, time_text(w.time_ns));
      before = ", ";
    }
  }
  if (!one.summary.empty()) text += "; plan: " + one.summary.substr(0, most_of_plan);
  return text;
}

}  // namespace kevo
