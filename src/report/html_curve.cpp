// The best-so-far curve: every valid evaluation a dot, the best seen a thin line, champions with intervals.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/report/html_report.hpp"
#include "src/report/html_text.hpp"
#include "src/report/ticks.hpp"

namespace kevo::html {

namespace {

constexpr double curve_width = 1080, curve_height = 400, curve_left = 64, curve_right = 24, curve_top = 18,
                 curve_bottom = 46;
constexpr std::size_t most_dots = 2000;
constexpr double most_span = 1e12;  // from the lowest to the highest value of the axis

/// A linear or logarithmic axis from values to points of the picture.
struct scale {
  double low = 0, high = 1, from = 0, to = 1;
  bool log = false;
  double operator()(double v) const {
    const double share =
        log ? std::log(std::max(v, low * 1e-3) / low) / std::log(high / low) : (v - low) / (high - low);
    return from + (to - from) * std::clamp(share, -0.02, 1.02);
  }
};

struct point {
  double x, y;
  candidate_id candidate;
};

/// What the curve shows, and where.
struct plot {
  const report_content& content;
  bool by_time = false;
  bool relative = false;  ///< scores are speedups: then 1, the baseline, is in the picture
  std::vector<point> dots, seen, crowned;
  double x_end = 1;
  scale x, y;

  const run_history& history() const { return content.history; }
  double value_of(const auto& one) const { return relative ? one.speedup : one.score; }
  double x_of(std::uint64_t ordinal, double time_s) const {
    return by_time ? time_s : static_cast<double>(ordinal);
  }
};

/// The vertical axis for values from `low` to `high`.
scale value_axis(double low, double high, bool relative) {
  const bool log = high / low > 4;
  const double room =
      high > low ? 0.08 * (high - low) : 0.05 * high;  // about scores, which have no 1 to stand on
  return {log        ? low / 1.1
          : relative ? std::min(low, 1.0) * 0.95
                     : low - room,
          log        ? high * std::pow(high / low, 0.09)
          : relative ? high * 1.1
                     : high + room,
          curve_height - curve_bottom, curve_top, log};
}

plot plan(const report_content& content, bool by_time) {
  plot p{content, by_time, content.history.scores_are_speedups(), {}, {}, {}, 1, {}, {}};
  const run_history& h = content.history;
  double high = p.relative ? 1 : 0, low = p.relative ? 1 : std::numeric_limits<double>::infinity();
  for (candidate_id id = 0; id < h.candidates().size(); ++id) {
    for (const auto& e : h.candidates()[id].evaluations) {
      if (e.outcome != outcome::valid || !(p.value_of(e) > 0) || e.wanted == evaluation_stage::confirmed)
        continue;
      p.dots.push_back({p.x_of(e.ordinal, e.time_s), p.value_of(e), id});
      low = std::min(low, p.value_of(e));
      high = std::max(high, p.value_of(e));
    }
  }
  for (const auto& c : h.champions()) {
    high = std::max(high, p.value_of(c));
    if (p.relative && std::isfinite(c.speedup_interval.high)) high = std::max(high, c.speedup_interval.high);
    if (!p.relative) low = std::min(low, p.value_of(c));
    p.crowned.push_back({p.x_of(c.ordinal, c.time_s), p.value_of(c), c.candidate});
  }
  for (const auto& b : h.best_seen()) p.seen.push_back({p.x_of(b.ordinal, b.time_s), b.score, b.candidate});
  // What lies outside is drawn at the edge.
  high = std::min(high, 1e300);
  low = std::max(low, high / most_span);
  p.x_end = std::max(by_time ? h.spent().elapsed_s : static_cast<double>(h.evaluations()), 1.0);
  p.x = {0, p.x_end, curve_left, curve_width - curve_right, false};
  p.y = value_axis(low, high, p.relative);
  return p;
}

std::string value_axis_text(const plot& p) {
  std::string svg;
  for (const double t : p.y.log ? log_ticks(p.y.low, p.y.high) : linear_ticks(p.y.low, p.y.high, 6)) {
    const double at = p.y(t);
    svg += fmt::format("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       p.relative && std::abs(t - 1) < 1e-9 ? "base" : "grid", curve_left,
                       curve_width - curve_right, at, at);
    svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}{}</text>",
                       curve_left - 8, at + 4, t, p.relative ? "×" : "");
  }
  svg += fmt::format(
      "<text class=\"label y\" x=\"{}\" y=\"{}\" transform=\"rotate(-90 14 {})\" "
      "text-anchor=\"middle\">{}{}</text>",
      14, (curve_height - curve_bottom + curve_top) / 2, (curve_height - curve_bottom + curve_top) / 2,
      p.relative ? "speedup" : "score", p.y.log ? " (log scale)" : "");
  return svg;
}

std::string progress_axis_text(const plot& p) {
  std::string svg;
  // Time reads best in seconds, minutes or hours.
  const double unit = !p.by_time ? 1 : p.x_end > 7200 ? 3600 : p.x_end > 180 ? 60 : 1;
  for (const double t : linear_ticks(0, p.x_end / unit, 8)) {
    const double at = p.x(t * unit);
    svg += fmt::format("<line class=\"tickmark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", at,
                       curve_height - curve_bottom, curve_height - curve_bottom + 5);
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>", at,
                       curve_height - curve_bottom + 19, t);
  }
  svg += fmt::format("<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\"/>", curve_left,
                     curve_width - curve_right, curve_height - curve_bottom);
  svg += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                     curve_width - curve_right, curve_height - 8,
                     !p.by_time    ? "evaluations"
                     : unit > 3000 ? "run time [h]"
                     : unit > 1    ? "run time [min]"
                                   : "run time [s]");
  return svg;
}

