// What the journal costs. The bar: at most 100 microseconds amortized per candidate with group commit. A
// candidate is four events (variation asked and told, evaluation asked and told), a program of 2 KB and an
// evaluation with two visible workloads of 30 timing pairs each and eight hidden ones.
//
// KEVO_BENCH_DIR names the folder (default: the working directory); tmpfs would hide what fsync costs.

#include "src/journal/journal.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include <kevo/random.hpp>

namespace {

std::string fresh_folder() {
  const char* base = std::getenv("KEVO_BENCH_DIR");
  static int count = 0;
  const auto path = std::filesystem::path(base != nullptr ? base : ".") /
                    ("journal-bench-" + std::to_string(getpid()) + "-" + std::to_string(count++));
  std::filesystem::remove_all(path);
  return path.string();
}

std::shared_ptr<const kevo::evaluation> typical_evaluation(kevo::rng& random) {
  kevo::evaluation e;
  e.outcome = kevo::outcome::valid;
  e.speedup = e.score = random.uniform(1, 20);
  e.speedup_interval = {e.speedup * 0.99, e.speedup * 1.01};
  e.stage = kevo::evaluation_stage::timed_full;
  e.baseline = "seed";
  e.other_speedups = {{"openblas", random.uniform()}};
  e.other_speedup_intervals = {{"openblas", {random.uniform(), 1 + random.uniform()}}};
  for (int i = 0; i < 10; ++i) {
    kevo::workload_result w;
    w.uuid = "workload" + std::to_string(i);
    w.axes = {{"K", 512}, {"M", 512}, {"N", 512}};
    w.hidden = i >= 2;
    if (!w.hidden) {
      w.time_ns = random.uniform(1e5, 1e6);
      w.time_interval = {w.time_ns * 0.99, w.time_ns * 1.01};
      w.baseline_ns = w.time_ns * e.speedup;
      w.speedup = e.speedup;
      for (int k = 0; k < 30; ++k) w.samples.push_back({random.uniform(1e5, 1e6), random.uniform(1e6, 1e7)});
    }
    e.workloads.push_back(std::move(w));
  }
  e.measures = {{"code_bytes", 2345}, {"vector_fraction", random.uniform()}, {"text_bytes", 9876}};
  e.cost = {random.uniform(), random.uniform()};
  e.device = "AMD EPYC 9B14";
  e.backend = "cpu";
  e.protocol = "1";
  e.context = {{"compiler", "g++ 12.2.0"},
               {"flags", "-O3 -march=native"},
               {"sandbox", "bubblewrap, seccomp, rlimits"}};
  return std::make_shared<const kevo::evaluation>(std::move(e));
}

std::shared_ptr<const kevo::program> typical_program(std::uint64_t number) {
  std::string text = "// candidate " + std::to_string(number) + "\n";
  while (text.size() < 2048) text += "for (int i = 0; i < 64; ++i) c[i] += a[i] * b[i];\n";
  return std::make_shared<const kevo::program>(
      kevo::single_file_program("cpp", "kernel.cpp", std::move(text)));
}

kevo::journal_header example_header() {
  kevo::journal_header h;
  h.operators = {"tune", "splice"};
  return h;
}

struct writer {
  kevo::journal record;
  kevo::candidate_store store;
  kevo::rng random{1};
  std::uint64_t sequence = 0;
  kevo::ticket job = 0;
  kevo::candidate_id candidates = 0;

  explicit writer(const std::string& folder)
      : record(kevo::journal::create(folder, example_header())), store(record.store()) {
    const auto p = typical_program(0);
    store.put_program(kevo::id_of(*p), p);
    tell(kevo::seeded{candidates++, kevo::id_of(*p)});
  }
  void tell(decltype(kevo::event::payload) what) {
    ++sequence;
    record.consume({sequence, 0.001 * static_cast<double>(sequence), std::move(what)});
  }
  void add(const std::shared_ptr<const kevo::program>& p, const kevo::content_id& id,
           const std::shared_ptr<const kevo::evaluation>& e) {
    const auto parent = static_cast<kevo::candidate_id>(random.below(candidates));
    tell(kevo::variation_asked{++job, {{parent}, {0}, kevo::memory_scope::parent_trajectory, false}, 0});
    store.put_program(id, p);
    kevo::variation_told told{};
    told.job = job;
    told.program = id;
    told.candidate = candidates;
    told.summary = "BM 32 -> 64";
    told.cost.wall_s = 1e-5;
    tell(std::move(told));
    tell(kevo::evaluation_asked{++job, candidates, kevo::evaluation_stage::timed_full, false});
    store.put_evaluation(candidates, e);
    tell(kevo::evaluation_told{
        job, candidates, kevo::evaluation_stage::timed_full, e, {kevo::archive_status::improved, 0.1}});
    ++candidates;
  }
};

/// Candidates that are written in groups of `range(1)`, into a journal that holds `range(0)` already.
void write_candidates(benchmark::State& state) {
  const std::string folder = fresh_folder();
  const auto before = static_cast<std::uint64_t>(state.range(0));
  const auto group = static_cast<std::uint64_t>(state.range(1));
  {
    writer w(folder);
    kevo::rng random(2);
    std::uint64_t number = 1;
    for (; number < before; ++number) {
      const auto p = typical_program(number);
      w.add(p, kevo::id_of(*p), typical_evaluation(random));
      if (number % 1000 == 0) w.record.commit();
    }
    w.record.commit();
    std::uint64_t written = 0;
    for (auto _ : state) {
      state.PauseTiming();
      const auto p = typical_program(number++);
      const auto id = kevo::id_of(*p);
      const auto e = typical_evaluation(random);
      state.ResumeTiming();
      w.add(p, id, e);
      if (++written % group == 0) w.record.commit();
    }
    w.record.close();
    state.counters["bytes/candidate"] =
        static_cast<double>(std::filesystem::file_size(folder + "/journal.sqlite")) /
        static_cast<double>(w.candidates);
  }
  std::filesystem::remove_all(folder);
}

/// Reading a whole run back, as a resume does: per candidate.
void read_back(benchmark::State& state) {
  const std::string folder = fresh_folder();
  const auto size = static_cast<std::uint64_t>(state.range(0));
  {
    writer w(folder);
    kevo::rng random(2);
    for (std::uint64_t number = 1; number <= size; ++number) {
      const auto p = typical_program(number);
      w.add(p, kevo::id_of(*p), typical_evaluation(random));
      if (number % 1000 == 0) w.record.commit();
    }
  }
  for (auto _ : state) {
    const auto record = kevo::journal::open_read_only(folder);
    std::uint64_t events = 0;
    record.for_each_event([&events](const kevo::event&) { ++events; });
    benchmark::DoNotOptimize(events);
  }
  state.counters["per candidate"] = benchmark::Counter(
      static_cast<double>(size), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  std::filesystem::remove_all(folder);
}

}  // namespace

BENCHMARK(write_candidates)
    ->ArgNames({"before", "group"})
    ->Args({1000, 10})
    ->Args({1000, 100})
    ->Args({1000, 1000})
    ->Args({100000, 100})
    ->Args({100000, 1000})
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(20000)  // else each of several tries would fill the journal again
    ->UseRealTime();
BENCHMARK(read_back)->Arg(10000)->Unit(benchmark::kMillisecond)->UseRealTime();
