// Uses islands: populations that evolve separately and exchange a few elites (migration). There are four
// islands on a ring, each with an archive of its own; the selector uses the islands in turn.

#include <cmath>
#include <cstdio>
#include <string>

#include <kevo/archive/islands.hpp>
#include <kevo/kevo.hpp>
#include <kevo/select/on_islands.hpp>

// A program is a number x, and its score has two maxima. Three islands begin near the lower maximum. The
// fourth island finds the higher maximum, and its migrants bring programs near it to the other islands.
struct two_hills {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const double x = std::stod(std::string(request.program->text()));
    const double score = 60 * std::exp(-x * x / 50) + 100 * std::exp(-(x - 30) * (x - 30) / 50);
    return {.outcome = kevo::outcome::valid, .score = 1 + score, .stage = request.wanted};
  }
};
struct walk {
  std::string name() const { return "walk"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    const double x = std::stod(std::string(request.parents.front()->program->text()));
    return kevo::proposal{kevo::single_file_program("number", "x", std::to_string(x + 3 * random.normal())),
                          "walked"};
  }
};

int main() {
  kevo::search_parts parts;
  // After it has kept 30 candidates, an island offers the best tenth of its elites to both neighbours.
  parts.archive = kevo::islands(kevo::top_k(20), kevo::topology::ring(4), {.interval = 30, .share = 0.1});
  kevo::on_islands in_turn;
  in_turn.inner = kevo::uniform{};
  parts.select = in_turn;
  parts.operators = {walk{}};
  parts.portfolio = kevo::uniform_portfolio{};
  parts.stop = kevo::stop::evaluations{3000};

  kevo::search search(std::move(parts), {.seed = 3});
  for (const char* seed : {"-6", "0", "6", "18"}) {  // seeds are distributed: one for each island
    search.add_seed(kevo::single_file_program("number", "x", seed), 0);
  }
  kevo::run_to_end(search, two_hills{}, [] { return 0.0; });

  const auto& world = *search.archive().as<kevo::islands>();
  for (std::size_t i = 0; i < world.count(); ++i) {
    const kevo::candidate_id best = world.island(i).nth_best(0);
    std::printf("island %zu: %zu elites, the best at x = %s\n", i, world.island(i).size(),
                std::string(search.snapshot(best).program->text()).c_str());
  }
  std::printf("%zu candidates moved; best score %.2f\n", world.migrations(), search.best().score);
  return world.count() == 4 && world.migrations() > 0 && search.best().score > 100 ? 0 : 1;
}
