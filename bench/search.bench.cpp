// links: core
// What the search itself costs: selection, deduplication, lineage, population; no evaluation. Archives are in
// archives.bench.cpp. Times are per candidate or per pick, at 10^3 to 10^6 candidates. Memory is what the
// heap holds after filling.
//
//   build/release/bench/bench.search --benchmark_counters_tabular=true
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <malloc.h>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <kevo/models.hpp>

namespace {

using kevo::candidate_id;

double heap_bytes() {
  const auto info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

/// Speedups as searches see them: most near 1, few far above.
double draw_score(kevo::rng& random) {
  return std::exp(0.5 * random.normal());
}

std::vector<kevo::grid_axis> two_axes(std::size_t bins) {
  return {{"code_bytes", bins, 64, 65536, kevo::axis_scale::log}, {"vector_fraction", bins, 0, 1}};
}

/// The parts of a search without its loop.
struct bookkeeping {
  kevo::search_graph graph;
  kevo::population all;
  kevo::any_archive kept;
  kevo::any_selector select;
  kevo::lineage_queries relatives;
  kevo::rng random{1};

  bookkeeping(kevo::any_archive archive, kevo::any_selector selector)
      : kept(std::move(archive)), select(std::move(selector)) {
    relatives.parents = [this](candidate_id id) { return graph.parents(id); };
    relatives.children = [this](candidate_id id) { return graph.children(id); };
    add({});
  }
  bookkeeping(const bookkeeping&) = delete;
  bookkeeping& operator=(const bookkeeping&) = delete;

  void add(const std::vector<candidate_id>& parents) {
    const kevo::content_id program{random(), random()};
    if (graph.find(program)) return;
    const candidate_id id = graph.add(program, 0, parents);
    all.add(0, parents);
    const double score = draw_score(random);
    all.evaluate(id, kevo::outcome::valid, score);
    const std::array<double, 2> measures = {64 * std::exp2(10 * random.uniform()), random.uniform()};
    kept.add({id, score, measures, parents});
  }
  /// One candidate from selection to archive.
  void step() { add(select.select({all, kept, relatives}, random).parents); }
  void grow(std::size_t n) {
    while (all.size() < n) step();
  }
};

/// Steady state at n candidates: fills to n, then measures further steps; refills when they would double it.
template <class Make>
void bookkeeping_at(benchmark::State& state, Make make) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const double before = heap_bytes();
  auto world = make();
  world->grow(n);
  state.counters["bytes/candidate"] = (heap_bytes() - before) / static_cast<double>(n);
  for (auto _ : state) {
    world->step();
    if (world->all.size() >= n + n / 4 + 64) {
      state.PauseTiming();
      world.reset();
      world = make();
      world->grow(n);
      state.ResumeTiming();
    }
  }
}

/// From nothing to n: all growth, rehashing and reallocation included.
void fill_whole(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    bookkeeping world(kevo::grid(two_axes(64)), kevo::power_law{});
    world.grow(n);
    benchmark::DoNotOptimize(world.kept.size());
  }
  state.counters["per_candidate"] = benchmark::Counter(
      static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class Selector>
void selector_at(benchmark::State& state, Selector policy) {
  const auto n = static_cast<std::size_t>(state.range(0));
  bookkeeping world(kevo::grid(two_axes(1024)), kevo::power_law{.from = kevo::parent_source::population});
  world.grow(n);
  kevo::any_selector select = policy;
  for (auto _ : state) {
    benchmark::DoNotOptimize(select.select({world.all, world.kept, world.relatives}, world.random));
  }
  state.counters["elites"] = static_cast<double>(world.kept.size());
}

/// A policy with a memory that has seen a whole search of n candidates: one pick and one observation. A tenth
/// of the children fail, and they are worth what their parents are, give or take.
template <class Selector>
void learning_selector_at(benchmark::State& state, const Selector& policy) {
  const auto n = static_cast<std::size_t>(state.range(0));
  bookkeeping world(kevo::grid(two_axes(64)), policy);
  const auto step = [&world] {
    const kevo::selection chosen =
        world.select.select({world.all, world.kept, world.relatives}, world.random);
    kevo::observation seen;
    seen.candidate = chosen.parents.front();
    seen.score = world.all.row(seen.candidate).score;
    const double base = seen.score > 0 ? seen.score : 1;
    if (!chosen.reevaluate) {
      seen.candidate = world.graph.add({world.random(), world.random()}, 0, chosen.parents);
      world.all.add(0, chosen.parents);
      const bool valid = world.random.chance(0.9);
      seen.score =
          valid ? std::min(base * std::exp(0.1 * world.random.normal()), 20 + world.random.uniform()) : 0;
    }
    seen.parents = world.graph.parents(seen.candidate);
    seen.outcome = seen.score > 0 ? kevo::outcome::valid : kevo::outcome::incorrect;
    world.all.evaluate(seen.candidate, seen.outcome, seen.score);
    const std::array<double, 2> measures = {64 * std::exp2(10 * world.random.uniform()),
                                            world.random.uniform()};
    if (seen.score > 0) seen.archived = world.kept.add({seen.candidate, seen.score, measures});
    seen.measured = seen.score;
    world.select.observe(seen, {world.all, world.kept, world.relatives});
  };
  kevo::observation first;
  first.candidate = 0;
  first.outcome = kevo::outcome::valid;
  first.score = world.all.row(0).score;
  first.measured = first.score;
  world.select.observe(first, {world.all, world.kept, world.relatives});
  while (world.all.size() < n) step();
  for (auto _ : state) step();
}

template <class Portfolio>
void portfolio_turn(benchmark::State& state, Portfolio policy) {
  const auto operators = static_cast<std::size_t>(state.range(0));
  kevo::any_portfolio any = policy;
  const auto available = std::make_unique<bool[]>(operators);
  for (std::size_t i = 0; i < operators; ++i) available[i] = true;
  kevo::rng random(5);
  for (auto _ : state) {
    const std::size_t chosen = any.pick({available.get(), operators}, random);
    any.observe({chosen, random.uniform(), 1});
  }
}

void dedup_at(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  kevo::search_graph graph;
  kevo::rng random(7);
  std::vector<kevo::content_id> known;
  for (std::size_t i = 0; i < n; ++i) {
    known.push_back({random(), random()});
    graph.add(known.back(), 0);
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(graph.find(known[random.below(n)]));
    benchmark::DoNotOptimize(graph.find({random(), random()}));
  }
}

// The whole ask/tell loop.

kevo::program numbered_program(std::uint64_t n) {
  return kevo::single_file_program("cpp", "k.cpp", "// " + std::to_string(n) + "\n");
}

struct numbering {  // proposes a program that nobody has proposed
  std::shared_ptr<std::uint64_t> next = std::make_shared<std::uint64_t>(1);
  std::string name() const { return "numbering"; }
  kevo::variation_result vary(const kevo::variation_request&, kevo::rng&) {
    return kevo::proposal{numbered_program((*next)++), "next"};
  }
};

/// Keeps what is asked for again (programs of parents) but no evaluations: their memory would be measured.
kevo::candidate_store thrifty_store() {
  const auto one = std::make_shared<const kevo::program>(numbered_program(0));
  const auto result = std::make_shared<const kevo::evaluation>();
  return {[](const kevo::content_id&, std::shared_ptr<const kevo::program>) {},
          [one](const kevo::content_id&) { return one; },
          [](candidate_id, std::shared_ptr<const kevo::evaluation>) {},
          [result](candidate_id) { return result; }};
}

struct whole_search {
  kevo::search engine;
  kevo::rng random{9};

  static kevo::search_parts parts() {
    kevo::search_parts p;
    p.task = std::make_shared<const kevo::task>();
    p.select = kevo::power_law{};
    p.operators = {kevo::any_variation(numbering{})};
    p.portfolio = kevo::ucb1{};
    p.archive = kevo::grid(two_axes(64));
    p.store = thrifty_store();
    return p;
  }
  whole_search() : engine(parts(), {}) {
    engine.add_seed(numbered_program(0), 0);
    step();
  }
  void step() {
    auto next = engine.ask({}, 0);
    if (auto* vary = std::get_if<kevo::variation_job>(&next)) {
      engine.tell(vary->id, engine.operators()[0].vary(vary->request, vary->random), {}, {}, 0);
    } else if (auto* evaluate = std::get_if<kevo::evaluation_job>(&next)) {
      kevo::evaluation result;
      result.outcome = kevo::outcome::valid;
      result.score = result.speedup = draw_score(random);
      result.stage = evaluate->request.wanted;
      result.measures = {{"code_bytes", 64 * std::exp2(10 * random.uniform())},
                         {"vector_fraction", random.uniform()}};
      engine.tell(evaluate->id, std::move(result), 0);
    }
  }
  void grow(std::size_t n) {
    while (engine.population().size() < n) step();
  }
};

void ask_and_tell_at(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const double before = heap_bytes();
  auto world = std::make_unique<whole_search>();
  world->grow(n);
  state.counters["bytes/candidate"] = (heap_bytes() - before) / static_cast<double>(n);
  for (auto _ : state) {  // an iteration is one more candidate: varied, evaluated, confirmed if need be
    world->grow(world->engine.population().size() + 1);
    if (world->engine.population().size() >= n + n / 4 + 64) {
      state.PauseTiming();
      world = std::make_unique<whole_search>();
      world->grow(n);
      state.ResumeTiming();
    }
  }
}

void sizes(benchmark::internal::Benchmark* b) {
  b->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMicrosecond);
}

/// For benchmarks that are slow to prepare: prepared once, not once a trial.
void long_sizes(benchmark::internal::Benchmark* b) {
  b->Apply(sizes)->Iterations(50000);
}

const auto small_grid = [] {
  return std::make_unique<bookkeeping>(kevo::grid(two_axes(64)), kevo::power_law{});
};
const auto large_grid = [] {
  return std::make_unique<bookkeeping>(kevo::grid(two_axes(1024)), kevo::power_law{});
};
const auto whole_population = [] {
  return std::make_unique<bookkeeping>(kevo::top_k(100),
                                       kevo::fitness_proportional{.from = kevo::parent_source::population});
};

BENCHMARK_CAPTURE(bookkeeping_at, power_law_grid_4096, small_grid)->Apply(sizes);
BENCHMARK_CAPTURE(bookkeeping_at, power_law_grid_1M, large_grid)->Apply(sizes);
BENCHMARK_CAPTURE(bookkeeping_at, roulette_population, whole_population)->Apply(sizes);
BENCHMARK(ask_and_tell_at)->Apply(sizes);
BENCHMARK(fill_whole)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(dedup_at)->Apply(sizes);

constexpr auto everyone = kevo::parent_source::population;
BENCHMARK_CAPTURE(selector_at, greedy, kevo::greedy{})->Apply(sizes);
BENCHMARK_CAPTURE(selector_at, tournament, kevo::tournament{})->Apply(sizes);
BENCHMARK_CAPTURE(selector_at, tournament_population, kevo::tournament{.from = everyone})->Apply(sizes);
BENCHMARK_CAPTURE(selector_at, power_law, kevo::power_law{})->Apply(sizes);
BENCHMARK_CAPTURE(selector_at, power_law_population, kevo::power_law{.from = everyone})->Apply(sizes);
BENCHMARK_CAPTURE(selector_at, fitness_proportional, kevo::fitness_proportional{})->Apply(sizes);
BENCHMARK_CAPTURE(selector_at, roulette_population, kevo::fitness_proportional{.from = everyone})
    ->Apply(sizes);

BENCHMARK_CAPTURE(selector_at, uniform, kevo::uniform{})->Apply(sizes);
BENCHMARK_CAPTURE(selector_at, weighted, kevo::weighted{})->Apply(sizes);
BENCHMARK_CAPTURE(selector_at, weighted_population, kevo::weighted{.from = everyone})->Apply(sizes);
// On five islands of a grid each.
void selector_on_islands_at(benchmark::State& state, const kevo::inspirations& inspirations) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const kevo::any_archive one = kevo::grid(two_axes(256));
  kevo::on_islands policy;
  policy.inner = kevo::power_law{.inspirations = inspirations};
  bookkeeping world(kevo::islands(one, kevo::topology::ring(5)), policy);
  world.grow(n);
  for (auto _ : state) {
    benchmark::DoNotOptimize(world.select.select({world.all, world.kept, world.relatives}, world.random));
  }
  state.counters["elites"] = static_cast<double>(world.kept.size());
}
BENCHMARK_CAPTURE(selector_on_islands_at, power_law, kevo::inspirations{})->Apply(sizes);
BENCHMARK_CAPTURE(selector_on_islands_at, inspired, kevo::inspirations{1, 1, 1, 1})->Apply(sizes);

