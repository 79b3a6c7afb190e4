#include "fitness/cpu/task_check.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cpu/bench.hpp"
#include "fitness/cpu/cpu_fitness.hpp"
#include "fitness/cpu/reference_program.hpp"
#include "fitness/oracle/signature.hpp"
#include "src/base/text/renamed_file.hpp"

namespace kevo {
namespace {

// What a mutant is made from: one output of one content, and the same output of another one.
struct material {
  const element_type* type = nullptr;
  std::vector<double> right;
  std::vector<double> other;
  std::vector<double> input;  // the values of an input, if there is one
};

using mutation = std::function<std::vector<double>(const material&)>;

std::vector<double> values_of(const expected_output& e) {
  return e.values.empty() ? std::vector<double>(e.integers.begin(), e.integers.end()) : e.values;
}

std::vector<double> all(std::size_t count, double value) {
  return std::vector<double>(count, value);
}

std::vector<double> mean(const material& m) {
  double sum = 0;
  for (const double x : m.right) sum += x;
  return all(m.right.size(), m.right.empty() ? 0 : sum / static_cast<double>(m.right.size()));
}

std::vector<double> copy_of_input(const material& m) {
  auto values = m.right;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = m.input.empty() ? 0 : m.input[i % m.input.size()];
  return values;
}

std::vector<double> first_part(const material& m) {
  auto values = m.right;
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(values.size() * 9 / 10), values.end(), 0);
  return values;
}

std::vector<double> twice(const material& m) {
  auto values = m.right;
  for (auto& x : values) x *= 2;
  return values;
}

std::vector<double> without_every_hundredth(const material& m) {
  auto values = m.right;
  for (std::size_t i = 0; i < values.size(); i += 100) values[i] = 0;
  return values;
}

bool has_contract(const task& t) {
  return std::any_of(t.workloads.begin(), t.workloads.end(), [&](const workload& w) {
    return std::any_of(t.outputs.begin(), t.outputs.end(),
                       [&](const tensor& output) { return tolerance_for(t, w, output.name).has_contract(); });
  });
}

std::vector<double> lower_precision(const material& m) {
  const auto& lower = *find_element_type(m.type->lower_precision);
  std::vector<std::byte> bytes(m.right.size() * lower.size);
  store_values(lower, std::span<const double>(m.right), bytes.data());
  return load_reals(lower, bytes);
}

std::vector<std::byte> stored(const element_type& type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * type.size);
  store_values(type, std::span<const double>(values), bytes.data());
  return bytes;
}

// What became of a mutant.
struct mutant_trial {
  std::string fails_on;      // a workload, or nothing
  bool differed = false;     // somewhere from the right values: of one element, the mean is the element
  std::size_t elements = 0;  // that were looked at
};

/// Tries a mutant on one content; `next` gives the results of another one. True if it was rejected.
bool is_rejected(const task& t, const mutation& mutate, const content& now, const content& next,
                 mutant_trial& trial) {
  for (std::size_t i = 0; i < t.outputs.size(); ++i) {
    material m;
    m.type = &element_type_of(t.outputs[i]);
    m.right = values_of(now.outputs[i]);
    m.other = values_of(next.outputs[i]);
    trial.elements += m.right.size();
    if (!now.inputs.empty()) {
      const auto input =
          std::find_if(t.inputs.begin(), t.inputs.end(), [](const tensor& x) { return !x.scalar; });
      m.input = load_reals(element_type_of(*input), now.inputs.front());
    }
    const auto bytes = stored(*m.type, mutate(m));
    if (bytes == stored(*m.type, m.right)) continue;
    trial.differed = true;
    if (!check_output(*m.type, bytes, now.outputs[i]).accepted) return true;
  }
  return false;
}

// Of one element in a hundred the rounding to a lower precision is within a good tolerance. Where there are
// few elements, more contents are looked at.
constexpr std::size_t few_elements = 64;
constexpr std::size_t more_contents = 4;

mutant_trial try_mutant(test_bench& bench, const mutation& mutate) {
  const auto& t = bench.subject();
  mutant_trial trial;
  for (const std::size_t tries : {std::size_t{1}, more_contents}) {
    for (std::size_t w = 0; w < t.workloads.size(); ++w) {
      const auto contents = bench.secrets().varied(w, tries + 1);
      for (std::size_t i = 0; i < tries; ++i) {
        if (!is_rejected(t, mutate, *contents[i], *contents[i + 1], trial)) continue;
        trial.fails_on = t.workloads[w].uuid;
        return trial;
      }
    }
    if (!trial.differed || trial.elements > few_elements) break;
  }
  return trial;
}

