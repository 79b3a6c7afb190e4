#include "fitness/cpu/cpu_fitness.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cascade/answer.hpp"
#include "fitness/cascade/cascade.hpp"
#include "fitness/cascade/result_cache.hpp"
#include "fitness/cpu/bench.hpp"
#include "fitness/cpu/draft_tools.hpp"
#include "fitness/cpu/time_candidate.hpp"
#include "fitness/machine/neighbours.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/timing/looks.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

using std::chrono::nanoseconds;

void tell_parts(evaluation_cost& cost, const runner_times& candidate, const runner_times& trusted) {
  auto both = candidate;
  both += trusted;
  cost.parts_s["start of processes"] += both.start_s;
  cost.parts_s["calls of the candidate"] += candidate.calls_s;
  cost.parts_s["calls of the baselines"] += trusted.calls_s;
  cost.parts_s["preparation of calls"] += both.around_s;
  cost.parts_s["comparison of outputs"] += both.compare_s;
}

}  // namespace

namespace {

// Calls that wait for files are no calls of a warm process, and what the kernel keeps of files in memory is
// something that processes can see of each other.
void tell_waits(evaluation_state& p, const file_waits& waits) {
  constexpr long many_faults = 100;
  constexpr double many_bytes = 1U << 20U;
  if (waits.major_faults < many_faults && waits.read_bytes < many_bytes) return;
  p.waited_for_files = true;
  p.result.context["waited_for_files"] =
      fmt::format("calls of one process waited {} times for pages of files, and {:.1f} MB were read",
                  waits.major_faults, 1e-6 * waits.read_bytes);
}

}  // namespace

struct cpu_fitness::state {
  state(std::shared_ptr<const task> t, cpu_settings s, std::shared_ptr<const program_kind> kind)
      : bench(std::move(t), std::move(s), std::move(kind)),
        results(bench.settings().cache_dir.empty() ? result_cache()
                                                   : result_cache(bench.settings().cache_dir + "/results")) {}

  test_bench bench;
  result_cache results;

  // The stages, cheapest first; each returns whether the candidate may go on.
  bool check_source(evaluation_state& p) const;
  bool build(evaluation_state& p);
  bool check_smallest(evaluation_state& p, runner& candidate);
  bool check_all(evaluation_state& p, runner& candidate);
  bool check_rest(evaluation_state& p, runner& candidate);

  bool check_contents(evaluation_state& p, runner& candidate, std::size_t index,
                      const content_list& contents);
  const content_list& contents_to_check(evaluation_state& p, std::size_t index);
  bool check_workload(evaluation_state& p, runner& candidate, std::size_t index, std::size_t from,
                      std::size_t count);
  void run_cascade(evaluation_state& p);
  evaluation_state evaluate_one_way(const evaluation_request& request, bool otherwise);
  evaluation_state try_otherwise(evaluation_state usual);

  // For `answer`.
  content_id key_of(const program& candidate) const;
  evaluation_state judge(const evaluation_request& request);
  // Time and memory depend on the neighbours, too, and what was read from files is in memory now.
  static bool is_doubtful(const evaluation_state& p) {
    return p.result.outcome == outcome::timed_out || p.machine || p.waited_for_files;
  }
  void finish(evaluation_state& p);
};

bool cpu_fitness::state::check_source(evaluation_state& p) const {
  const auto& source = *p.request.program;
  auto why = bench.kind().refusal(source);
  if (why.empty()) why = why_unbuildable(source, bench.settings().limits.source_bytes);
  if (why.empty()) return true;
  tell_build_failure(p.result, {std::move(why)});
  return false;
}

bool cpu_fitness::state::build(evaluation_state& p) {
  const auto start = std::chrono::steady_clock::now();
  p.built = bench.build_candidate(*p.request.program, p.request.stop);
  p.result.cost.parts_s["compile"] += seconds_since(start);
  if (!p.built.choices.empty()) p.result.context["build"] = p.built.choices;
  if (p.built.ok) {
    if (bench.is_baseline(p.built)) p.result.context["identical_to"] = p.result.baseline;
    return true;
  }
  auto reasons = p.built.reasons;
  if (reasons.empty()) reasons.emplace_back("does not compile");
  tell_build_failure(p.result, std::move(reasons), p.built.diagnostics);
  return false;
}

bool cpu_fitness::state::check_contents(evaluation_state& p, runner& candidate, std::size_t index,
                                        const content_list& contents) {
  candidate.select(index);
  for (const auto& one : contents) {
    const auto time = candidate.isolated(one, bench.call_limit(index));
    if (time.failure) return fail(p, index, bench.subject().workloads[index], *time.failure), false;
    auto& known = p.call_ns[index];
    known = known > 0 ? std::min(known, time.whole_ns) : time.whole_ns;
  }
  return true;
}

