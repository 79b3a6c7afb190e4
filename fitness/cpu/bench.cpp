#include "fitness/cpu/bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cascade/bounds.hpp"
#include "fitness/cpu/arithmetic_rate.hpp"
#include "fitness/cpu/cpp_programs.hpp"
#include "fitness/cpu/places.hpp"
#include "fitness/machine/processor_facts.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/timing/trusted_timeout.hpp"

namespace kevo {

test_bench::test_bench(std::shared_ptr<const task> t, cpu_settings settings)
    : test_bench(std::move(t), std::move(settings), nullptr) {}

test_bench::test_bench(std::shared_ptr<const task> t, cpu_settings settings,
                       std::shared_ptr<const program_kind> kind)
    : task_(std::move(t)),
      settings_(std::move(settings)),
      claim_(settings_.cores ? settings_.cores : std::make_shared<const claimed_cores>(settings_.threads)),
      cores_(claim_->plan()),
      device_(device_name()),
      kind_(std::move(kind)) {
  if (measuring_places(physical_cores(), settings_.threads) > 1) memory_.emplace();
  if (!task_) throw error(error_code::usage, "the CPU fitness function needs a task");
  if (!kind_) kind_ = std::make_shared<const program_kind>(cpp_programs(task_, settings_, &running_));
  double least = 1e300;
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    if (task_->workloads[i].hidden) continue;
    double size = 0;
    for (const auto& buffer : candidate_buffers(*task_, task_->workloads[i]))
      size += static_cast<double>(buffer.bytes);
    if (size < least) smallest_ = i;
    least = std::min(least, size);
  }
}

void test_bench::leave_untimed() {
  cores_ = {.controller = -1, .workers = {}, .shared = true, .few = false};
  // Given, so that they are not measured: beside other work they would be too low.
  settings_.measured_ceilings = std::make_shared<const kevo::ceilings>();
}

worker_settings test_bench::worker_for(const std::string& object, std::optional<trusted_role> role) const {
  worker_settings worker;
  worker.program = settings_.worker;
  worker.sandbox = settings_.sandbox;
  worker.threads = settings_.threads;
  worker.cpus = cores_.workers;
  worker.yield = cores_.shared;
  worker.load_limit_s = settings_.limits.load_s;
  worker.limits.wall_s = 600;
  worker.limits.data_bytes = settings_.limits.memory_bytes;
  // A thread that has ended is counted until the kernel has buried it, so that there is room for as many
  // again.
  worker.limits.processes = 2 * settings_.threads + 2;
  return kind_->worker_for(std::move(worker), object, role);
}

build_result test_bench::build_candidate(const program& candidate, std::stop_token stop) {
  return kind_->build(candidate, std::move(stop));
}

std::unique_ptr<processors_in_use> test_bench::take_processors(const std::stop_token& stop,
                                                               const wait_listener& listener) {
  return std::make_unique<processors_in_use>(cores_, running_, measuring_, stop, listener);
}

runner test_bench::run_candidate(const std::string& object, std::stop_token stop, bool otherwise) const {
  auto worker = worker_for(otherwise ? kind_->otherwise->object(object) : object, std::nullopt);
  worker.stop = std::move(stop);
  runner result(task_, worker, object, rng(settings_.seed ? *settings_.seed + 1 : secret_seed()));
  result.share(arenas_);
  result.limit_setup(
      {settings_.limits.loads_s, settings_.limits.first_call_s, settings_.limits.first_calls_s});
  return result;
}

// Of calls in a pair, where they are that short.
constexpr double shortest_block_ns = 4e6;
constexpr double longest_block_ns = 10e6;

paired_timer test_bench::plan_for(std::size_t workload, double candidate_ns, runner& candidate, bool brief,
                                  const std::stop_token& stop) {
  return plan_for(workload, candidate_ns, candidate, baseline_, brief, stop);
}

paired_timer test_bench::plan_for(std::size_t workload, double candidate_ns, runner& candidate,
                                  trusted_program& other, bool brief, const std::stop_token& stop) {
  // The first look, which has at least four pairs, is not to take much longer than it may.
  const double block_ns =
      brief ? 0 : std::clamp(1e9 * settings_.timing.short_s / 10, shortest_block_ns, longest_block_ns);
  const bool once = kind_->contents_once && !is_trusted(candidate.object());
  const auto plan = plan_pairing(candidate_ns, other.call_ns[workload],
                                 once ? contents_of_process(workload) : mixed_[workload].size(), block_ns,
                                 candidate.start_ns());
  paired_timer timer(candidate, *other.program, *pacer_, workload, mixed_[workload], plan,
                     call_limit(workload), rng(settings_.seed ? *settings_.seed + 2 : secret_seed()));
  if (kind_->warms_up) timer.warm_up();
  if (once) {
    timer.draw_from([this, workload, object = candidate.object(), stop](std::size_t count) {
      return unused_contents(workload, object, count, stop);
    });
  }
  return timer;
}

