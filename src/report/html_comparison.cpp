// The seed and the best side by side, what changed marked.
#include <algorithm>

#include <fmt/format.h>

#include "src/base/text/line_diff.hpp"
#include "src/base/text/utf8.hpp"
#include "src/report/html_report.hpp"
#include "src/report/html_text.hpp"

namespace kevo::html {

namespace {

constexpr std::size_t most_rows = 6000;

std::string marked(std::string_view line, std::size_t begin, std::size_t end) {
  begin = std::min(begin, line.size());
  end = std::clamp(end, begin, line.size());
  // A mark must not cut a UTF-8 sequence into two halves that are not text.
  begin = boundary_before(line, begin);
  end = boundary_after(line, end);
  std::string text = escape(line.substr(0, begin));
  if (end > begin) text += "<b>" + escape(line.substr(begin, end - begin)) + "</b>";
  return text + escape(line.substr(end));
}

std::string row(const diff_row& r, const std::vector<std::string_view>& left,
                const std::vector<std::string_view>& right) {
  const auto number = [](std::size_t n) { return n == 0 ? std::string() : std::to_string(n); };
  switch (r.kind) {
    case diff_kind::folded:
      return fmt::format("<tr class=\"fold\"><td colspan=\"4\">{} unchanged lines</td></tr>", r.count);
    case diff_kind::same:
      return fmt::format("<tr><td class=\"ln\">{}</td><td>{}</td><td class=\"ln\">{}</td><td>{}</td></tr>",
                         r.left_line, escape(left[r.left_line - 1]), r.right_line,
                         escape(right[r.right_line - 1]));
    default:
      break;
  }
  std::string old_text, new_text;
  if (r.kind == diff_kind::changed) {
    const auto a = left[r.left_line - 1], b = right[r.right_line - 1];
    const auto part = part_that_changed(a, b);
    old_text = marked(a, part.begin, part.left_end);
    new_text = marked(b, part.begin, part.right_end);
  } else if (r.kind == diff_kind::removed) {
    old_text = escape(left[r.left_line - 1]);
  } else {
    new_text = escape(right[r.right_line - 1]);
  }
  return fmt::format(
      "<tr><td class=\"ln{0}\">{1}</td><td class=\"{2}\">{3}</td><td class=\"ln{4}\">{5}</td><td "
      "class=\"{6}\">{7}</td></tr>",
      r.left_line > 0 ? " del" : "", number(r.left_line), r.left_line > 0 ? "del" : "none", old_text,
      r.right_line > 0 ? " add" : "", number(r.right_line), r.right_line > 0 ? "add" : "none", new_text);
}

const source_file* file_of(const program& p, const std::string& path) {
  const auto it = std::find_if(p.files.begin(), p.files.end(), [&](const auto& f) { return f.path == path; });
  return it == p.files.end() ? nullptr : &*it;
}

std::string table(std::string_view old_text, std::string_view new_text) {
  const auto left = lines_of(old_text), right = lines_of(new_text);
  const auto rows = fold(diff_lines(left, right));
  std::string text =
      "<div class=\"scroll\"><table class=\"diff\"><colgroup><col class=\"c-ln\"><col><col "
      "class=\"c-ln\"><col></colgroup><tbody>";
  for (std::size_t i = 0; i < rows.size() && i < most_rows; ++i) text += row(rows[i], left, right);
  text += "</tbody></table></div>";
  if (rows.size() > most_rows)
    text += fmt::format("<p class=\"note\">{} more rows are not shown.</p>", rows.size() - most_rows);
  return text;
}

std::string whole(const program& p) {
  std::string text;
  for (const auto& f : p.files) {
    text += "<details><summary>The complete file " + escape(f.path) +
            " of the best candidate</summary><pre class=\"source\">" + escape(f.text) + "</pre></details>";
  }
  return text;
}

}  // namespace

std::string comparison(const report_content& content) {
  if (!content.best || !content.best_program) return {};
  std::string text = "<section><h2>What changed</h2>";
  if (!content.root_program || content.root == *content.best) {
    return text + "<p class=\"lead\">The best candidate is a seed, so that nothing changed.</p>" +
           whole(*content.best_program) + "</section>";
  }
  text += fmt::format(
      "<p class=\"lead\">Red: lines of the seed #{}, from which the best candidate descends. Green: lines of "
      "the best candidate, #{}.</p>",
      content.root, *content.best);
  const program& from = *content.root_program;
  const program& to = *content.best_program;
  for (std::size_t i = 0; i < to.files.size(); ++i) {
    const source_file* before =
        i == 0 && !from.files.empty() ? &from.files.front() : file_of(from, to.files[i].path);
    text += "<h3>" + escape(to.files[i].path) + "</h3>" +
            table(before == nullptr ? "" : std::string_view(before->text), to.files[i].text);
  }
  for (std::size_t i = 1; i < from.files.size(); ++i) {
    if (file_of(to, from.files[i].path) == nullptr)
      text += "<h3>" + escape(from.files[i].path) + " (removed)</h3>" + table(from.files[i].text, "");
  }
  return text + whole(to) + "</section>";
}

}  // namespace kevo::html