const content_list& cpu_fitness::state::contents_to_check(evaluation_state& p, std::size_t index) {
  auto& known = p.to_check[index];
  if (known.empty()) known = bench.contents_to_check(index, p.built.object_path, p.request.stop);
  return known;
}

bool cpu_fitness::state::check_workload(evaluation_state& p, runner& candidate, std::size_t index,
                                        std::size_t from, std::size_t count) {
  const auto& contents = contents_to_check(p, index);
  const auto begin = contents.begin() + static_cast<std::ptrdiff_t>(std::min(from, contents.size()));
  const auto end = contents.begin() + static_cast<std::ptrdiff_t>(std::min(from + count, contents.size()));
  if (p.request.wanted > evaluation_stage::checked && !bench.subject().workloads[index].hidden)
    p.unchecked[index].assign(end, contents.end());
  return check_contents(p, candidate, index, {begin, end});
}

// Those that the timing had no process for.
bool cpu_fitness::state::check_rest(evaluation_state& p, runner& candidate) {
  for (const auto& [index, contents] : p.unchecked) {
    if (!contents.empty() && !check_contents(p, candidate, index, contents)) return false;
  }
  return true;
}

bool cpu_fitness::state::check_smallest(evaluation_state& p, runner& candidate) {
  return check_workload(p, candidate, bench.smallest_visible(), 0, 1);
}

bool cpu_fitness::state::check_all(evaluation_state& p, runner& candidate) {
  const auto& workloads = bench.subject().workloads;
  constexpr std::size_t all = 1000;
  // The rest of what a visible workload is checked with is given to the processes that time it, as their
  // untimed first calls: at least `fewest_pairs` of them. Two calls say roughly what a call takes.
  const auto before_timing = [&](std::size_t i) {
    if (p.request.wanted <= evaluation_stage::checked || workloads[i].hidden) return all;
    const std::size_t wanted = contents_to_check(p, i).size();
    return std::max<std::size_t>(2, wanted > fewest_pairs ? wanted - fewest_pairs : 0);
  };
  const auto check = [&](std::size_t i) {
    const std::size_t from = i == bench.smallest_visible() ? 1 : 0;
    if (!check_workload(p, candidate, i, from, before_timing(i) - from)) return false;
    p.result.workloads[i].outcome = outcome::valid;
    return true;
  };
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (!workloads[i].hidden && !check(i)) return false;
  }
  // Operators read what a process says on a visible workload, so none that has seen a hidden one is asked
  // again: all hidden ones have a process of their own.
  candidate.restart();
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (workloads[i].hidden && !check(i)) return false;
  }
  candidate.restart();
  p.result.outcome = outcome::valid;
  p.result.stage = evaluation_stage::checked;
  return true;
}

void cpu_fitness::state::run_cascade(evaluation_state& p) {
  if (!check_source(p) || !build(p)) return;
  if (p.request.wanted == evaluation_stage::built) {
    p.result.outcome = outcome::unchecked;
    p.result.stage = evaluation_stage::built;
    return;
  }
  const auto waiting = std::chrono::steady_clock::now();
  const auto processors = bench.take_processors(p.request.stop, p.request.waiting);
  p.result.cost.parts_s["waiting"] += seconds_since(waiting);
  if (bench.lacks_contents()) {
    const auto preparing = std::chrono::steady_clock::now();
    bench.add_contents(p.request.stop);
    p.result.cost.parts_s["preparation of the task"] += seconds_since(preparing);
  }
  const measuring_span measuring(p.request);
  tell_wait(p.result, processors->lock());
  const neighbour_watch neighbours;
  const auto start = std::chrono::steady_clock::now();
  const auto before = bench.trusted_times();
  auto candidate = bench.run_candidate(p.built.object_path, p.request.stop, p.otherwise);
  if (bench.kind().suite_rule)
    candidate.compare_by_suite_rule(bench.first_baseline().program->kept_results());
  const bool known = p.result.context.contains("identical_to") && !p.request.fresh &&
                     p.request.wanted > evaluation_stage::checked &&
                     p.request.wanted < evaluation_stage::confirmed;
  const auto climb = [&] {
    if (known) return void(time_baseline_itself(bench, p, candidate));
    if (!check_smallest(p, candidate) || !check_all(p, candidate)) return;
    if (p.request.wanted <= evaluation_stage::checked) return;
    if (!time_workloads(bench, p, candidate, p.request.wanted == evaluation_stage::confirmed)) return;
    if (!check_rest(p, candidate)) return;
    // On a busy machine the cost of a call's boundary, which is taken off its time, changes by many
    // microseconds.
    const auto minimum_ns = [&](std::size_t i) { return bench.minimum_ns(i) - p.spread_ns[i]; };
    if (!all_possible(p.result, minimum_ns, "machine")) return;
    if (p.result.stage >= evaluation_stage::confirmed) time_other_baselines(bench, p, candidate);
  };
  climb();
  if (const auto& way = bench.kind().otherwise) p.differs = candidate.remark() == way->differs;
  tell_waits(p, candidate.waits());
  tell_suite_rule(p.result, candidate.by_suite());
  for (const auto& sentence : {neighbours.disturbance(), bench.memory_disturbance()}) {
    auto& said = p.result.context["disturbed"];
    if (!sentence.empty()) said += (said.empty() ? "" : "; ") + sentence;
    if (said.empty()) p.result.context.erase("disturbed");
  }
  if (p.machine) require_order(bench.canary(), "machine");
  auto trusted = bench.trusted_times();
  trusted -= before;
  tell_parts(p.result.cost, candidate.times(), trusted);
  p.result.cost.device_s += seconds_since(start);
}

