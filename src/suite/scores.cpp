#include "src/suite/scores.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>

namespace kevo {
namespace {

/// The x in [0, 1] at which a function that grows reaches `wanted`.
double where_it_reaches(double wanted, const std::function<double(double)>& grows) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 200 && high - low > 1e-15; ++i) {
    const double middle = 0.5 * (low + high);
    (grows(middle) < wanted ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double share_of(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

task_share counted_share(std::size_t tasks, std::size_t counted, std::size_t decided, std::size_t undecided,
                         double alpha) {
  return {
      tasks,
      counted,
      decided,
      undecided,
      {clopper_pearson(decided, tasks, alpha).low, clopper_pearson(decided + undecided, tasks, alpha).high}};
}

template <class Has>
task_share plain_share(const std::vector<const task_score*>& tasks, double alpha, Has has) {
  const auto count = static_cast<std::size_t>(std::count_if(tasks.begin(), tasks.end(), has));
  return counted_share(tasks.size(), count, count, 0, alpha);
}

bool counts_as_faster(const solution_score& s, double p) {
  return s.correct && (p <= 0 || s.speedup > p);
}

fast_share fast_at(const std::vector<const task_score*>& tasks, double p, double alpha) {
  std::size_t counted = 0;
  std::size_t decided = 0;
  std::size_t undecided = 0;
  double of_one = 0;
  for (const auto* t : tasks) {
    counted += counts_as_faster(t->best, p) ? 1 : 0;
    const faster_than word = is_faster(t->best, p);
    decided += word == faster_than::yes ? 1 : 0;
    undecided += word == faster_than::undecided ? 1 : 0;
    const auto fast = std::count_if(t->solutions.begin(), t->solutions.end(),
                                    [p](const solution_score& s) { return counts_as_faster(s, p); });
    of_one += share_of(static_cast<std::size_t>(fast), t->solutions.size());
  }
  return {p, counted_share(tasks.size(), counted, decided, undecided, alpha),
          tasks.empty() ? 0 : of_one / static_cast<double>(tasks.size())};
}

/// The mean, with Student's t interval if there are at least two values.
mean_figure mean_of(const std::vector<double>& values, double alpha) {
  const auto n = static_cast<double>(values.size());
  if (values.empty()) return {};
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  mean_figure figure{mean, std::nullopt, values.size()};
  if (values.size() < 2) return figure;
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  const double half = student_t(alpha, n - 1) * std::sqrt(squares / (n - 1) / n);
  figure.range = interval{mean - half, mean + half};
  return figure;
}

/// The same of the speedups' arithmetic means, which cannot be negative.
mean_figure mean_of_speedups(const std::vector<double>& values, double alpha) {
  mean_figure figure = mean_of(values, alpha);
  if (figure.range) figure.range->low = std::max(0.0, figure.range->low);
  return figure;
}

mean_figure geometric_mean_of(const std::vector<double>& values, double alpha) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double x : values) logs.push_back(std::log(x));
  mean_figure figure = mean_of(logs, alpha);
  if (values.empty()) return figure;
  figure.value = std::exp(figure.value);
  if (figure.range) figure.range = interval{std::exp(figure.range->low), std::exp(figure.range->high)};
  return figure;
}

/// The median, with the interval between two order statistics that holds it with enough probability
/// (the sign test's); none if there are too few values.
mean_figure median_of(std::vector<double> values, double alpha) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  mean_figure figure{median(values), std::nullopt, n};
  // P(at most k of n are below the median) = I_{1/2}(n - k, k + 1).
  std::size_t outside = 0;  // values beyond each end
  while (2 * (outside + 1) < n && incomplete_beta(static_cast<double>(n - outside),
                                                  static_cast<double>(outside + 1), 0.5) <= alpha / 2) {
    ++outside;
  }
  if (outside > 0) figure.range = interval{values[outside - 1], values[n - outside]};
  return figure;
}

group_scores scores_of(const std::vector<const task_score*>& tasks, const score_settings& settings) {
  const double alpha = 1 - settings.confidence;
  group_scores group;
  group.tasks = tasks.size();
  group.call = plain_share(tasks, alpha, [](const task_score* t) { return t->best.called; });
  group.exe = plain_share(tasks, alpha, [](const task_score* t) { return t->best.correct; });
  group.given_size = plain_share(tasks, alpha, [](const task_score* t) { return t->best.given_size; });
  for (const double p : settings.thresholds) group.fast.push_back(fast_at(tasks, p, alpha));
  std::vector<double> correct;
  std::vector<double> faster_or_nothing;
  std::vector<double> any_or_nothing;
  std::vector<double> fractions;
  bool sol_known = false;
  double sol_sum = 0;
  std::size_t sol_tasks = 0;
  for (const auto* t : tasks) {
    const bool compared = t->best.correct && t->best.speedup > 0;
    if (compared) correct.push_back(t->best.speedup);
    if (t->best.correct && t->best.sol_fraction > 0) fractions.push_back(t->best.sol_fraction);
    any_or_nothing.push_back(compared ? t->best.speedup : 0);
    faster_or_nothing.push_back(compared && t->best.speedup >= 1 ? t->best.speedup : 0);
    const bool scored = t->best.correct && t->best.sol_score;
    sol_known = sol_known || scored;
    if (scored) sol_sum += *t->best.sol_score;
    if (scored || !t->best.correct) ++sol_tasks;  // of a failed one, 0 is known
  }
  group.geometric_mean = geometric_mean_of(correct, alpha);
  group.median = median_of(correct, alpha);
  group.amsr = mean_of_speedups(faster_or_nothing, alpha);
  group.mean = mean_of_speedups(any_or_nothing, alpha);
  if (!fractions.empty()) group.sol_fraction = median(fractions);
  if (sol_known) group.sol_score = sol_sum / static_cast<double>(sol_tasks);
  return group;
}

/// "2" before "10": names that are numbers are in order of their values, before all others.
bool earlier_name(const std::string& a, const std::string& b) {
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.size() < 18 && text.find_first_not_of("0123456789") == std::string::npos;
  };
  const bool number_a = is_number(a);
  const bool number_b = is_number(b);
  if (number_a && number_b && std::stoll(a) != std::stoll(b)) return std::stoll(a) < std::stoll(b);
  return number_a != number_b ? number_a : a < b;
}