std::string resumptions(const plot& p) {
  std::string svg;
  for (const auto& mark : p.history().marks()) {
    if (mark.stopped) continue;
    const double at = p.x(p.x_of(mark.ordinal, mark.time_s));
    svg += fmt::format(
        "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"><title>resumed: "
        "{3}</title></line>",
        at, curve_top, curve_height - curve_bottom, escape_short(mark.reason, 120));
  }
  return svg;
}

std::string evaluations(const plot& p) {
  std::string svg;
  const std::size_t every = p.dots.size() / most_dots + 1;
  svg += "<g class=\"dots\">";
  for (std::size_t i = 0; i < p.dots.size(); i += every)
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\"/>", p.x(p.dots[i].x), p.y(p.dots[i].y));
  svg += "</g>";
  return svg;
}

/// The path of a value that holds until the next point.
std::string steps(const plot& p, const std::vector<point>& points) {
  std::string path;
  for (std::size_t i = 0; i < points.size(); ++i) {
    path += i == 0 ? fmt::format("M{:.1f} {:.1f}", p.x(points[i].x), p.y(points[i].y))
                   : fmt::format("H{:.1f}V{:.1f}", p.x(points[i].x), p.y(points[i].y));
  }
  return path + (path.empty() ? "" : fmt::format("H{:.1f}", p.x(p.x_end)));
}

/// The band of each champion's interval, then their line and one whisker for each.
std::string champions(const plot& p) {
  std::string svg;
  for (std::size_t i = 0; i < p.history().champions().size(); ++i) {
    const auto& c = p.history().champions()[i];
    const double from = p.x(p.crowned[i].x),
                 to = i + 1 < p.crowned.size() ? p.x(p.crowned[i + 1].x) : p.x(p.x_end);
    if (p.relative && c.speedup_interval.high > 0) {
      svg +=
          fmt::format("<rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                      from, p.y(c.speedup_interval.high), std::max(0.0, to - from),
                      std::max(0.8, p.y(c.speedup_interval.low) - p.y(c.speedup_interval.high)));
    }
  }
  svg += fmt::format("<path class=\"best\" d=\"{}\"/>", steps(p, p.crowned));
  for (std::size_t i = 0; i < p.history().champions().size(); ++i) {
    const auto& c = p.history().champions()[i];
    const double at = p.x(p.crowned[i].x);
    const interval range = p.relative && c.speedup_interval.high > 0
                               ? c.speedup_interval
                               : interval{p.crowned[i].y, p.crowned[i].y};
    const auto op = c.candidate < p.history().candidates().size() ? p.history().candidates()[c.candidate].op
                                                                  : seed_operator;
    svg += fmt::format(
        "<g class=\"crown\"><line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/><circle "
        "cx=\"{0:.1f}\" cy=\"{3:.1f}\" r=\"4\"/><title>#{4} {5}: {6} {7}\n{8}</title></g>",
        at, p.y(range.high), p.y(range.low > 0 ? range.low : p.crowned[i].y), p.y(p.crowned[i].y),
        c.candidate, escape_short(p.content.operator_name(op), 40), format::figure(c.speedup, c.score, true),
        format::interval(c.speedup_interval.low, c.speedup_interval.high, true),
        c.candidate < p.history().candidates().size()
            ? escape_short(p.history().candidates()[c.candidate].summary, 200)
            : "");
  }
  if (!p.crowned.empty()) {
    const double at = p.y(p.crowned.back().y);
    svg += fmt::format("<text class=\"final\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                       curve_width - curve_right - 4, at - 9 < curve_top + 8 ? at + 22 : at - 9,
                       format::bare_figure(p.crowned.back().y, p.relative, true));
  }
  return svg;
}

std::string picture(const report_content& content, bool by_time) {
  const plot p = plan(content, by_time);
  std::string svg = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Best {} so far by {}\">",
      curve_width, curve_height, p.relative ? "speedup" : "score", by_time ? "time" : "evaluations");
  svg += value_axis_text(p) + progress_axis_text(p) + resumptions(p) + evaluations(p);
  svg += fmt::format("<path class=\"seen\" d=\"{}\"/>", steps(p, p.seen));
  return svg + champions(p) + "</svg>";
}

}  // namespace

std::string curve(const report_content& content) {
  const auto& h = content.history;
  if (h.best_seen().empty()) return {};
  std::string text = "<section><h2>Best so far</h2><div class=\"tabs\">";
  text +=
      "<input type=\"radio\" name=\"curve\" id=\"curve-n\" checked><label for=\"curve-n\">by "
      "evaluations</label>";
  text += "<input type=\"radio\" name=\"curve\" id=\"curve-t\"><label for=\"curve-t\">by time</label>";
  text += "<div class=\"tab first\">" + picture(content, false) + "</div>";
  text += "<div class=\"tab second\">" + picture(content, true) + "</div></div>";
  text +=
      "<p class=\"key\"><span class=\"swatch s-best\"></span>champion, by its confirmation in a fresh "
      "process" +
      std::string(h.scores_are_speedups() ? ", with its interval" : "") +
      "<span class=\"swatch s-seen\"></span>best seen, not confirmed"
      "<span class=\"swatch s-dot\"></span>a valid evaluation</p>";
  return text + "</section>";
}

}  // namespace kevo::html