evaluation_state cpu_fitness::state::evaluate_one_way(const evaluation_request& request, bool otherwise) {
  return attempted<evaluation_state>(request, is_doubtful, [&](const evaluation_state* first) {
    evaluation_state p{{request, bench.blank()}};
    p.result.protocol = bench.kind().protocol;
    p.call_ns.assign(bench.subject().workloads.size(), 0);
    p.otherwise = otherwise;
    run_cascade(p);
    if (first != nullptr && first->waited_for_files)
      p.result.context["evaluated_again"] = "its calls waited for files in a first evaluation";
    return p;
  });
}

// The ways differ for this program: the other one is tried if this one is wrong, and the result says which
// one was taken.
evaluation_state cpu_fitness::state::try_otherwise(evaluation_state usual) {
  const auto& way = *bench.kind().otherwise;
  if (usual.result.outcome != outcome::incorrect) {
    usual.result.context[way.subject] = way.usual;
    return usual;
  }
  auto other = evaluate_one_way(usual.request, true);
  auto& e = other.result;
  add_cost(e.cost, usual.result.cost);
  const bool wrong = e.outcome == outcome::incorrect;
  e.context[way.subject] = wrong ? way.neither : way.other;
  const auto& first = usual.result.feedback;
  if (wrong) e.feedback += fmt::format("\n{} ({})", way.neither, first.substr(0, first.find('\n')));
  return other;
}

evaluation_state cpu_fitness::state::judge(const evaluation_request& request) {
  auto p = evaluate_one_way(request, false);
  return bench.kind().otherwise && p.differs ? try_otherwise(std::move(p)) : std::move(p);
}

content_id cpu_fitness::state::key_of(const program& candidate) const {
  return result_key(bench.kind().backend, bench.kind().protocol, candidate, bench.identity());
}

void cpu_fitness::state::finish(evaluation_state& p) {
  auto& e = p.result;
  if (auto fixed = bench.secrets().fixed(); !fixed.text.empty())
    e.context["fixed_result"] = std::move(fixed.text);
  if (p.built.ok) {
    const auto measuring = std::chrono::steady_clock::now();
    e.measures = bench.measures_of(p.built);
    e.measures["working_set_bytes"] = bench.working_set_bytes();
    for (const auto& measure : bench.settings().measures) {
      for (const auto& [name, value] : measure(*p.request.program, p.built.object_path, e))
        e.measures[name] = value;
    }
    e.cost.parts_s["measures of the object"] += seconds_since(measuring);
  }
}

cpu_fitness::cpu_fitness(std::shared_ptr<const task> t, cpu_settings settings)
    : cpu_fitness(std::move(t), std::move(settings), nullptr) {}
cpu_fitness::cpu_fitness(std::shared_ptr<const task> t, cpu_settings settings,
                         std::shared_ptr<const program_kind> kind)
    : state_(std::make_unique<state>(std::move(t), std::move(settings), std::move(kind))) {}
cpu_fitness::cpu_fitness(cpu_fitness&&) noexcept = default;
cpu_fitness& cpu_fitness::operator=(cpu_fitness&&) noexcept = default;
cpu_fitness::~cpu_fitness() = default;

evaluation cpu_fitness::evaluate(const evaluation_request& request) {
  return answer(*state_, request);
}

std::string cpu_fitness::run_scratch(const program& source, bool counters, const std::stop_token& stop) {
  return kevo::run_scratch(state_->bench, source, counters, stop);
}
std::string cpu_fitness::assembly(const program& draft, const std::string& function,
                                  const std::stop_token& stop) {
  return kevo::assembly(state_->bench, draft, function, stop);
}

std::string cpu_fitness::describe() const {
  return state_->bench.describe();
}
std::string cpu_fitness::prototype() const {
  return kevo::prototype(subject());
}
const task& cpu_fitness::subject() const {
  return state_->bench.subject();
}

}  // namespace kevo
