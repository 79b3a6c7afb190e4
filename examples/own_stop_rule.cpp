// A stop rule of your own decides when a search ends. This rule stops when the best score has risen by
// too small a share in the last evaluations. A stop rule is a struct with `stop`, without a base class; the
// optional `observe` is called after every result.

#include <cstdio>
#include <deque>
#include <optional>
#include <string>

#include <kevo/kevo.hpp>

struct slow_progress {
  std::size_t window = 60;    // number of latest results that count
  double least_gain = 0.001;  // smallest relative gain that counts as progress

  void observe(const kevo::progress& now) {
    if (!now.best_score) return;  // nothing is valid yet
    best.push_back(*now.best_score);
    if (best.size() > window) best.pop_front();
  }
  std::optional<std::string> stop(const kevo::progress& now) const {
    if (best.size() < window || !now.best_score) return std::nullopt;
    if (*now.best_score > best.front() * (1 + least_gain)) return std::nullopt;
    return "hardly better in " + std::to_string(window) + " results";
  }

  std::deque<double> best;
};
static_assert(kevo::stop_rule<slow_progress>);

// A program is a number x; the score rises with x, but more and more slowly.
struct step {
  std::string name() const { return "step"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    const double x = std::stod(std::string(request.parents.front()->program->text()));
    return kevo::proposal{kevo::single_file_program("number", "x", std::to_string(x + random.uniform())),
                          "stepped"};
  }
};
struct saturating {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const double x = std::stod(std::string(request.program->text()));
    return {.outcome = kevo::outcome::valid, .score = 100 * x / (1 + x), .stage = request.wanted};
  }
};

int main() {
  kevo::search_parts parts;
  parts.select = kevo::greedy{};
  parts.operators = {step{}};
  parts.portfolio = kevo::uniform_portfolio{};
  parts.archive = kevo::top_k(5);
  // Several rules can be combined: the search stops as soon as one of them says so.
  parts.stop = kevo::stop::any_of{{slow_progress{}, kevo::stop::evaluations{5000}}};

  kevo::search search(std::move(parts), {.seed = 1});
  search.add_seed(kevo::single_file_program("number", "x", "1.0"), 0);
  kevo::run_to_end(search, saturating{}, [] { return 0.0; });

  std::printf("score %.2f, stopped because %s\n", search.best().score, search.stopped()->c_str());
  return search.stopped()->find("hardly better") == 0 ? 0 : 1;
}
