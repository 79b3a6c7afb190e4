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

constexpr double width = 1080, height = 400, left = 64, right = 24, top = 18, bottom = 46;
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

std::string picture(const report_content& content, bool by_time) {
  const run_history& h = content.history;
  const auto x_of = [&](std::uint64_t ordinal, double time_s) {
    return by_time ? time_s : static_cast<double>(ordinal);
  };
  std::vector<point> dots;
  const bool relative = h.scores_are_speedups();  // then 1, the baseline, is in the picture
  const auto value_of = [&](const auto& one) { return relative ? one.speedup : one.score; };
  double high = relative ? 1 : 0, low = relative ? 1 : std::numeric_limits<double>::infinity(), dots_high = 0;
  for (candidate_id id = 0; id < h.candidates().size(); ++id) {
    for (const auto& e : h.candidates()[id].evaluations) {
      if (e.outcome != outcome::valid || !(value_of(e) > 0) || e.wanted == evaluation_stage::confirmed)
        continue;
      dots.push_back({x_of(e.ordinal, e.time_s), value_of(e), id});
      low = std::min(low, value_of(e));
      dots_high = std::max(dots_high, value_of(e));
    }
  }
  high = std::max(high, dots_high);
  for (const auto& c : h.champions()) {
    high = std::max(high, value_of(c));
    if (relative && std::isfinite(c.speedup_interval.high)) high = std::max(high, c.speedup_interval.high);
    if (!relative) low = std::min(low, value_of(c));
  }
  // What lies outside is drawn at the edge.
  high = std::min(high, 1e300);
  low = std::max(low, high / most_span);
  const double x_end = std::max(by_time ? h.spent().elapsed_s : static_cast<double>(h.evaluations()), 1.0);
  const bool log = high / low > 4;
  scale x{0, x_end, left, width - right, false};
  const double room =
      high > low ? 0.08 * (high - low) : 0.05 * high;  // about scores, which have no 1 to stand on
  scale y{log        ? low / 1.1
          : relative ? std::min(low, 1.0) * 0.95
                     : low - room,
          log        ? high * std::pow(high / low, 0.09)
          : relative ? high * 1.1
                     : high + room,
          height - bottom, top, log};

  std::string svg = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Best {} so far by {}\">", width,
      height, relative ? "speedup" : "score", by_time ? "time" : "evaluations");
  for (const double t : log ? log_ticks(y.low, y.high) : linear_ticks(y.low, y.high, 6)) {
    const double at = y(t);
    svg += fmt::format("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       relative && std::abs(t - 1) < 1e-9 ? "base" : "grid", left, width - right, at, at);
    svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}{}</text>",
                       left - 8, at + 4, t, relative ? "×" : "");
  }
  // Time reads best in seconds, minutes or hours.
  const double unit = !by_time ? 1 : x_end > 7200 ? 3600 : x_end > 180 ? 60 : 1;
  for (const double t : linear_ticks(0, x_end / unit, 8)) {
    const double at = x(t * unit);
    svg += fmt::format("<line class=\"tickmark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", at,
                       height - bottom, height - bottom + 5);
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>", at,
                       height - bottom + 19, t);
  }
  svg += fmt::format("<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\"/>", left,
                     width - right, height - bottom);
  svg += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", width - right,
                     height - 8,
                     !by_time      ? "evaluations"
                     : unit > 3000 ? "run time [h]"
                     : unit > 1    ? "run time [min]"
                                   : "run time [s]");
  svg += fmt::format(
      "<text class=\"label\" x=\"{}\" y=\"{}\" transform=\"rotate(-90 14 {})\" "
      "text-anchor=\"middle\">{}{}</text>",
      14, (height - bottom + top) / 2, (height - bottom + top) / 2, relative ? "speedup" : "score",
      log ? " (log scale)" : "");

  for (const auto& mark : h.marks()) {
    if (mark.stopped) continue;
    const double at = x(x_of(mark.ordinal, mark.time_s));
    svg += fmt::format(
        "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"><title>resumed: "
        "{3}</title></line>",
        at, top, height - bottom, escape_short(mark.reason, 120));
  }
  const std::size_t every = dots.size() / most_dots + 1;
  svg += "<g class=\"dots\">";
  for (std::size_t i = 0; i < dots.size(); i += every)
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\"/>", x(dots[i].x), y(dots[i].y));
  svg += "</g>";

  const auto steps = [&](const std::vector<point>& points) {
    std::string path;
    for (std::size_t i = 0; i < points.size(); ++i) {
      path += i == 0 ? fmt::format("M{:.1f} {:.1f}", x(points[i].x), y(points[i].y))
                     : fmt::format("H{:.1f}V{:.1f}", x(points[i].x), y(points[i].y));
    }
    return path + (path.empty() ? "" : fmt::format("H{:.1f}", x(x_end)));
  };
  std::vector<point> seen, crowned;
  for (const auto& b : h.best_seen()) seen.push_back({x_of(b.ordinal, b.time_s), b.score, b.candidate});
  for (const auto& c : h.champions())
    crowned.push_back({x_of(c.ordinal, c.time_s), value_of(c), c.candidate});
  svg += fmt::format("<path class=\"seen\" d=\"{}\"/>", steps(seen));

  // The band of the champion's interval, then its line and one whisker for each.
  for (std::size_t i = 0; i < h.champions().size(); ++i) {
    const auto& c = h.champions()[i];
    const double from = x(crowned[i].x), to = i + 1 < crowned.size() ? x(crowned[i + 1].x) : x(x_end);
    if (relative && c.speedup_interval.high > 0) {
      svg +=
          fmt::format("<rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                      from, y(c.speedup_interval.high), std::max(0.0, to - from),
                      std::max(0.8, y(c.speedup_interval.low) - y(c.speedup_interval.high)));
    }
  }
  svg += fmt::format("<path class=\"best\" d=\"{}\"/>", steps(crowned));
  for (std::size_t i = 0; i < h.champions().size(); ++i) {
    const auto& c = h.champions()[i];
    const double at = x(crowned[i].x);
    const interval range =
        relative && c.speedup_interval.high > 0 ? c.speedup_interval : interval{crowned[i].y, crowned[i].y};
    const auto op = c.candidate < h.candidates().size() ? h.candidates()[c.candidate].op : seed_operator;
    svg += fmt::format(
        "<g class=\"crown\"><line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/><circle "
        "cx=\"{0:.1f}\" cy=\"{3:.1f}\" r=\"4\"/><title>#{4} {5}: {6} {7}\n{8}</title></g>",
        at, y(range.high), y(range.low > 0 ? range.low : crowned[i].y), y(crowned[i].y), c.candidate,
        escape_short(content.operator_name(op), 40), format::figure(c.speedup, c.score, true),
        format::interval(c.speedup_interval.low, c.speedup_interval.high, true),
        c.candidate < h.candidates().size() ? escape_short(h.candidates()[c.candidate].summary, 200) : "");
  }
  if (!crowned.empty()) {
    const double at = y(crowned.back().y);
    svg += fmt::format("<text class=\"final\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                       width - right - 4, at - 9 < top + 8 ? at + 22 : at - 9,
                       format::bare_figure(crowned.back().y, relative, true));
  }
  return svg + "</svg>";
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
