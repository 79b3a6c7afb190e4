// The archive: a heat map for a grid over two measures, bars for everything else.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/report/html_report.hpp"
#include "src/report/html_text.hpp"

namespace kevo::html {

namespace {

constexpr int levels = 9;
constexpr std::size_t most_bars = 30;

struct heat {
  double low = 0, high = 0;
  explicit heat(const archive_map& map) {
    if (!map.kept.empty()) low = high = map.kept.front().score;
    for (const auto& e : map.kept) {
      high = std::max(high, e.score);
      low = std::min(low, e.score);
    }
  }
  /// By the logarithm where all scores are positive, else in proportion.
  int level(double score) const {
    if (!(high > low)) return levels - 1;
    const double share =
        low > 0 ? std::log(score / low) / std::log(high / low) : (score - low) / (high - low);
    const double level = share * levels;
    return level >= 0 && level < levels ? static_cast<int>(level) : level >= levels ? levels - 1 : 0;
  }
};

std::string edge_text(const std::string& measure, double value) {
  return measure.find("bytes") != std::string::npos ? format::bytes(value) : fmt::format("{:.4g}", value);
}

std::string figure(const report_content& content, double score) {
  return format::bare_figure(score, content.history.scores_are_speedups(), true);
}
const char* name_of_figure(const report_content& content) {
  return content.history.scores_are_speedups() ? "speedup" : "score";
}

std::string tooltip(const report_content& content, const archive_map_cell& cell) {
  const auto& all = content.history.candidates();
  std::string text = fmt::format("#{} {}", cell.candidate, figure(content, cell.score));
  if (cell.candidate < all.size()) {
    text += " by " + escape_short(content.operator_name(all[cell.candidate].op), 40);
    if (!all[cell.candidate].summary.empty()) text += "\n" + escape_short(all[cell.candidate].summary, 160);
  }
  return text + "\n" + escape_short(cell.niche, 160);
}

/// The picture of an archive of two measures: its sizes [px], and its parts in the order in which they are
/// drawn.
struct plane_picture {
  const report_content& content;
  const archive_map& map = content.archive;
  const archive_map_axis& across = map.axes[0];
  const archive_map_axis& up = map.axes[1];
  const heat heats = heat(map);
  const double left = 96, bottom = 62, top = 8, width = 1080;
  // Cells are as wide as fits, but not wider than a figure needs.
  const double cell_width = std::clamp((width - left - 20) / static_cast<double>(across.bins()), 6.0, 84.0);
  const double cell_height = std::clamp(340.0 / static_cast<double>(up.bins()), 6.0, 40.0);
  const double plot_width = cell_width * static_cast<double>(across.bins());
  const double plot_height = cell_height * static_cast<double>(up.bins());
  const double legend = left + plot_width + 40;
  const double total_width = std::max(legend + 150, 480.0), total_height = top + plot_height + bottom;
  const bool figures = cell_width >= 44 && cell_height >= 20;

  std::string svg = {};
  std::size_t unknown = 0;  // kept candidates that have no place in the plane

  void draw_grid();
  void draw_cells();
  void draw_ticks();
  void draw_titles();
  void draw_legend();
};

void plane_picture::draw_grid() {
  svg += fmt::format(
      "<div class=\"scroll\"><svg class=\"map\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" role=\"img\" "
      "aria-label=\"Archive map\">",
      total_width, total_height);
  svg += fmt::format("<rect class=\"empty\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", left,
                     top, plot_width, plot_height);
  std::string lines;
  for (std::size_t i = 0; i <= across.bins(); ++i) {
    const double at = left + cell_width * static_cast<double>(i);
    lines += fmt::format("M{:.1f} {}V{:.1f}", at, top, top + plot_height);
  }
  for (std::size_t i = 0; i <= up.bins(); ++i) {
    const double at = top + plot_height - cell_height * static_cast<double>(i);
    lines += fmt::format("M{} {:.1f}H{:.1f}", left, at, left + plot_width);
  }
  svg += fmt::format("<path class=\"cells\" d=\"{}\"/>", lines);
}

void plane_picture::draw_cells() {
  for (const auto& e : map.kept) {
    if (e.bins.size() != 2 || e.bins[0] >= across.bins() || e.bins[1] >= up.bins()) {
      ++unknown;
      continue;
    }
    const double x = left + cell_width * static_cast<double>(e.bins[0]);
    const double y = top + plot_height - cell_height * static_cast<double>(e.bins[1] + 1);
    const int level = heats.level(e.score);
    svg +=
        fmt::format("<g class=\"h{}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"{}/>",
                    level, x + 1, y + 1, cell_width - 2, cell_height - 2,
                    content.best == e.candidate ? " class=\"champion\"" : "");
    if (figures) {
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                         x + cell_width / 2, y + cell_height / 2 + 4, format::number(e.score));
    }
    svg += "<title>" + tooltip(content, e) + "</title></g>";
  }
}

void plane_picture::draw_ticks() {
  const auto labelled = [](std::size_t i, std::size_t bins, double size, double room) {
    const auto every = static_cast<std::size_t>(std::ceil(room / size));
    return i % std::max<std::size_t>(every, 1) == 0 || i == bins;
  };
  for (std::size_t i = 0; i <= across.bins(); ++i) {
    if (!labelled(i, across.bins(), cell_width, 44)) continue;
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                       left + cell_width * static_cast<double>(i), top + plot_height + 17,
                       escape(edge_text(across.name, across.edges[i])));
  }
  for (std::size_t i = 0; i <= up.bins(); ++i) {
    if (!labelled(i, up.bins(), cell_height, 16)) continue;
    svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left - 8,
                       top + plot_height - cell_height * static_cast<double>(i) + 4,
                       escape(edge_text(up.name, up.edges[i])));
  }
}

