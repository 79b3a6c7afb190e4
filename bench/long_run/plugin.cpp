// A plug-in that makes long runs in little time: an operator that proposes a new program at once, and a
// fitness function that answers at once with an evaluation of the usual size. Used by bench/long_run.sh.

#include <cmath>
#include <string>

#include <kevo/registry.hpp>

namespace {

/// Appends a line with a number to the parent's first file, in the place of the line that it had.
struct number_it {
  std::string name() const { return "number_it"; }

  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    kevo::program child = *request.parents.front()->program;
    std::string& text = child.files.front().text;
    constexpr const char* mark = "// number ";
    if (const auto old = text.find(mark); old != std::string::npos) text.resize(old);
    const std::string line = mark + std::to_string(random() % 1'000'000'000'000);
    text += line + '\n';
    return kevo::proposal{std::move(child), line};
  }
};
static_assert(kevo::variation<number_it>);

/// A score that follows from the program alone, for two visible workloads with 30 pairs of samples each and
/// eight hidden ones. One in ten is incorrect.
struct made_up {
  std::string describe() const { return "made up"; }

  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const kevo::content_id id = kevo::id_of(*request.program);
    kevo::rng random(id.high ^ id.low);
    kevo::evaluation e;
    e.backend = "made up";
    e.protocol = "1";
    e.device = "none";
    e.measures = {{"code_bytes", 64 * std::exp2(10 * random.uniform())},
                  {"vector_fraction", random.uniform()}};
    e.cost = {random.uniform(), random.uniform()};
    e.stage = request.wanted;
    if (random.chance(0.1)) {
      e.outcome = kevo::outcome::incorrect;
      e.feedback = "workload 'w3': 12 of 4096 elements differ";
      return e;
    }
    e.outcome = kevo::outcome::valid;
    e.baseline = "seed";
    e.speedup = e.score = std::exp(0.5 * random.normal());
    e.speedup_interval = {e.speedup * 0.99, e.speedup * 1.01};
    for (int i = 0; i < 10; ++i) {
      kevo::workload_result w;
      w.uuid = "w" + std::to_string(i);
      w.axes = {{"M", 512}, {"N", 512}};
      w.hidden = i >= 2;
      if (!w.hidden) {
        w.time_ns = random.uniform(1e5, 1e6);
        w.time_interval = {w.time_ns * 0.99, w.time_ns * 1.01};
        w.baseline_ns = w.time_ns * e.speedup;
        w.speedup = e.speedup;
        for (int k = 0; k < 30; ++k)
          w.samples.push_back({random.uniform(1e5, 1e6), random.uniform(1e6, 1e7)});
      }
      e.workloads.push_back(std::move(w));
    }
    return e;
  }
};
static_assert(kevo::fitness<made_up>);

}  // namespace

KEVO_PLUGIN(registry) {
  registry.operators.add(
      "number_it",
      [](kevo::settings&, const kevo::build_context&) { return kevo::any_variation(number_it{}); },
      "appends a line with a random number");
  registry.fitness.add(
      "made_up", [](kevo::settings&, const kevo::build_context&) { return kevo::any_fitness(made_up{}); },
      "answers at once with an evaluation that follows from the program's text");
}
