// links: core
// What one insertion into every archive costs, after n offers, at n = 10^3 to 10^6; archives that look at all
// their elites at the sizes that their sources use. The random numbers, the logarithm and the exponential
// that make up each offer are included; `offer_alone` says what they cost. Memory is what the heap holds
// after filling.
//
//   build/release/bench/bench.archives --benchmark_counters_tabular=true
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

double draw_score(kevo::rng& random) {
  return std::exp(0.5 * random.normal());
}

std::vector<kevo::grid_axis> two_axes(std::size_t bins) {
  return {{"code_bytes", bins, 64, 65536, kevo::axis_scale::log}, {"vector_fraction", bins, 0, 1}};
}
std::vector<kevo::measure_range> unit_ranges() {
  return {{"code_bytes", 64, 65536, kevo::axis_scale::log},
          {"vector_fraction", 0, 1, kevo::axis_scale::linear}};
}

std::array<double, 2> draw_measures(kevo::rng& random) {
  return {64 * std::exp2(10 * random.uniform()), random.uniform()};
}

/// What every offer below costs before it reaches an archive.
void offer_alone(benchmark::State& state) {
  kevo::rng random(3);
  for (auto _ : state) {
    benchmark::DoNotOptimize(draw_measures(random));
    benchmark::DoNotOptimize(draw_score(random));
  }
}

/// Offers of new candidates, each the child of a random older one, to an archive that has seen n.
template <class Make>
void archive_at(benchmark::State& state, Make make) {
  const auto n = static_cast<std::size_t>(state.range(0));
  kevo::any_archive kept = make(n);
  kevo::rng random(3);
  candidate_id next = 0;
  const auto offer = [&] {
    const auto measures = draw_measures(random);
    const std::array<candidate_id, 1> parent = {next / 2};
    const std::span<const candidate_id> parents(parent.data(), next > 0 ? 1 : 0);
    return kept.add({next++, draw_score(random), measures, parents});
  };
  const double before = heap_bytes();
  for (std::size_t i = 0; i < n; ++i) offer();
  state.counters["bytes/elite"] = (heap_bytes() - before) / static_cast<double>(kept.size());
  for (auto _ : state) benchmark::DoNotOptimize(offer());
  state.counters["elites"] = static_cast<double>(kept.size());
}

/// A kernel of about two kilobytes with a few random numbers in it.
std::shared_ptr<const kevo::program> some_source(kevo::rng& random) {
  std::string text;
  for (int line = 0; line < 40; ++line) {
    text += "acc[" + std::to_string(random.below(16)) + "] += a[i + " + std::to_string(line) + "] * b[j];\n";
  }
  return std::make_shared<const kevo::program>(kevo::single_file_program("cpp", "k.cpp", text));
}

template <class Make>
void source_archive_at(benchmark::State& state, Make make) {
  const auto n = static_cast<std::size_t>(state.range(0));
  kevo::any_archive kept = make();
  kevo::rng random(4);
  candidate_id next = 0;
  const auto offer = [&](std::shared_ptr<const kevo::program> source) {
    return kept.add({.id = next++, .score = draw_score(random), .source = std::move(source)});
  };
  for (std::size_t i = 0; i < 4 * n && kept.size() < n; ++i) offer(some_source(random));
  std::vector<std::shared_ptr<const kevo::program>> sources;
  for (int i = 0; i < 64; ++i) sources.push_back(some_source(random));
  for (auto _ : state) benchmark::DoNotOptimize(offer(sources[next % sources.size()]));
  state.counters["elites"] = static_cast<double>(kept.size());
}

void embedding(benchmark::State& state) {
  kevo::rng random(5);
  const auto source = some_source(random);
  const kevo::ngram_embedding embed;
  for (auto _ : state) benchmark::DoNotOptimize(embed(*source));
  state.counters["bytes"] = static_cast<double>(source->text().size());
}

void sizes(benchmark::internal::Benchmark* b) {
  b->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMicrosecond);
}
void small_sizes(benchmark::internal::Benchmark* b) {
  b->Arg(100)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);
}

BENCHMARK(offer_alone)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(archive_at, top_100, [](std::size_t) { return kevo::top_k(100); })->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, top_n, [](std::size_t n) { return kevo::top_k(n); })->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, grid_4096, [](std::size_t) { return kevo::grid(two_axes(64)); })->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, grid_1M, [](std::size_t) { return kevo::grid(two_axes(1024)); })->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, grid_100M_hashed, [](std::size_t) {
  return kevo::grid(two_axes(10000));
})->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, soft_grid_1M, [](std::size_t) {
  return kevo::grid(two_axes(1024), {.rate = 0.1});
})->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, cvt_1000, [](std::size_t) {
  return kevo::cvt(unit_ranges(), 1000);
})->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, cvt_10000, [](std::size_t) {
  return kevo::cvt(unit_ranges(), 10000);
})->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, sliding_64x64, [](std::size_t) {
  return kevo::sliding({{"code_bytes", 64}, {"vector_fraction", 64}});
})->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, pareto_two_objectives, [](std::size_t) {
  return kevo::pareto({{"code_bytes", false}, {"vector_fraction", true}});
})->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, islands_5_grid_1M, [](std::size_t) {
  return kevo::islands(kevo::any_archive(kevo::grid(two_axes(1024))), kevo::topology::ring(5));
})->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, islands_5_top_200, [](std::size_t) {
  return kevo::islands(kevo::any_archive(kevo::top_k(200)), kevo::topology::full(5));
})->Apply(sizes);

// Linear in their elites by definition; the counter says how many there are.
BENCHMARK_CAPTURE(archive_at, epsilon_net_100, [](std::size_t) {
  return kevo::epsilon_net(unit_ranges(), 0.1);
})->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, epsilon_net_1000, [](std::size_t) {
  return kevo::epsilon_net(unit_ranges(), 0.03);
})->Apply(sizes);
BENCHMARK_CAPTURE(archive_at, novelty_100, [](std::size_t) {
  return kevo::novelty(unit_ranges(), 0.2);
})->Apply(small_sizes);
BENCHMARK_CAPTURE(archive_at, novelty_1000, [](std::size_t) {
  return kevo::novelty(unit_ranges(), 0.06);
})->Apply(small_sizes);
BENCHMARK_CAPTURE(source_archive_at, epsilon_net, [] {
  return kevo::epsilon_net(kevo::embedding_of(kevo::ngram_embedding{}), 0.01);
})->Apply(small_sizes);
BENCHMARK_CAPTURE(source_archive_at, feature_map, [] {
  return kevo::feature_map({"complexity", "diversity"});
})->Apply(small_sizes);
BENCHMARK_CAPTURE(source_archive_at, islands_5_feature_map, [] {
  return kevo::islands(kevo::feature_map({"complexity", "diversity"}), kevo::topology::ring(5));
})->Apply(small_sizes);
BENCHMARK(embedding)->Unit(benchmark::kMicrosecond);

}  // namespace