void add_groups(const std::vector<task_score>& tasks, const char* kind, std::string task_score::*name,
                const score_settings& settings, std::vector<group_scores>& groups) {
  std::map<std::string, std::vector<const task_score*>, bool (*)(const std::string&, const std::string&)>
      by_name(earlier_name);
  for (const auto& t : tasks) by_name[t.*name].push_back(&t);
  if (by_name.size() == 1 && by_name.begin()->first.empty()) return;
  for (const auto& [each, members] : by_name) {
    groups.push_back(scores_of(members, settings));
    groups.back().kind = kind;
    groups.back().name = each;
  }
}

}  // namespace

faster_than is_faster(const solution_score& s, double p) {
  if (!s.correct) return faster_than::no;
  if (p <= 0) return faster_than::yes;
  const bool known = s.range.high > 0;
  const double low = known ? std::min(s.range.low, s.speedup) : s.speedup;
  const double high = known ? std::max(s.range.high, s.speedup) : s.speedup;
  if (low > p) return faster_than::yes;
  return high > p ? faster_than::undecided : faster_than::no;
}

double task_share::value() const {
  return share_of(counted, tasks);
}
double task_share::low() const {
  return share_of(decided, tasks);
}
double task_share::high() const {
  return share_of(decided + undecided, tasks);
}

interval clopper_pearson(std::size_t hits, std::size_t trials, double alpha) {
  if (trials == 0) return {0, 1};
  const auto k = static_cast<double>(hits);
  const auto n = static_cast<double>(trials);
  interval range{0, 1};
  if (hits > 0)
    range.low = where_it_reaches(alpha / 2, [&](double x) { return incomplete_beta(k, n - k + 1, x); });
  if (hits < trials)
    range.high = where_it_reaches(1 - alpha / 2, [&](double x) { return incomplete_beta(k + 1, n - k, x); });
  return range;
}

std::optional<double> sol_score_of(const workload_result& w) {
  if (!(w.time_ns > 0 && w.baseline_ns > 0 && w.sol_fraction > 0)) return std::nullopt;
  const double sol = w.sol_fraction * w.time_ns;
  if (!(w.baseline_ns > sol)) return std::nullopt;
  return 1 / (1 + std::max(0.0, w.time_ns - sol) / (w.baseline_ns - sol));
}

std::optional<double> sol_score_of(const evaluation& e) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& w : e.workloads) {
    if (w.hidden) continue;
    const auto one = sol_score_of(w);
    if (!one) return std::nullopt;
    sum += *one;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

bool correct_at_given_size(const evaluation& e) {
  if (e.valid()) return true;
  if (e.outcome != outcome::incorrect && e.outcome != outcome::crashed && e.outcome != outcome::timed_out)
    return false;
  const auto right = [](const workload_result& w) { return w.outcome == outcome::valid; };
  bool visible = false;
  bool hidden_failed = false;
  for (const auto& w : e.workloads) {
    if (!w.hidden && !right(w)) return false;
    visible = visible || !w.hidden;
    hidden_failed = hidden_failed || (w.hidden && w.outcome && !right(w));
  }
  return visible && hidden_failed;
}

solution_score score_of(const evaluation& e) {
  solution_score s;
  s.given_size = correct_at_given_size(e);
  s.called = e.outcome == outcome::valid || e.outcome == outcome::incorrect ||
             e.outcome == outcome::suspect ||
             (e.outcome == outcome::rejected && e.stage >= evaluation_stage::built);
  s.correct = e.valid();
  if (!s.correct) return s;
  s.speedup = e.speedup;
  s.range = e.speedup_interval;
  s.sol_fraction = e.sol_fraction;
  s.sol_score = sol_score_of(e);
  return s;
}

std::vector<group_scores> score_groups(const std::vector<task_score>& given, const score_settings& settings) {
  std::vector<task_score> tasks;
  std::copy_if(given.begin(), given.end(), std::back_inserter(tasks),
               [](const task_score& one) { return !one.fixed_result; });
  std::vector<const task_score*> all;
  all.reserve(tasks.size());
  for (const auto& t : tasks) all.push_back(&t);
  std::vector<group_scores> groups = {scores_of(all, settings)};
  groups.front().kind = "all";
  add_groups(tasks, "level", &task_score::level, settings, groups);
  add_groups(tasks, "category", &task_score::category, settings, groups);
  return groups;
}

}  // namespace kevo
