// The lineage of the best, drawn in rows: the best on top, below it its best parent, and so on down to a
// seed; to the right of each its other parents. Remoter ancestors are counted, not drawn: with two parents a
// step the whole graph of a long run is a thicket that says nothing.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/format.hpp"
#include "src/report/html_report.hpp"
#include "src/report/html_text.hpp"

namespace kevo::html {

namespace {

constexpr std::size_t most_lineage_rows = 24, most_others = 4;
constexpr double main_width = 452, other_width = 250, box_height = 46, gap_x = 44, gap_y = 20;

struct lineage_row {
  candidate_id main = no_candidate;
  std::vector<candidate_id> others;  ///< parents that are not on the next row
  std::size_t more = 0;              ///< parents that find no room
};

/// A box at (x, y). `ghost`: the candidate has a row of its own.
// Under the operator: what has changed, or which seed it is.
std::string origin_of(const report_content& content, const candidate_record& c, std::size_t letters) {
  if (c.op != seed_operator || !c.summary.empty()) return escape_short(c.summary, letters);
  const auto file = content.seed_files.find(to_string(c.program));
  return file == content.seed_files.end() ? "given by the user" : escape_short(file->second, letters);
}

std::string box(const report_content& content, candidate_id id, double x, double y, double box_width,
                bool main, bool ghost) {
  const run_history& h = content.history;
  const auto& c = h.candidates()[id];
  const auto* latest = c.latest();
  const auto* crown = h.crown_of(id);
  const double speedup = crown != nullptr ? crown->speedup : latest != nullptr ? latest->speedup : 0;
  const double score = crown != nullptr ? crown->score : c.score;
  const std::string_view name = latest == nullptr ? "pending" : to_string(latest->outcome);
  std::string figure = latest == nullptr                   ? "not evaluated"
                       : latest->outcome == outcome::valid ? format::figure(speedup, score, true)
                                                           : std::string(name);
  std::replace(figure.begin(), figure.end(), '_', ' ');
  const interval range = crown != nullptr    ? crown->speedup_interval
                         : latest != nullptr ? latest->speedup_interval
                                             : interval();
  const bool known = latest != nullptr && latest->outcome == outcome::valid && speedup > 0 && range.low > 0 &&
                     range.high > range.low && std::isfinite(range.high);
  // A narrow box has room for half the width of the interval alone.
  const std::string sure = !known ? ""
                           : main ? " [" + format::interval(range.low, range.high, true) + "]"
                                  : fmt::format(" ±{:.2g} %", 50 * std::log(range.high / range.low));
  const auto letters = static_cast<std::size_t>((box_width - 30) / 6.2);
  const std::string op = escape_short(content.operator_name(c.op), main ? 28 : 12);

  std::string svg = fmt::format("<g class=\"node o-{}{}{}{}\">", name, main ? " main" : "",
                                ghost ? " ghost" : "", content.best == id ? " top" : "");
  svg += fmt::format("<rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"6\"/>", x,
                     y, box_width, box_height);
  svg += fmt::format("<rect class=\"tone\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"4\" height=\"{}\" rx=\"2\"/>",
                     x + 7, y + 8, box_height - 16);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\"><tspan class=\"id\">#{}</tspan><tspan class=\"op\" "
      "dx=\"8\">{}</tspan></text>",
      x + 19, y + 19, id, op);
  svg += fmt::format(
      "<text class=\"figure\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}<tspan "
      "class=\"what\">{}</tspan>{}</text>",
      x + box_width - 10, y + 19, figure, sure,
      crown != nullptr ? "<tspan class=\"check\" dx=\"5\">✓</tspan>" : "");
  svg += fmt::format("<text class=\"what\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 19, y + 36,
                     origin_of(content, c, letters));
  std::string parents;
  for (const candidate_id p : c.parents)
    parents += (parents.empty() ? ", from #" : ", #") + std::to_string(p);
  return svg + fmt::format("<title>#{} by {}{}, born at {}{}\n{}</title></g>", id,
                           escape_short(content.operator_name(c.op), 40), parents, format::duration(c.born_s),
                           crown != nullptr ? ", once champion" : "", escape_short(c.summary, 400));
}

}  // namespace