void plane_picture::draw_titles() {
  svg += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}{}</text>",
                     left + plot_width / 2, top + plot_height + 42, escape_short(across.name, 60),
                     across.log ? " (log scale)" : "");
  svg += fmt::format(
      "<text class=\"label\" x=\"14\" y=\"{0:.1f}\" transform=\"rotate(-90 14 {0:.1f})\" "
      "text-anchor=\"middle\">{1}{2}</text>",
      top + plot_height / 2, escape_short(up.name, 60), up.log ? " (log scale)" : "");
}

// Speedup or score by shade.
void plane_picture::draw_legend() {
  const double step = std::min(22.0, plot_height / levels);
  svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\">{}</text>", legend, top + 10,
                     name_of_figure(content));
  for (int i = 0; i < levels; ++i) {
    const double y = top + 20 + step * (levels - 1 - i);
    svg +=
        fmt::format("<g class=\"h{}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"18\" height=\"{:.1f}\"/></g>",
                    i, legend, y, step);
    if (i == 0 || i == levels - 1 || i == levels / 2) {
      const double share = i == levels - 1 ? 1 : static_cast<double>(i) / levels;
      const double value = heats.low > 0 ? heats.low * std::pow(heats.high / heats.low, share) : 0;
      svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", legend + 26,
                         y + (i == 0            ? step
                              : i == levels - 1 ? 10
                                                : step / 2 + 4),
                         figure(content, value));
    }
  }
}

std::string plane(const report_content& content) {
  plane_picture picture{content};
  picture.draw_grid();
  picture.draw_cells();
  picture.draw_ticks();
  picture.draw_titles();
  picture.draw_legend();
  std::string svg = std::move(picture.svg);
  const std::size_t unknown = picture.unknown;
  svg += "</svg></div>";
  if (unknown > 0)
    svg += fmt::format(
        "<p class=\"note\">{} of the kept candidates are not drawn, because a measure of theirs is "
        "unknown.</p>",
        unknown);
  return svg;
}

std::string bars(const report_content& content) {
  const archive_map& map = content.archive;
  const double high = map.kept.empty() ? 1 : map.kept.front().score;
  std::string text =
      "<div class=\"scroll\"><table class=\"bars\"><thead><tr><th>candidate<th>operator<th class=\"n\">" +
      std::string(name_of_figure(content)) + "<th><th>cell</tr></thead><tbody>";
  for (std::size_t i = 0; i < map.kept.size() && i < most_bars; ++i) {
    const auto& e = map.kept[i];
    const auto& all = content.history.candidates();
    text += fmt::format(
        "<tr><td>#{}<td>{}<td class=\"n\">{}<td class=\"bar\"><i style=\"width:{:.1f}%\"></i><td "
        "class=\"faint\">{}</tr>",
        e.candidate,
        e.candidate < all.size() ? escape_short(content.operator_name(all[e.candidate].op), 30) : "",
        figure(content, e.score), high > 0 ? e.score / high * 100 : 0, escape_short(e.niche, 80));
  }
  text += "</tbody></table></div>";
  if (map.kept.size() > most_bars)
    text += fmt::format("<p class=\"note\">and {} more</p>", map.kept.size() - most_bars);
  return text;
}

}  // namespace

std::string archive(const report_content& content) {
  const auto& map = content.archive;
  if (map.kept.empty()) return {};
  std::string text = "<section><h2>Archive</h2><p class=\"lead\">";
  text += format::count(map.kept.size()) +
          (map.cells > 0 ? " of " + format::count(map.cells) + " cells hold an elite" : " elites");
  if (map.cells > 0)
    text +=
        " (" + format::percent(static_cast<double>(map.kept.size()) / static_cast<double>(map.cells)) + ")";
  text += map.is_plane() ? std::string(". A cell shows the ") + name_of_figure(content) +
                               " of the best elite in it; the champion's cell is outlined.</p>"
                         : ".</p>";
  return text + (map.is_plane() ? plane(content) : bars(content)) + "</section>";
}

}  // namespace kevo::html