std::size_t test_bench::place_for_pair(runner& candidate, const program& source, trusted_program& against,
                                       std::size_t pair, std::size_t processes, const std::stop_token& stop) {
  if (!kind_->place) return 0;
  const std::size_t wanted = places_for_pair(pair, processes);
  const auto place = [&](runner& program, const kevo::program& text, const baseline* trusted) {
    auto objects = program.placements();
    if (objects.size() >= wanted) return;
    const auto further = kind_->place(text, trusted, objects.size(), wanted - objects.size(), stop);
    objects.insert(objects.end(), further.begin(), further.end());
    program.place_at(std::move(objects));
  };
  const auto& trusted = *std::find_if(task_->baselines.begin(), task_->baselines.end(),
                                      [&](const baseline& one) { return one.name == against.name; });
  place(candidate, source, nullptr);
  place(*against.program, trusted.source, &trusted);
  candidate.place_next(pair * processes);
  against.program->place_next(7 * pair + 3);  // another order: 7 and 16 have no common divisor
  return candidate.placements().size();
}

// Of a candidate that is about as fast as the first baseline, both kinds of comparison take about as long.
// The ratio of the two baselines was timed a while ago, and it is not the same all the time: one uses the
// caches as the other does not. Programs that are alike are to be compared with each other.
trusted_program* test_bench::comparator_for(std::size_t workload, double candidate_ns) {
  constexpr double long_ns = 5e6;  // of which a block of ten milliseconds has few
  constexpr double much_faster = 4;
  const double baseline_ns = baseline_.call_ns[workload];
  trusted_program* fastest = nullptr;
  for (auto& other : others_) {
    if (fastest == nullptr || other.call_ns[workload] < fastest->call_ns[workload]) fastest = &other;
  }
  if (fastest == nullptr || baseline_ns < long_ns) return nullptr;
  const double slower_ns = std::max(candidate_ns, fastest->call_ns[workload]);
  return baseline_ns > much_faster * slower_ns ? fastest : nullptr;
}

