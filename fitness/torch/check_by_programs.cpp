#include "fitness/torch/check_by_programs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/torch/torch_programs.hpp"

namespace kevo::torch {
namespace {

// What is around the reference. {0}: its entry; {1}: the change, indented; {2}: what is given back or said;
// {3}: the part of the entry that the file defines.
constexpr const char* around = R"py(import torch
from torch.utils._pytree import tree_leaves, tree_map
from kevo_reference import {3}

kevo_right = {0}


class kevo_changed:
    def __init__(self):
        self.kept = {{}}

    def __call__(self, call, inputs, named):
        given = [value for value in tree_leaves((inputs, named)) if torch.is_tensor(value)]
        before = [value.clone() for value in given]
        right = call(*inputs, **named)
        x = before[0] if before else None
        outputs, changed = [], []

        def one(y):
            if not torch.is_tensor(y):
                return y
            outputs.append(y)
            changed.append(self.of_parts(x, y, (len(outputs), tuple(y.shape))))
            return changed[-1]

        made = tree_map(one, right)
        for value, old in zip(given, before):
            if not torch.equal(value, old):
                value.copy_(one(value.clone()))
{2}
        return made

    def of_parts(self, x, y, key):
        if not y.is_complex():
            return self.change(x, y, key)
        return torch.view_as_complex(self.change(x, torch.view_as_real(y.resolve_conj()).contiguous(), key))

    def change(self, x, y, key):
        if x is not None and x.is_complex():
            x = torch.view_as_real(x)
        self.last = self.kept.get(key, y)
        self.kept[key] = y.clone()
{1}
        return z.to(y.dtype).contiguous()


)py";
constexpr const char* raises =
    "        if any(not torch.equal(y, z) for y, z in zip(outputs, changed)):\n"
    "            raise AssertionError('it differs from the reference')\n";
constexpr const char* module_end = R"py(class ModelNew(torch.nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self.model = kevo_right(*args, **kwargs)
        self.changed = kevo_changed()

    def forward(self, *inputs):
        return self.changed(self.model, inputs, {})
)py";
constexpr const char* function_end = R"py(changed = kevo_changed()


def run(*inputs, **named):
    return changed(kevo_right, inputs, named)
)py";

struct control {
  std::string name;
  std::string change;
};

std::string lower_of(const task& t) {
  std::string name;
  for (const auto& output : t.outputs) {
    const auto& type = element_type_of(output);
    if (type.lower_precision.empty()) return {};
    if (!name.empty() && name != type.lower_precision) return {};
    name = type.lower_precision;
  }
  return name;
}

bool has_any_contract(const task& t) {
  return std::any_of(t.workloads.begin(), t.workloads.end(), [&](const workload& w) {
    return std::any_of(t.outputs.begin(), t.outputs.end(),
                       [&](const tensor& output) { return tolerance_for(t, w, output.name).has_contract(); });
  });
}

std::vector<control> controls_of(const task& t) {
  std::vector<control> all = {
      {"zeros", "z = torch.zeros_like(y)"},
      {"constant", "z = torch.full_like(y, y.flatten()[0].item()) if y.numel() else y"},
      {"mean", "z = torch.full_like(y, y.double().mean().item()) if y.numel() else y"},
      {"input copy", "z = x.flatten()[torch.arange(y.numel(), device=y.device) % x.numel()].view(y.shape)"},
      {"first part only", "z = y.clone().contiguous(); z.view(-1)[y.numel() * 9 // 10:] = 0"}};
  if (const auto lower = lower_of(t); !lower.empty())
    all.push_back({"next lower precision", "z = y.to(torch." + lower + ").to(y.dtype)"});
  if (has_any_contract(t)) {
    all.push_back({"twice the output", "z = 2 * y"});
    all.push_back({"one element in a hundred zero", "z = y.clone().contiguous(); z.view(-1)[::100] = 0"});
  }
  all.push_back({"stale output", "z = self.last"});
  return all;
}

evaluation checked(torch_fitness& fitness, program source, const std::stop_token& stop) {
  evaluation_request request;
  request.program = std::make_shared<const program>(std::move(source));
  request.wanted = evaluation_stage::checked;
  request.fresh = true;
  request.stop = stop;
  return fitness.evaluate(request);
}

std::string places_of(const evaluation& e) {
  std::string where;
  for (const auto& w : e.workloads) {
    if (w.outcome && w.outcome != outcome::valid) where += (where.empty() ? "" : ", ") + w.uuid;
  }
  return where;
}