std::string lineage(const report_content& content) {
  if (!content.best || *content.best >= content.history.candidates().size()) return {};
  const run_history& h = content.history;
  std::vector<candidate_id> line = h.main_line(*content.best);
  std::reverse(line.begin(), line.end());  // the best first
  std::size_t skipped = 0;
  if (line.size() > most_lineage_rows) {  // the steps just after the seed go
    skipped = line.size() - most_lineage_rows;
    line.erase(line.end() - 1 - static_cast<std::ptrdiff_t>(skipped), line.end() - 1);
  }
  std::vector<lineage_row> rows;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    lineage_row r{line[i], {}, 0};
    for (const candidate_id p : h.candidates()[line[i]].parents) {
      const bool next = i + 1 < line.size() && p == line[i + 1];
      if (next || p >= line[i] || std::find(r.others.begin(), r.others.end(), p) != r.others.end()) continue;
      if (skipped > 0 && i + 2 == line.size() && p == h.main_line(line[i]).rbegin()[1]) continue;
      if (r.others.size() < most_others) {
        r.others.push_back(p);
      } else {
        ++r.more;
      }
    }
    widest = std::max(widest, r.others.size());
    rows.push_back(std::move(r));
  }
  const double pitch = box_height + gap_y;
  const double width = main_width + static_cast<double>(widest) * (other_width + gap_x) + 8;
  const double height = static_cast<double>(rows.size()) * pitch - gap_y + 8;
  const auto y_of = [&](std::size_t i) { return 4 + static_cast<double>(i) * pitch; };
  const double spine = 4 + 24;

  std::string svg = fmt::format(
      "<div class=\"scroll\"><svg class=\"lineage\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
      "{0:.0f} {1:.0f}\" role=\"img\" "
      "aria-label=\"Lineage of the best candidate\">",
      width, height);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const bool gap = skipped > 0 && i + 2 == rows.size();
    svg += fmt::format("<path class=\"edge main{}\" d=\"M{} {:.1f}V{:.1f}\"/>", gap ? " gap" : "", spine,
                       y_of(i) + box_height, y_of(i + 1));
    if (gap) {
      svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\">{} steps</text>", spine + 10,
                         y_of(i + 1) - gap_y / 2 + 4, skipped);
    }
  }
  std::string boxes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    boxes += box(content, rows[i].main, 4, y_of(i), main_width, true, false);
    double x = 4 + main_width;
    for (const candidate_id other : rows[i].others) {
      svg +=
          fmt::format("<path class=\"edge\" d=\"M{:.1f} {:.1f}h{}\"/>", x, y_of(i) + box_height / 2, gap_x);
      x += gap_x;
      boxes += box(content, other, x, y_of(i), other_width, false,
                   std::find(line.begin(), line.end(), other) != line.end());
      x += other_width;
    }
    if (rows[i].more > 0) {
      boxes += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">+{}</text>", x - 24,
                           y_of(i) + box_height + 13, rows[i].more);
    }
  }
  svg += boxes + "</svg></div>";
  const std::size_t ancestors = h.lineage(*content.best, 100000).size() - 1;
  std::string text = "<section><h2>Lineage of the best</h2><p class=\"lead\">";
  text += ancestors == 0 ? std::string("It is a seed.")
                         : fmt::format(
                               "{}. The line leads from the best candidate down to its seed; of several "
                               "parents, it follows the better one. The other parents are at the right, "
                               "dashed if they have a row of their own. ✓: was champion.",
                               format::counted(ancestors, "ancestor"));
  return text + "</p>" + svg + "</section>";
}

}  // namespace kevo::html
