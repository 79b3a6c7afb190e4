#pragma once
// What the texts of `kevo show` about runs and about candidates share. Internal to src/report.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/style/styled_text.hpp"
#include "src/base/text/format.hpp"
#include "src/report/judged_again.hpp"
#include "src/report/show.hpp"

namespace kevo::show {

using styled::line;
using styled::tone;

/// A name with spaces instead of underscores.
std::string readable(std::string_view name);

/// Lines, and tables whose columns are as wide as their content.
class writer {
 public:
  explicit writer(const show_style& style) : style_(style) {}

  std::string safe(std::string_view text) const { return format::one_line(text, !style_.unicode); }
  std::string figure(double speedup, double score) const {
    return format::figure(speedup, score, style_.unicode);
  }
  std::string bare(double score, bool is_speedup) const {
    return format::bare_figure(score, is_speedup, style_.unicode);
  }
  std::string speedup(double v) const { return format::speedup(v, style_.unicode); }
  std::string time(double v) const { return format::time(v, style_.unicode); }
  std::string interval(const kevo::interval& v) const {
    return format::interval(v.low, v.high, style_.unicode);
  }
  std::string bracket(const kevo::interval& v) const {
    const std::string text = interval(v);
    return text.empty() ? text : " [" + text + "]";
  }
  bool unicode() const { return style_.unicode; }
  std::string_view dot() const { return style_.unicode ? " · " : " - "; }

  void add(const line& l) { text_ += l.text(style_.color) + '\n'; }
  void blank() { text_ += '\n'; }
  void head(std::string_view title) {
    blank();
    add(line(title, tone::strong));
  }
  void fact(std::string_view name, const line& value) {
    line l;
    l.add("  ").add(name, tone::faint).add("  ").pad_to(20);
    add(l.add(value));
  }
  /// Columns that begin with '>' are flush right.
  void table(const std::vector<std::string>& titles, const std::vector<std::vector<line>>& rows);
  std::string take() { return std::move(text_); }

 private:
  void cell(line& to, const line& value, std::size_t width, bool right) const;

  show_style style_;
  std::string text_;
};

tone tone_of(const std::optional<outcome>& o);
tone tone_of(const judged_again& judged);
bool measured_again(const evaluation_record& e);

/// The speedup or score of a candidate, with its interval and verdict.
line figure(const writer& out, const report_content& content, candidate_id id);
/// The candidates' numbers: "#1 #7".
line ids(const std::vector<candidate_id>& list);
/// The table of the visible workloads, and how many hidden ones passed.
void workloads(writer& out, const evaluation& e);

}  // namespace kevo::show