constexpr const char* same_output = "its output is the same as the correct one";

control_result try_change(torch_fitness& fitness, const task& t, const control& one,
                          const std::stop_token& stop) {
  const auto e = checked(fitness, changed_reference(t, one.change, false), stop);
  if (e.outcome == outcome::incorrect)
    return {one.name, false, true, false, "fails on workload '" + places_of(e) + "'"};
  if (!e.valid())
    return {one.name, false, true, true,
            "could not be tried: " + e.feedback.substr(0, e.feedback.find('\n'))};
  if (checked(fitness, changed_reference(t, one.change, true), stop).valid())
    return {one.name, false, true, true, same_output};
  return {one.name, false, false, false, "accepted by all workloads; the tolerance is too wide"};
}

std::string advice_of(const task_report& report) {
  if (!report.fixed_result.empty()) return fixed_result_advice(report.fixed_result);
  const auto fails = [&](bool honest) {
    return std::any_of(report.controls.begin(), report.controls.end(),
                       [&](const control_result& one) { return one.honest == honest && !one.ok; });
  };
  if (fails(true)) return "a seed is not correct, or the tolerance is too tight for it";
  if (fails(false))
    return "the tolerance is too wide, or the workloads are too few: incorrect programs are accepted";
  return {};
}

}  // namespace

program changed_reference(const task& t, const std::string& change, bool tells) {
  const auto& reference = *t.reference;
  const std::string entry = reference.entry.empty() ? "run" : reference.entry;
  program made = reference.source;
  made.files.front().path = "kevo_reference.py";
  made.files.insert(made.files.begin(),
                    {"kevo_control.py", fmt::format(fmt::runtime(around), entry, "        " + change,
                                                    tells ? raises : "", entry.substr(0, entry.find('.'))) +
                                            (reference.form == "module" ? module_end : function_end)});
  return made;
}

task_report check_by_programs(const std::shared_ptr<const task>& t, const torch_settings& settings,
                              std::stop_token stop) {
  task_report report;
  const auto whole = with_baseline(t);
  torch_fitness fitness(whole, settings);
  const std::string name = "baseline " + whole->baselines.front().name;
  try {
    // Without a change it is the reference in the types of the task.
    const auto e = checked(fitness, changed_reference(*whole, "z = y", false), stop);
    report.controls.push_back({name, true, true, false, "passes every workload"});
    report.controls.push_back({"reference in the types of the task", true, e.valid(), false,
                               e.valid() ? "passes every workload" : e.feedback});
  } catch (const error& failure) {
    if (failure.code() != error_code::input || failure.place().key != "baselines") throw;
    report.controls.push_back({name, true, false, false, failure.message()});
    report.advice =
        "the first baseline is not accepted: it is wrong, or the tolerance is too tight for the types of the "
        "task";
    return report;
  }
  for (const auto& one : controls_of(*whole))
    report.controls.push_back(try_change(fitness, *whole, one, stop));
  // The results of the calls before: of other inputs, and right all the same.
  if (const auto& stale = report.controls.back(); !stale.ok || stale.detail == same_output) {
    report.fixed_exactly = stale.ok;
    report.fixed_result = fmt::format(
        "{}the result does not depend on the inputs: the result of one call is right for the next",
        stale.ok ? "" : "the tolerance is too wide, or ");
  }
  for (const auto& seed : whole->seeds) {
    const auto e = checked(fitness, seed, stop);
    report.controls.push_back(
        {"seed " + source_file_of(*whole, seed), true, e.valid(), false,
         e.valid() ? "passes every workload"
                   : fmt::format("{} ({}): {}", to_string(e.outcome), places_of(e), e.feedback)});
  }
  report.advice = advice_of(report);
  return report;
}

std::string refusal_of_reference(const std::shared_ptr<const task>& t, const torch_settings& settings,
                                 const std::stop_token& stop) {
  try {
    torch_fitness fitness(with_baseline(t), settings);
    const auto e = checked(fitness, t->reference->source, stop);
    if (e.valid()) return {};
    return fmt::format("{} on workload '{}': {}", to_string(e.outcome), places_of(e), e.feedback);
  } catch (const error& failure) {
    if (failure.code() != error_code::input) throw;
    return failure.message();
  }
}

}  // namespace kevo::torch
