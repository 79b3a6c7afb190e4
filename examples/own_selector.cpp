// A selector of your own looks at the population and chooses parents. This selector is simulated annealing:
// the parent is the newest valid candidate or the best one. The worse the newest candidate is, the more often
// the best one is chosen.

#include <cmath>
#include <cstdio>
#include <string>

#include <kevo/kevo.hpp>

struct annealing {
  double temperature = 0.1;  // relative loss of score that is accepted with probability 1/e
  double cooling = 0.998;

  kevo::selection select(const kevo::population_view& view, kevo::rng& random) {
    temperature *= cooling;
    const double best = view.score(view.nth_best(0));
    const double loss = current_ == kevo::no_candidate ? 1 : 1 - view.score(current_) / best;
    const bool stay = random.chance(std::exp(-loss / temperature));
    return {.parents = {stay && view.score(current_) > 0 ? current_ : view.nth_best(0)}};
  }

  // Optional: called after every evaluation.
  void observe(const kevo::observation& seen) {
    if (seen.outcome == kevo::outcome::valid) current_ = seen.candidate;
  }

 private:
  kevo::candidate_id current_ = kevo::no_candidate;
};
static_assert(kevo::selector<annealing>);

// A program is a number x; its score has many local maxima, the highest one near x = 50.
static double landscape(double x) {
  return 100 - std::abs(x - 50) + 8 * std::cos(x);
}

struct walk {
  std::string name() const { return "walk"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    const double x = std::stod(std::string(request.parents.front()->program->text()));
    return kevo::proposal{kevo::single_file_program("number", "x", std::to_string(x + 2 * random.normal())),
                          "stepped"};
  }
};

struct height {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const double score = landscape(std::stod(std::string(request.program->text())));
    return {.outcome = kevo::outcome::valid, .score = score, .stage = request.wanted};
  }
};

int main() {
  kevo::search_parts parts;
  parts.select = annealing{};
  parts.operators = {walk{}};
  parts.portfolio = kevo::uniform_portfolio{};
  parts.archive = kevo::top_k(5);
  parts.stop = kevo::stop::evaluations{2000};

  kevo::search search(std::move(parts), {.seed = 7});
  search.add_seed(kevo::single_file_program("number", "x", "3.0"), 0);
  kevo::run_to_end(search, height{}, [] { return 0.0; });

  std::printf("best %.2f at x = %s\n", search.best().score,
              std::string(search.snapshot(search.best().id).program->text()).c_str());
  return search.best().score > 100 ? 0 : 1;
}
