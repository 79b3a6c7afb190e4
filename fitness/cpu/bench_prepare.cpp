// What is built, checked and drawn before the first candidate: reference, baselines, contents.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/task_id.hpp>

#include "fitness/cascade/cascade.hpp"
#include "fitness/cpu/bench.hpp"
#include "fitness/cpu/paired.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

bool is_borrowed(const std::shared_ptr<const content>& one) {
  return one->borrowed && !one->rows;
}

bool has_rows(const std::shared_ptr<const content>& one) {
  return one->rows;
}

// Whether this baseline is the reference itself, in the types of the task.
bool is_reference(const task& t, const std::string& name) {
  return std::any_of(t.baselines.begin(), t.baselines.end(), [&](const baseline& one) {
    return one.name == name && t.reference && id_of(one.source) == id_of(t.reference->source);
  });
}

// Counts up when the sandbox or a limit takes what it refused before, so that no cached refusal outlives it.
constexpr int sandbox_rules = 3;

}  // namespace

// Calls that take so long are not repeated to learn what they take.
constexpr double slow_call_ns = 50e6;

// A baseline must be right on every workload; its times set the limits of candidates.
void test_bench::check_trusted(trusted_program& trusted, const std::stop_token& stop) {
  trusted.call_ns.assign(task_->workloads.size(), 0);
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    const auto& w = task_->workloads[i];
    trusted.program->select(i);
    // One of each kind: candidates are to be right on all of them.
    content_list contents = w.hidden ? oracle_->varied(i, 2, stop) : mixed_[i];
    const auto kind_of = [](const content& c) {
      if (c.rows) return variety_count + 2;
      if (c.borrowed) return variety_count;
      return c.generated ? variety_count + 1 : static_cast<std::size_t>(c.kind);
    };
    std::vector<int> shown(variety_count + 3, 0);
    // Of the plain kind some more: the first call in a process takes longer, in Python many times as long,
    // and how many calls are in a turn follows from these times. A turn of one call would be compared with a
    // turn of many, whose caches are warm.
    const auto most_of = [](const content& c) {
      return c.borrowed ? 8 : c.kind == variety::plain && !c.generated ? 4 : 1;
    };
    std::erase_if(contents, [&](const auto& c) { return ++shown[kind_of(*c)] > most_of(*c); });
    bool rows_suit = true;
    for (std::size_t n = 0; n < contents.size(); ++n) {
      const auto c = contents[n];
      if (c->rows ? !rows_suit : c->borrowed && rejects_borrowed_[i]) continue;
      if (trusted.call_ns[i] > slow_call_ns && most_of(*c) == 4) continue;
      const auto time = trusted.program->isolated(c, std::chrono::minutes(2));
      if (time.failure && c->rows) {
        // They may have what no program needs to care for.
        rows_suit = false;
        oracle_->leave_rows_alone(i);
        std::erase_if(mixed_[i], has_rows);
        if (!w.hidden) continue;
        // What took their place must be right.
        for (auto& plain : oracle_->varied(i, 2, stop)) contents.push_back(std::move(plain));
        continue;
      }
      if (time.failure && c->borrowed) {
        // The generators of that workload are not meant for this one's shape.
        rejects_borrowed_[i] = true;
        std::erase_if(mixed_[i], is_borrowed);
        continue;
      }
      if (time.failure) throw baseline_error(*task_, trusted.name, w, *time.failure);
      if (c->kind != variety::plain || c->borrowed || c->generated) continue;
      trusted.call_ns[i] =
          trusted.call_ns[i] > 0 ? std::min(trusted.call_ns[i], time.whole_ns) : time.whole_ns;
    }
  }
}

// A run begins with few contents, as one evaluation alone needs no more, and makes further ones before every
// third of its evaluations, so that they do not take a sixth of each. [s] of the reference, for all workloads
// together
constexpr double first_contents_s = 0.3;
constexpr double further_contents_s = 0.15;

void test_bench::add_contents(double seconds, const std::stop_token& stop) {
  const auto timed = std::count_if(task_->workloads.begin(), task_->workloads.end(),
                                   [](const workload& w) { return !w.hidden; });
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    if (task_->workloads[i].hidden || oracle_->complete(i)) continue;
    const std::size_t before = mixed_[i].size();
    const auto start = std::chrono::steady_clock::now();
    mixed_[i] = oracle_->mixed(i, seconds / static_cast<double>(timed), stop);
    if (mixed_[i].size() > before)
      making_s_[i] = seconds_since(start) / static_cast<double>(mixed_[i].size() - before);
    if (rejects_borrowed_[i]) std::erase_if(mixed_[i], is_borrowed);
  }
}

