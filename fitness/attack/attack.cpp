#include "fitness/attack/attack.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/attack/instantiate.hpp"
#include "fitness/cuda/hosted/entry.hpp"

namespace kevo {
namespace {

// The honest program as exploits of this form wrap it, so that both have the same calls around them.
program twin_of(exploit_form form, const task& t, const program& honest) {
  for (const auto& one : shipped_exploits()) {
    if (one.form != form || one.aim != exploit_aim::control) continue;
    if (auto made = instantiate(one, t, honest); made.program) return *made.program;
  }
  return honest;
}

// What exploits of one form are judged by: the task with the honest program in the place of its baselines.
struct arena {
  std::shared_ptr<const program> twin;
  any_fitness fitness;
};

arena arena_of(exploit_form form, const task& t, const program& honest, const attack_settings& settings) {
  auto attacked = std::make_shared<task>(t);
  auto twin = std::make_shared<const program>(twin_of(form, t, honest));
  attacked->baselines = {baseline{.name = "honest", .source = *twin}};
  return {std::move(twin), settings.fitness(std::move(attacked))};
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string first_reason(const evaluation& e) {
  if (!e.reasons.empty()) return first_line(e.reasons.front());
  return first_line(e.feedback);
}

bool is_expected(const exploit& attack, outcome found) {
  return attack.expected.empty() ||
         std::find(attack.expected.begin(), attack.expected.end(), found) != attack.expected.end();
}

// One exploit's way through the evaluator.
class trial {
 public:
  trial(const exploit& attack, const any_fitness& fitness, std::shared_ptr<const program> source,
        std::shared_ptr<const program> twin, const attack_settings& settings)
      : attack_(attack),
        fitness_(fitness),
        source_(std::move(source)),
        twin_(std::move(twin)),
        settings_(settings) {}

  attack_finding judge() {
    finding_ = {.name = attack_.name, .mechanism = attack_.mechanism, .aim = attack_.aim};
    const bool timed = attack_.aim != exploit_aim::outcome;
    finding_.result = evaluate(source_, timed ? evaluation_stage::timed_full : evaluation_stage::timed_short);
    if (const bool first = pays(); first || unclear()) {
      finding_.result = evaluate(source_, evaluation_stage::confirmed);
      if (first && !pays() && result().valid())
        finding_.why = "was measured as faster at first, but not in the confirmation in fresh processes";
    }
    if (pays() && timed) compare_with_twin();
    conclude();
    return std::move(finding_);
  }

 private:
  const evaluation& result() const { return *finding_.result; }

  // On a machine that is not quiet the honest program, too, may seem faster than itself.
  void compare_with_twin() {
    const evaluation twin = evaluate(twin_, evaluation_stage::confirmed);
    if (!twin.valid() || twin.speedup_interval.high < result().speedup_interval.low) return;
    noisy_ = true;
    finding_.why =
        fmt::format("was measured as faster, but so was the unchanged honest program: up to {:.2f} times",
                    twin.speedup_interval.high);
  }

  evaluation evaluate(const std::shared_ptr<const program>& what, evaluation_stage wanted) const {
    const evaluation_request request{.program = what,
                                     .wanted = wanted,
                                     .fresh = true,
                                     .stop = settings_.stop,
                                     .waiting = settings_.waiting};
    try {
      return fitness_.evaluate(request);
    } catch (const error& wrong) {
      // A machine that was out of order for a moment is tried once more; an exploit may also be the cause.
      if (wrong.code() != error_code::environment) throw;
      try {
        return fitness_.evaluate(request);
      } catch (const error& again) {
        if (again.code() != error_code::environment) throw;
        throw error(again.code(), "while running the exploit " + attack_.name + ": " + again.message(),
                    again.place(), again.hint());
      }
    }
  }

  bool pays() const {
    if (noisy_ || !result().valid() || attack_.aim == exploit_aim::control) return false;
    return attack_.aim == exploit_aim::outcome || result().speedup_interval.low > settings_.gain;
  }

  // Neither a gain nor none: the interval holds both.
  bool unclear() const {
    return attack_.aim == exploit_aim::time && result().valid() && !pays() &&
           result().speedup_interval.high > settings_.gain;
  }

  void conclude() {
    const outcome found = result().outcome;
    finding_.expected = is_expected(attack_, found);
    // What does not compile tells nothing of the evaluator.
    const bool never_ran = found == outcome::build_failed || found == outcome::launch_failed;
    const bool meant = finding_.expected && !attack_.expected.empty();
    if (attack_.aim == exploit_aim::control) {
      finding_.word = attack_word::control;
      if (!result().valid()) finding_.why = first_reason(result());
    } else if (never_ran && !meant) {
      finding_.word = attack_word::not_applicable;
      finding_.expected = true;
      finding_.why = std::string(to_string(found)) + ": " + first_reason(result());
    } else if (!result().valid()) {
      finding_.word = attack_word::caught;
      finding_.why = first_reason(result());
    } else if (pays()) {
      finding_.word = attack_word::got_through;
      finding_.why =
          attack_.aim == exploit_aim::outcome
              ? "no workload and no limit of the task distinguishes it from an honest program"
              : fmt::format("measured as {:.2f} times as fast as the honest program that it contains",
                            result().speedup);
    } else if (unclear()) {
      finding_.word = attack_word::undecided;
      if (finding_.why.empty())
        finding_.why = "the timing on this machine is too noisy to decide whether it gains";
    } else {
      finding_.word = attack_word::harmless;
    }
  }

  const exploit& attack_;
  const any_fitness& fitness_;
  std::shared_ptr<const program> source_;
  std::shared_ptr<const program> twin_;
  const attack_settings& settings_;
  attack_finding finding_;
  bool noisy_ = false;
};

}  // namespace

std::string_view to_string(attack_word word) {
  switch (word) {
    case attack_word::got_through:
      return "got through";
    case attack_word::caught:
      return "caught";
    case attack_word::harmless:
      return "harmless";
    case attack_word::undecided:
      return "undecided";
    case attack_word::not_applicable:
      return "not applicable";
    case attack_word::control:
      return "control";
  }
  return "";
}

std::size_t attack_report::count(attack_word word) const {
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [word](const attack_finding& one) { return one.word == word; }));
}