estimate test_bench::comparator_speedup(std::size_t workload, double alpha, const std::stop_token& stop) {
  constexpr std::size_t first_pairs = 6;
  constexpr std::size_t most_pairs = 16;
  constexpr int uses_of_a_pair = 16;
  auto& known = comparators_[workload];
  auto* const comparator = comparator_for(workload, 0);
  const bool due = known.uses++ % uses_of_a_pair == 0;
  const std::size_t wanted = std::max(first_pairs, known.pairs.size() + (due ? 1 : 0));
  if (known.pairs.size() < wanted) {
    auto timer = plan_for(workload, comparator->call_ns[workload], *comparator->program);
    timer.select();
    while (known.pairs.size() < wanted) {
      if (stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
      begun_again(
          [&] {
            if (const auto failure = timer.block())
              trusted_failed("baseline '" + comparator->name + "'", *failure);
          },
          [] {});
      known.pairs.push_back(timer.pairs().back());
    }
    if (known.pairs.size() > most_pairs) known.pairs.erase(known.pairs.begin());
    comparator->program->restart();
  }
  return speedup_of(known.pairs, alpha);
}

void test_bench::renew_memory() {
  baseline_.program->renew();
  if (arenas_) arenas_->clear();
}

std::string test_bench::memory_disturbance() {
  if (!memory_) return "";
  auto said = memory_->disturbance();
  memory_->forget();
  return said;
}

runner_times test_bench::trusted_times() const {
  runner_times sum = baseline_.program->times();
  sum += pacer_->times();
  for (const auto& other : others_) sum += other.program->times();
  return sum;
}

std::optional<call_failure> test_bench::canary() {
  const auto contents = oracle_->varied(smallest_, 1);
  baseline_.program->restart();
  baseline_.program->select(smallest_);
  return baseline_.program->isolated(contents.front(), std::chrono::minutes(2)).failure;
}

std::chrono::nanoseconds test_bench::call_limit(std::size_t workload) const {
  const double usual = std::max(1.0, 20e-9 * baseline_.call_ns[workload]);
  // A baseline slower than the limit must still be able to run against itself.
  const double seconds =
      std::max(std::min(usual, settings_.limits.call_s), 2e-9 * baseline_.call_ns[workload]);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

content_list test_bench::contents_to_check(std::size_t workload, const std::string& object,
                                           const std::stop_token& stop) {
  constexpr std::size_t hidden_ones = 3;
  const bool once = kind_->contents_once && !is_trusted(object);
  if (task_->workloads[workload].hidden) {
    if (!once) return oracle_->varied(workload, hidden_ones, stop);
    auto& given = used_[object].varied;
    given.resize(task_->workloads.size());
    return oracle_->varied(workload, hidden_ones, stop,
                           std::exchange(given[workload], given[workload] + hidden_ones));
  }
  // The first eight show all sorts of kinds; long calls are spared some, as all that are timed are checked,
  // too.
  const std::size_t count = baseline_.call_ns[workload] < 10e6 ? 8 : 5;
  if (once) return unused_contents(workload, object, count, stop);
  const auto& mixed = mixed_[workload];
  return {mixed.begin(), mixed.begin() + static_cast<std::ptrdiff_t>(std::min(count, mixed.size()))};
}

time_bound test_bench::bound_of(std::size_t workload, double flops, double flop_rate,
                                double byte_rate) const {
  const double bytes = cost_of(*task_, task_->cost.bytes, workload);
  return {flop_rate > 0 ? 1e9 * flops / (flop_rate * settings_.threads) : 0,
          byte_rate > 0 ? 1e9 * bytes / (byte_rate * settings_.threads) : 0};
}

time_bound test_bench::roofline_of(std::size_t workload) const {
  const bool wide = task_->outputs.front().dtype == "float64";
  const double bytes = cost_of(*task_, task_->cost.bytes, workload);
  const bool cold = task_->workloads[workload].cache == "cold";
  const double bandwidth = cold ? ceilings_.memory_bandwidth() : ceilings_.bandwidth_at(bytes);
  return bound_of(workload, cost_of(*task_, task_->cost.flops, workload),
                  ceilings_.float32_flops_per_s / (wide ? 2 : 1), bandwidth);
}

double test_bench::speed_of_light_ns(std::size_t workload) const {
  return roofline_of(workload).longest();
}

void test_bench::describe_machine() {
  machine_ = {{"processor", processor_facts()},
              {"peaks", ceilings_.known() ? "a core: " + ceilings_.text() : ""},
              {"bounds", bounds_text(*task_, [this](std::size_t i) { return roofline_of(i); })},
              {"threads", std::to_string(settings_.threads)}};
  std::erase_if(machine_, [](const auto& fact) { return fact.second.empty(); });
}

// Deliberately generous: an honest record must never be called suspect. Contents may still lie in the nearest
// cache.
double test_bench::minimum_ns(std::size_t workload) const {
  static const bool tiles = has_tile_registers();
  return 0.8 * bound_of(workload, cost_of(*task_, task_->cost.min_flops, workload),
                        ceilings_.float32_flops_per_s * arithmetic_rate(*task_, tiles),
                        2 * ceilings_.fastest_bandwidth())
                   .longest();
}

double test_bench::working_set_bytes() const {
  double largest = 0;
  for (const auto& w : task_->workloads) {
    if (w.hidden) continue;
    double size = 0;
    for (const auto& buffer : candidate_buffers(*task_, w)) size += static_cast<double>(buffer.bytes);
    largest = std::max(largest, size);
  }
  return largest;
}

std::map<std::string, double> test_bench::measures_of(const build_result& built) {
  return kind_->measures(built);
}

evaluation test_bench::blank() const {
  evaluation e;
  e.baseline = baseline_.name;
  e.device = device_;
  e.backend = kind_->backend;
  kind_->tell(e);
  e.context.insert(machine_.begin(), machine_.end());
  e.context["sandbox"] = describe_layers(settings_.sandbox);
  if (cores_.shared && settings_.threads == 1)
    e.context["timing"] = "coarse: controller and worker share one CPU";
  if (static_cast<std::size_t>(settings_.threads) > cores_.workers.size()) {
    e.context["timing"] =
        fmt::format("{} threads take turns on {} CPU{}: fitness.threads is too large for this machine",
                    settings_.threads, cores_.workers.size(), cores_.workers.size() == 1 ? "" : "s");
  }
  if (oracle_ && !oracle_->remark().empty()) e.context["reference"] = oracle_->remark();
  if (!left_out_.empty()) e.context["baselines_left_out"] = left_out_;
  e.workloads = blank_results(*task_);
  return e;
}

std::string test_bench::describe() const {
  return fmt::format("{}: {}, {}, {} thread{}, {}", kind_->backend, device_, kind_->words(),
                     settings_.threads, settings_.threads == 1 ? "" : "s",
                     describe_layers(settings_.sandbox));
}

}  // namespace kevo