control_result mutant(test_bench& bench, const std::string& name, const mutation& mutate) {
  const auto trial = try_mutant(bench, mutate);
  if (!trial.differed) return {name, false, true, true, "its output is the same as the correct one"};
  if (trial.fails_on.empty())
    return {name, false, false, false, "accepted by all workloads; the tolerance is too wide"};
  return {name, false, true, false, "fails on workload '" + trial.fails_on + "'"};
}

// @param file how the task calls the file of the program; empty: it has none
control_result honest(cpu_fitness& fitness, const std::string& name, program source, const std::string& file,
                      std::stop_token stop, const wait_listener& waiting) {
  const std::string path = source.files.front().path;
  evaluation_request request;
  request.program = std::make_shared<const program>(std::move(source));
  request.wanted = evaluation_stage::checked;
  request.fresh = true;
  request.stop = std::move(stop);
  request.waiting = waiting;
  const auto e = fitness.evaluate(request);
  if (e.valid()) return {name, true, true, false, "passes every workload"};
  std::string where;
  for (const auto& w : e.workloads) {
    if (w.outcome && w.outcome != outcome::valid) where += (where.empty() ? "" : ", ") + w.uuid;
  }
  return {name,
          true,
          false,
          false,
          fmt::format("{} ({}): {}", to_string(e.outcome), where, with_renamed_file(e.feedback, path, file)),
          e.outcome == outcome::timed_out};
}

// Several seeds may have the same name in different folders: the name is that in the task file.
std::string name_of_seed(const task& t, const program& seed) {
  const auto file = source_file_of(t, seed);
  return file.empty() ? seed.files.front().path : file;
}

constexpr const char* too_tight =
    "the tolerance is too tight: the reference computed in float32, which is what correct programs do, is "
    "not "
    "accepted. Widen it (max_rtol of 1e-5 or more for float32), or use rule: accumulation for sums and "
    "products";
constexpr const char* below_rounding =
    "the tolerance is too tight: not even the reference's own result is accepted once it is rounded to the "
    "type "
    "of the output, so that no program can pass. Widen it to several times the rounding error of the type";

// A program in the place of the baseline: the first thing that kevo checks.
control_result as_baseline(const task& t, const cpu_settings& settings, const std::string& name,
                           program source, std::stop_token stop, const wait_listener& waiting) {
  auto changed = std::make_shared<task>(t);
  changed->baselines = {{name, std::move(source), {}, false}};
  try {
    test_bench bench(changed, settings);
    bench.prepare(std::move(stop), waiting);
    return {name, true, true, false, "passes every workload"};
  } catch (const error& failure) {
    if (failure.code() != error_code::input) throw;
    return {name, true, false, false, failure.message()};
  }
}

// A baseline is not accepted: is it wrong, or the tolerance?
task_report blame(const task& t, const cpu_settings& settings, const error& failure, std::stop_token stop,
                  const wait_listener& waiting) {
  task_report report;
  const std::string name = t.baselines.empty() ? "baseline" : "baseline " + t.baselines.front().name;
  report.controls.push_back({name, true, false, false, failure.message()});
  report.advice = "a baseline is not correct: compare it with the reference";
  if (failure.message().find("could not be loaded") != std::string::npos) {
    report.advice =
        "a baseline cannot be loaded. If it needs flags, for example -fopenmp, name a config that has them "
        "(--config FILE), or set fitness.flags";
    return report;
  }
  if (t.reference->language != "cpp") {
    report.advice =
        "the first baseline is not accepted: it is wrong, or the tolerance is too tight for the types of the "
        "task";
    return report;
  }
  if (!has_plain_types(t)) return report;
  report.controls.push_back(
      as_baseline(t, settings, "reference, rounded once", program_of_reference(t, false), stop, waiting));
  const bool possible = report.controls.back().ok;
  if (!possible) report.advice = below_rounding;
  if (!possible || !computes_in_float32(t)) return report;
  report.controls.push_back(
      as_baseline(t, settings, "reference in float32", program_of_reference(t, true), stop, waiting));
  if (!report.controls.back().ok) report.advice = too_tight;
  return report;
}

}  // namespace

std::string fixed_result_advice(const std::string& sentence) {
  return sentence +
         ". A program that ignores its inputs is right, so that no speedup means anything: choose a "
         "function, "
         "sizes, generators or a tolerance with which the result depends on the inputs";
}

std::string advice_for(const task_report& report) {
  if (report.ok()) return {};
  if (!report.fixed_result.empty()) return fixed_result_advice(report.fixed_result);
  const auto fails = [&](const auto& which) {
    return std::any_of(report.controls.begin(), report.controls.end(),
                       [&](const control_result& one) { return !one.ok && which(one); });
  };
  if (fails(
          [](const auto& one) { return one.honest && !one.too_slow && one.name == "reference in float32"; }))
    return too_tight;
  if (fails([](const auto& one) { return one.honest && !one.too_slow; }))
    return "a seed is not correct, or the tolerance is too tight for it";
  if (fails([](const auto& one) { return !one.honest; }))
    return "the tolerance is too wide, or the workloads are too few: incorrect programs are accepted";
  return "a correct program did not end in time, which says nothing about the tolerance: check the task "
         "again "
         "when the machine has less to do. If it is always too slow, use a baseline as slow as it or smaller "
         "workloads, as the time limit of a call follows from the baseline";
}