bool test_bench::is_trusted(const std::string& object) const {
  return object == baseline_.object ||
         std::any_of(others_.begin(), others_.end(), [&](const auto& one) { return one.object == object; });
}

// What is kept is given to every candidate in the same order, so that it is enough to count. A candidate that
// has had all of it gets others, which are made for it and forgotten.
content_list test_bench::unused_contents(std::size_t workload, const std::string& object, std::size_t count,
                                         const std::stop_token& stop) {
  constexpr std::size_t most_at_once = 4;  // times as many as are asked for
  if (spare_.object != object) spare_ = {object, std::vector<content_list>(task_->workloads.size())};
  auto& spare = spare_.unused[workload];
  auto& given = used_[object].mixed;
  given.resize(task_->workloads.size());
  content_list result;
  const auto take = [&](content_list& from) {
    const auto number = static_cast<std::ptrdiff_t>(std::min(from.size(), count - result.size()));
    result.insert(result.end(), from.begin(), from.begin() + number);
    from.erase(from.begin(), from.begin() + number);
  };
  while (true) {
    take(spare);
    auto& mixed = mixed_[workload];
    for (; given[workload] < mixed.size() && result.size() < count; ++given[workload])
      result.push_back(mixed[given[workload]]);
    const std::size_t missing = count - result.size();
    if (missing == 0) return result;
    const auto start = std::chrono::steady_clock::now();
    auto further = oracle_->further(workload, missing, most_at_once * missing, stop);
    making_s_[workload] = seconds_since(start) / static_cast<double>(further.made.size());
    for (std::size_t i = 0; i < further.made.size(); ++i) {
      if (rejects_borrowed_[workload] && is_borrowed(further.made[i])) continue;
      (i < further.kept ? mixed : spare).push_back(std::move(further.made[i]));
    }
  }
}

// Contents that cost much are shared out among processes: pairs of few calls say more than few pairs.
std::size_t test_bench::contents_of_process(std::size_t workload) const {
  constexpr double affordable_s = 0.05;
  constexpr double fewest = 9;
  constexpr double most = 241;
  return static_cast<std::size_t>(
      std::clamp(affordable_s / std::max(making_s_[workload], 1e-9), fewest, most));
}

bool test_bench::lacks_contents() const {
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    if (!task_->workloads[i].hidden && !oracle_->complete(i)) return true;
  }
  return false;
}

void test_bench::add_contents(const std::stop_token& stop) {
  constexpr std::size_t every = 3;
  if (evaluations_++ % every == 0) add_contents(further_contents_s, stop);
}

void test_bench::make_oracle(const std::string& reference) {
  pool_limits limits;
  const auto timed = static_cast<std::size_t>(std::count_if(task_->workloads.begin(), task_->workloads.end(),
                                                            [](const workload& w) { return !w.hidden; }));
  limits.bytes = settings_.pool_bytes / timed;
  limits.seconds = settings_.pool_s / static_cast<double>(timed);
  oracle_ = std::make_unique<oracle>(task_, reference, worker_for(reference, trusted_role::reference), limits,
                                     settings_.seed);
  if (std::any_of(task_->workloads.begin(), task_->workloads.end(), has_made_inputs)) {
    oracle_->make_inputs_with(
        [this](std::size_t w) { return worker_for(std::to_string(w), trusted_role::inputs); });
  }
}

// A program that waits for its calls by a loop of its own spares a part of what a call takes in which nothing
// is done: 15 to 50 of 210 to 250 ns on one machine, with a loop that leaves out all that can be left out.
double test_bench::time_signals() {
  constexpr std::size_t calls = 36;
  constexpr double share = 0.25;
  constexpr double most_ns = 1e3;  // a busy machine must not make all times equal
  pacer_->select(smallest_);
  if (!pacer_->delivered()) return 0;
  const auto& contents = mixed_[smallest_];
  std::vector<double> times;
  for (std::size_t i = 0; i < calls; ++i) {
    const auto time = pacer_->isolated(contents[i % contents.size()], std::chrono::seconds(1));
    if (time.failure) break;  // other work had the processor for so long: the pacer is timed again anyhow
    if (i > 0 && !time.disturbed && !time.accounted) times.push_back(time.whole_ns - pace_ns);
  }
  pacer_->restart();
  return times.empty() ? 0 : std::clamp(share * median(times), 0.0, most_ns);
}