BENCHMARK_CAPTURE(selector_at, inspired, kevo::power_law{.inspirations = {1, 1, 4, 2}})->Apply(sizes);

BENCHMARK_CAPTURE(learning_selector_at, curiosity, kevo::curiosity{})->Apply(long_sizes);
BENCHMARK_CAPTURE(learning_selector_at, lineage, kevo::lineage{})->Apply(long_sizes);
BENCHMARK_CAPTURE(learning_selector_at, adaptive_intensity, kevo::adaptive_intensity{})->Apply(long_sizes);
BENCHMARK_CAPTURE(learning_selector_at, bucket_softmax, kevo::bucket_softmax{})->Apply(long_sizes);
BENCHMARK_CAPTURE(learning_selector_at, priority_queue, kevo::priority_queue{})->Apply(long_sizes);
BENCHMARK_CAPTURE(learning_selector_at, island_mix, kevo::island_mix{})->Apply(long_sizes);
BENCHMARK_CAPTURE(learning_selector_at, uct, kevo::uct{})->Apply(long_sizes);
BENCHMARK_CAPTURE(learning_selector_at, uct_widening,
                  [] {
                    kevo::uct policy;
                    policy.widening = 0.5;
                    return policy;
                  }())
    ->Apply(long_sizes);

BENCHMARK_CAPTURE(portfolio_turn, ucb1, kevo::ucb1{})->Arg(3)->Arg(30);
BENCHMARK_CAPTURE(portfolio_turn, thompson, kevo::thompson{})->Arg(3)->Arg(30);
BENCHMARK_CAPTURE(portfolio_turn, exp3, kevo::exp3{})->Arg(3)->Arg(30);
BENCHMARK_CAPTURE(portfolio_turn, adaptive_pursuit, kevo::adaptive_pursuit{})->Arg(3)->Arg(30);
BENCHMARK_CAPTURE(portfolio_turn, uniform, kevo::uniform_portfolio{})->Arg(3)->Arg(30);

}  // namespace