bool task_report::ok() const {
  return fixed_result.empty() &&
         std::all_of(controls.begin(), controls.end(), [](const control_result& c) { return c.ok; });
}

mutant_counts count_mutants(const task_report& report) {
  mutant_counts counts;
  for (const auto& one : report.controls) {
    if (one.honest) continue;
    ++counts.made;
    if (one.skipped) continue;
    ++counts.tried;
    counts.refused += one.ok ? 1 : 0;
  }
  return counts;
}

std::string conclusion_of(const task_report& report) {
  if (!report.ok()) {
    const bool slow = report.fixed_result.empty() &&
                      std::all_of(report.controls.begin(), report.controls.end(),
                                  [](const control_result& one) { return one.ok || one.too_slow; });
    return std::string(slow ? "whether the task separates correct from incorrect programs was not found out: "
                            : "the task does not separate correct from incorrect programs: ") +
           report.advice;
  }
  const auto mutants = count_mutants(report);
  if (mutants.enough())
    return fmt::format(
        "the task separates correct from incorrect programs ({} of {} mutants tried, all refused)",
        mutants.tried, mutants.made);
  return fmt::format(
      "only {} of {} mutants could be tried{}: this does not show that the task separates correct from "
      "incorrect "
      "programs. The others are the right answer here, or do not apply; workloads with more elements and "
      "generators with more different values let more of them be tried",
      mutants.tried, mutants.made, mutants.tried > 0 ? ", and all of these were refused" : "");
}

task_report check_task(const std::shared_ptr<const task>& t, const cpu_settings& settings,
                       std::stop_token stop, const std::shared_ptr<const program_kind>& kind,
                       const wait_listener& waiting) {
  task_report report;
  {
    test_bench bench(t, settings, kind);
    // Of programs in Python, calls are judged here and not timed.
    if (kind) bench.leave_untimed();
    try {
      bench.prepare(stop, waiting);
    } catch (const error& failure) {
      if (failure.code() != error_code::input || failure.place().key != "baselines") throw;
      return blame(*t, settings, failure, stop, waiting);
    }
    const auto in_use = bench.take_processors(stop, waiting);
    auto& controls = report.controls;
    controls.push_back(mutant(bench, "zeros", [](const material& m) { return all(m.right.size(), 0); }));
    controls.push_back(mutant(bench, "constant", [](const material& m) {
      return all(m.right.size(), m.right.empty() ? 0 : m.right.front());
    }));
    controls.push_back(mutant(bench, "mean", mean));
    controls.push_back(mutant(bench, "input copy", copy_of_input));
    controls.push_back(mutant(bench, "first part only", first_part));
    const bool narrower = std::all_of(t->outputs.begin(), t->outputs.end(), [](const tensor& x) {
      return !element_type_of(x).lower_precision.empty();
    });
    if (narrower) {
      controls.push_back(mutant(bench, "next lower precision", lower_precision));
    } else {
      controls.push_back(
          {"next lower precision", false, true, true, "an output has no narrower floating type"});
    }
    // What a rule of every element refuses, and a contract of a whole output may not.
    if (has_contract(*t)) {
      controls.push_back(mutant(bench, "twice the output", twice));
      controls.push_back(mutant(bench, "one element in a hundred zero", without_every_hundredth));
    }
    controls.push_back(mutant(bench, "stale output", [](const material& m) { return m.other; }));
    const auto fixed = bench.secrets().fixed();
    report.fixed_result = fixed.text;
    report.fixed_exactly = fixed.exactly;
  }
  if (kind) {
    const auto& name = t->baselines.front().name;
    report.controls.push_back({"baseline " + name, true, true, false, "passes every workload"});
  }
  cpu_fitness fitness(t, settings, kind);
  for (const auto& seed : t->seeds) {
    report.controls.push_back(
        honest(fitness, "seed " + name_of_seed(*t, seed), seed, source_file_of(*t, seed), stop, waiting));
  }
  if (kind) {
    // There is no text in C++ to compile.
  } else if (computes_in_float32(*t)) {
    report.controls.push_back(
        honest(fitness, "reference in float32", program_of_reference(*t, true), {}, stop, waiting));
  } else {
    report.controls.push_back({"reference in float32", true, true, true, why_not_float32(*t)});
  }
  report.advice = advice_for(report);
  return report;
}

}  // namespace kevo