double test_bench::prepare(std::stop_token stop, const wait_listener& listener) {
  const std::lock_guard lock(preparing_);
  if (prepared_) return 0;
  const auto& t = *task_;
  // All at the same time: each build waits for its sandbox and its linker for a while.
  const auto build = [&](trusted_role role, const baseline* given, std::string who) {
    return std::async(std::launch::async, [this, role, given, &stop, who = std::move(who)] {
      return kind_->build_trusted(role, given, stop, who);
    });
  };
  auto reference_build = build(trusted_role::reference, nullptr, "reference");
  auto pacer_build = build(trusted_role::pacer, nullptr, "pacing program");
  std::vector<std::future<std::string>> baseline_builds;
  for (const auto& b : t.baselines)
    baseline_builds.push_back(build(trusted_role::baseline, &b, "baseline '" + b.name + "'"));
  const auto reference = reference_build.get();
  const auto pacer = pacer_build.get();

  std::vector<std::pair<std::string, std::string>> objects;
  std::string left_out;
  content_hasher baselines;
  for (std::size_t i = 0; i < t.baselines.size(); ++i) {
    const auto& b = t.baselines[i];
    try {
      objects.emplace_back(b.name, baseline_builds[i].get());
    } catch (const error& failure) {
      if (!b.optional || failure.code() != error_code::input) throw;
      left_out += (left_out.empty() ? "" : ", ") + b.name;
    }
  }
  require_baseline(t, !objects.empty());
  baselines.text(to_string(id_of(t.baselines.front().source)));

  const auto in_use = take_processors(stop, listener);
  if (!ceilings_.known())
    ceilings_ = settings_.measured_ceilings ? *settings_.measured_ceilings
                                            : ceilings_of(device_, settings_.cache_dir);
  describe_machine();
  make_oracle(reference);
  mixed_.assign(t.workloads.size(), {});
  rejects_borrowed_.assign(t.workloads.size(), false);
  making_s_.assign(t.workloads.size(), 0);
  add_contents(first_contents_s, stop);
  const auto seed = settings_.seed ? *settings_.seed : secret_seed();
  // Without process id namespaces nobody could say for sure that no process has an arena mapped any more.
  if (contains(settings_.sandbox) && arena_pool::keeps_nothing_else())
    arenas_ = std::make_shared<arena_pool>(rng(seed).split("arenas"));
  std::vector<trusted_program> programs;
  for (const auto& [name, object] : objects) {
    trusted_program next{name,
                         std::make_unique<runner>(task_, worker_for(object, trusted_role::baseline), object,
                                                  rng(seed).split(name)),
                         {},
                         object};
    next.program->share(arenas_);
    next.program->keep_results(kind_->suite_rule && programs.empty() && is_reference(t, name));
    check_trusted(next, stop);
    next.program->keep_results(false);
    programs.push_back(std::move(next));
  }
  baseline_ = std::move(programs.front());
  others_.assign(std::make_move_iterator(programs.begin() + 1), std::make_move_iterator(programs.end()));
  pacer_ = std::make_unique<runner>(task_, worker_for(pacer, trusted_role::pacer), pacer,
                                    rng(seed).split("pacer"), false);
  pacer_->share(arenas_);
  // Where kevo looks where a process waits for its calls, none serves them itself.
  if (!worker_for(pacer, trusted_role::pacer).chain) signals_ns_ = time_signals();
  left_out_ = std::move(left_out);
  identity_ = fmt::format("{} {} {} {} {} {} {} {} {} {} {}", to_string(id_of(t)),
                          to_string(baselines.finish()), baseline_.name, kind_->identity(), device_,
                          settings_.threads, describe_layers(settings_.sandbox), settings_.limits.call_s,
                          settings_.limits.first_call_s, settings_.limits.memory_bytes, sandbox_rules);
  prepared_ = true;
  return in_use->lock().waited_s();
}

}  // namespace kevo