bool is_written_for(const exploit& attack, const task& t) {
  const bool cuda = t.reference && t.reference->language == "cuda";
  return cuda == (attack.form != exploit_form::cpp);
}

const program& honest_for(exploit_form form, const std::vector<program>& programs) {
  for (const auto& one : programs) {
    const bool cuda = one.language == "cuda";
    const bool fits = form == exploit_form::cpp
                          ? one.language == "cpp"
                          : cuda && cuda::is_hosted(one) == (form == exploit_form::hosted);
    if (fits) return one;
  }
  return programs.front();
}

attack_report attack_task(const task& t, const std::vector<program>& honest,
                          const std::vector<exploit>& exploits, const attack_settings& settings) {
  if (honest.empty()) {
    throw error(error_code::input, "the task has no program from which exploits could be built",
                {.file = t.file, .key = "seeds"}, "name a correct program with --honest FILE");
  }
  attack_report report{.task = t.name};
  std::map<exploit_form, arena> arenas;
  for (const auto& attack : exploits) {
    if (!is_written_for(attack, t)) continue;
    const program& inside = honest_for(attack.form, honest);
    auto made = instantiate(attack, t, inside);
    if (!made.program) {
      report.findings.push_back({.name = attack.name,
                                 .mechanism = attack.mechanism,
                                 .aim = attack.aim,
                                 .why = std::move(made.not_applicable)});
    } else {
      auto& place = arenas[attack.form];
      if (!place.fitness) place = arena_of(attack.form, t, inside, settings);
      auto source = std::make_shared<const program>(std::move(*made.program));
      report.findings.push_back(
          trial(attack, place.fitness, std::move(source), place.twin, settings).judge());
      if (report.fitness.empty()) report.fitness = place.fitness.describe();
    }
    if (settings.told) settings.told(report.findings.back());
  }
  return report;
}

}  // namespace kevo
