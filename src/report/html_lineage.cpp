// The lineage of the best as a layered drawing: the best on top, every ancestor below all its descendants,
// the line of best parents at the left edge (after Sugiyama et al., "Methods for visual understanding of
// hierarchical system structures", 1981: layers, then median ordering).
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "src/report/format.hpp"
#include "src/report/html_report.hpp"
#include "src/report/html_text.hpp"

namespace kevo::html {

namespace {

constexpr std::size_t most_nodes = 44, most_main = 28;
constexpr double box_width = 232, box_height = 48, gap_x = 26, gap_y = 34, bend_width = 14;

struct node {
  candidate_id id = no_candidate;  ///< no_candidate for a bend of a long edge
  std::size_t layer = 0;           ///< 0 is the best
  double order = 0;
  double x = 0;  ///< of the middle
  bool main = false;
  std::size_t hidden_parents = 0;
  std::vector<std::size_t> below;  ///< nodes of the next layer that it is joined with
  std::vector<bool> below_main;    ///< whether that edge is of the main line
  std::vector<std::size_t> above;
};

struct drawing {
  std::vector<node> nodes;
  std::vector<std::vector<std::size_t>> layers;
  std::size_t skipped = 0;  ///< steps of the main line that are left out before the seed
  std::size_t ancestors = 0;
};

drawing layout(const run_history& h, candidate_id best) {
  drawing d;
  const auto& all = h.candidates();
  std::vector<candidate_id> line = h.main_line(best);  // oldest first
  std::unordered_map<candidate_id, candidate_id> shortcut;
  if (line.size() > most_main) {
    d.skipped = line.size() - most_main;
    shortcut[line[d.skipped + 1]] = line.front();
    line.erase(line.begin() + 1, line.begin() + 1 + static_cast<std::ptrdiff_t>(d.skipped));
  }
  const std::unordered_set<candidate_id> main(line.begin(), line.end());
  std::unordered_set<candidate_id> shown(line.begin(), line.end());
  for (const candidate_id id : h.lineage(best, most_nodes)) {
    if (shown.size() < most_nodes) shown.insert(id);
  }
  d.ancestors = h.lineage(best, 100000).size() - 1;

  std::vector<candidate_id> ids(shown.begin(), shown.end());
  std::sort(ids.rbegin(), ids.rend());  // children before parents
  std::unordered_map<candidate_id, std::size_t> index;
  std::vector<std::vector<candidate_id>> parents(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    index[ids[i]] = i;
    node n;
    n.id = ids[i];
    n.main = main.contains(ids[i]);
    for (const candidate_id p : all[ids[i]].parents) {
      if (p >= ids[i]) continue;
      if (!shown.contains(p)) {
        ++n.hidden_parents;
      } else if (std::find(parents[i].begin(), parents[i].end(), p) == parents[i].end()) {
        parents[i].push_back(p);
      }
    }
    if (const auto it = shortcut.find(ids[i]); it != shortcut.end()) parents[i].push_back(it->second);
    d.nodes.push_back(n);
  }
  std::size_t depth = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (const candidate_id p : parents[i]) {
      std::size_t& layer = d.nodes[index[p]].layer;
      layer = std::max(layer, d.nodes[i].layer + 1);
      depth = std::max(depth, layer);
    }
  }
  // Edges over several layers get a bend in each that they pass.
  const std::size_t real = d.nodes.size();
  for (std::size_t i = 0; i < real; ++i) {
    for (const candidate_id p : parents[i]) {
      const std::size_t to = index[p];
      const bool on_main = d.nodes[i].main && d.nodes[to].main;
      std::size_t from = i;
      for (std::size_t layer = d.nodes[i].layer + 1; layer < d.nodes[to].layer; ++layer) {
        node bend;
        bend.layer = layer;
        bend.main = on_main;
        d.nodes.push_back(bend);
        d.nodes[from].below.push_back(d.nodes.size() - 1);
        d.nodes[from].below_main.push_back(on_main);
        d.nodes.back().above.push_back(from);
        from = d.nodes.size() - 1;
      }
      d.nodes[from].below.push_back(to);
      d.nodes[from].below_main.push_back(on_main);
      d.nodes[to].above.push_back(from);
    }
  }
  d.layers.resize(depth + 1);
  for (std::size_t i = 0; i < d.nodes.size(); ++i) d.layers[d.nodes[i].layer].push_back(i);
  for (auto& layer : d.layers) {
    for (std::size_t i = 0; i < layer.size(); ++i) d.nodes[layer[i]].order = static_cast<double>(i);
  }
  const auto sweep = [&](std::vector<std::size_t>& layer, bool down) {
    std::vector<std::pair<double, std::size_t>> keys;
    for (const std::size_t i : layer) {
      const auto& next = down ? d.nodes[i].above : d.nodes[i].below;
      double sum = 0;
      for (const std::size_t n : next) sum += d.nodes[n].order;
      const double key = next.empty() ? d.nodes[i].order : sum / static_cast<double>(next.size());
      keys.emplace_back(d.nodes[i].main ? -1 : key, i);
    }
    std::stable_sort(keys.begin(), keys.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < keys.size(); ++i) {
      layer[i] = keys[i].second;
      d.nodes[layer[i]].order = static_cast<double>(i);
    }
  };
  for (int round = 0; round < 4; ++round) {
    for (auto& layer : d.layers) sweep(layer, true);
    for (auto it = d.layers.rbegin(); it != d.layers.rend(); ++it) sweep(*it, false);
  }
  for (auto& layer : d.layers) sweep(layer, true);
  for (const auto& layer : d.layers) {
    double x = 0;
    for (const std::size_t i : layer) {
      node& n = d.nodes[i];
      // A bend of the main line still leaves the room of its box, so that the line stays straight.
      const double own = n.id != no_candidate || n.main ? box_width : bend_width;
      double wanted = x + own / 2;
      for (const std::size_t a : n.above) {
        if (!n.main && n.above.size() == 1)
          wanted = std::max(wanted, d.nodes[a].main ? wanted : d.nodes[a].x);
      }
      n.x = wanted;
      x = wanted + own / 2 + gap_x;
    }
  }
  return d;
}

}  // namespace

