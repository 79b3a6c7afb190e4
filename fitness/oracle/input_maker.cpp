#include "fitness/oracle/input_maker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo {
namespace {

bool is_made(const workload& w, const std::string& input) {
  const auto given = w.inputs.find(input);
  return given != w.inputs.end() && given->second.kind == "custom";
}

tensor scalar_of(const std::string& name, const std::string& dtype) {
  tensor made;
  made.name = name;
  made.scalar = true;
  made.dtype = dtype;
  return made;
}

[[noreturn]] void fail(const task& t, const workload& w, const std::string& how) {
  throw error(error_code::input,
              fmt::format("the function '{}', which makes inputs, {} on workload '{}'", input_function_of(t),
                          how, w.uuid),
              {.file = t.file, .key = "custom_inputs_entrypoint"});
}

std::string why_it_ended(const worker_session& session) {
  if (!session.message().empty()) return "failed (" + session.message() + ")";
  return session.report() ? describe(*session.report()) : "did not answer";
}

// Whether an input of the workload differs from call to call, whatever the function makes.
bool has_drawn_inputs(const task& t, const workload& w) {
  return std::any_of(t.inputs.begin(), t.inputs.end(), [&](const tensor& input) {
    if (input.scalar || is_made(w, input.name)) return false;
    const auto given = w.inputs.find(input.name);
    return given == w.inputs.end() || !given->second.contents || !given->second.kept;
  });
}

}  // namespace

std::string input_function_of(const task& t) {
  if (!t.reference || t.reference->init.empty()) return {};
  const auto init = boost::json::parse(t.reference->init).as_object();
  const auto* name = init.if_contains("custom_inputs_entrypoint");
  return name == nullptr ? std::string() : std::string(name->as_string());
}

bool has_made_inputs(const workload& w) {
  return std::any_of(w.inputs.begin(), w.inputs.end(),
                     [](const auto& named) { return named.second.kind == "custom"; });
}

task task_of_made_inputs(const task& t, const workload& w) {
  task made;
  made.name = t.name;
  made.file = t.file;
  made.axes = t.axes;
  made.reference = t.reference;
  made.inputs.push_back(scalar_of("", "int64"));
  for (const auto& a : t.axes) made.inputs.push_back(scalar_of(a.name, "int64"));
  for (const auto& input : t.inputs) {
    if (input.scalar) made.inputs.push_back(input);
    if (!input.scalar && is_made(w, input.name)) made.outputs.push_back(input);
  }
  made.workloads.push_back(w);
  return made;
}

input_maker::input_maker(const task& t, const workload& w, const worker_settings& worker)
    : subject_(t),
      workload_(w),
      made_(task_of_made_inputs(t, w)),
      session_(worker, {}, arena::slot_bytes(in_arena(worker, candidate_buffers(made_, w)))),
      compared_(has_drawn_inputs(t, w)) {
  session_.reshape(candidate_buffers(made_, w));
  const auto end = session_.load();
  if (end == call_end::interrupted) throw error(error_code::interrupted, "the evaluation was stopped");
  if (session_.lock_down_failed())
    throw error(error_code::environment, "the process that makes inputs cannot start: " + session_.message());
  if (end != call_end::done) fail(t, w, "cannot be loaded: it " + why_it_ended(session_));
}

std::map<std::string, std::vector<std::byte>> input_maker::call(rng& random) {
  const auto axes = axis_values(subject_, workload_);
  std::vector<std::uint64_t> scalars = {random() >> 1U};
  for (std::size_t i = 1; i < made_.inputs.size(); ++i) {
    const auto& input = made_.inputs[i];
    const auto& type = element_type_of(input);
    const auto axis = axes.find(input.name);
    std::uint64_t word = 0;
    if (axis != axes.end()) {
      word = static_cast<std::uint64_t>(axis->second);
    } else {
      const double value = workload_.inputs.at(input.name).value;
      store_values(type, std::span<const double>(&value, 1), reinterpret_cast<std::byte*>(&word));
    }
    scalars.push_back(word);
  }
  const auto extents = extent_arguments(made_, workload_);
  const auto done = session_.run_isolated({{}, extents, scalars}, random, std::chrono::minutes(2), false);
  if (done.end == call_end::interrupted) throw error(error_code::interrupted, "the evaluation was stopped");
  if (done.end == call_end::timed_out) fail(subject_, workload_, "took more than two minutes");
  if (done.end != call_end::done) fail(subject_, workload_, why_it_ended(session_));
  std::map<std::string, std::vector<std::byte>> made;
  for (std::size_t i = 0; i < made_.outputs.size(); ++i) {
    const auto bytes = session_.output(done.layout, i);
    made[made_.outputs[i].name].assign(bytes.begin(), bytes.end());
  }
  return made;
}

std::map<std::string, std::vector<std::byte>> input_maker::make(rng& random) {
  auto made = call(random);
  if (!std::exchange(compared_, true) && call(random) == made) {
    fail(subject_, workload_,
         "makes the same inputs each time, and no other input changes from call to call (a program that "
         "contains "
         "the expected output would pass),");
  }
  return made;
}

}  // namespace kevo