std::string lineage(const report_content& content) {
  if (!content.best || *content.best >= content.history.candidates().size()) return {};
  const run_history& h = content.history;
  const drawing d = layout(h, *content.best);
  double width = 0;
  for (const auto& n : d.nodes)
    width = std::max(width, n.x + (n.id == no_candidate ? bend_width : box_width) / 2);
  width += 8;
  const auto y_of = [](const node& n) { return 6 + static_cast<double>(n.layer) * (box_height + gap_y); };
  const double height = 12 + static_cast<double>(d.layers.size()) * (box_height + gap_y) - gap_y;

  std::string edges[2];
  for (const auto& n : d.nodes) {
    for (std::size_t e = 0; e < n.below.size(); ++e) {
      const node& to = d.nodes[n.below[e]];
      const double x1 = n.x, x2 = to.x, y1 = y_of(n) + box_height, y2 = y_of(to), middle = (y1 + y2) / 2;
      // Through a bend the edge runs straight down.
      std::string path = n.id == no_candidate ? fmt::format("M{:.1f} {:.1f}V{:.1f}", x1, y_of(n), y1)
                                              : fmt::format("M{:.1f} {:.1f}", x1, y1);
      path += fmt::format("C{0:.1f} {2:.1f} {1:.1f} {2:.1f} {1:.1f} {3:.1f}", x1, x2, middle, y2);
      edges[n.below_main[e] ? 1 : 0] += path;
    }
  }
  std::string svg = fmt::format(
      "<div class=\"scroll\"><svg class=\"lineage\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
      "{0:.0f} {1:.0f}\" role=\"img\" "
      "aria-label=\"Lineage of the best candidate\">",
      width, height);
  svg += "<path class=\"edge\" d=\"" + edges[0] + "\"/><path class=\"edge main\" d=\"" + edges[1] + "\"/>";
  for (const auto& n : d.nodes) {
    if (n.id == no_candidate) continue;
    const auto& c = h.candidates()[n.id];
    const auto* latest = c.latest();
    const double x = n.x - box_width / 2, y = y_of(n);
    const auto* crown = h.crown_of(n.id);
    const double speedup = crown != nullptr ? crown->speedup : latest != nullptr ? latest->speedup : 0;
    const std::string_view outcome_name = latest == nullptr ? "pending" : to_string(latest->outcome);
    svg += fmt::format(
        "<g class=\"node o-{}{}{}\"><rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" "
        "rx=\"6\"/>",
        outcome_name, n.main ? " main" : "", n.id == *content.best ? " top" : "", x, y, box_width,
        box_height);
    svg += fmt::format("<rect class=\"tone\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"4\" height=\"{}\" rx=\"2\"/>",
                       x + 6, y + 8, box_height - 16);
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\"><tspan class=\"id\">#{}</tspan><tspan class=\"op\" "
        "dx=\"8\">{}</tspan></text>",
        x + 18, y + 20, n.id, escape_short(content.operator_name(c.op), 14));
    std::string figure = latest == nullptr                   ? "not evaluated"
                         : latest->outcome == outcome::valid ? format::speedup(speedup, true)
                                                             : std::string(outcome_name);
    std::replace(figure.begin(), figure.end(), '_', ' ');
    svg += fmt::format("<text class=\"figure\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}{}</text>",
                       x + box_width - 10, y + 20, figure,
                       crown != nullptr ? "<tspan class=\"check\" dx=\"4\">✓</tspan>" : "");
    const std::string more = n.hidden_parents > 0 ? fmt::format(" (+{} parents)", n.hidden_parents) : "";
    svg += fmt::format("<text class=\"what\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 18, y + 38,
                       c.op == seed_operator && c.summary.empty()
                           ? "given by the user"
                           : escape_short(c.summary, more.empty() ? 36 : 22) + more);
    svg += fmt::format("<title>#{} by {}, born at {}{}\n{}</title></g>", n.id,
                       escape_short(content.operator_name(c.op), 40), format::duration(c.born_s),
                       crown != nullptr ? ", once champion" : "", escape_short(c.summary, 400));
  }
  svg += "</svg></div>";
  std::string text = "<section><h2>Lineage of the best</h2><p class=\"lead\">";
  text += fmt::format(
      "{} ancestor{}. The best is on top; the strong line at the left follows the best parent of each. ✓ was "
      "champion.",
      format::count(d.ancestors), d.ancestors == 1 ? "" : "s");
  if (d.skipped > 0)
    text += fmt::format(" {} steps of that line, just above the seed, are left out.", d.skipped);
  return text + "</p>" + svg + "</section>";
}

}  // namespace kevo::html
