#include "fitness/torch/job.hpp"

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/oracle/input_maker.hpp"
#include "fitness/torch/source_facts.hpp"
#include "fitness/worker/session.hpp"

namespace kevo::torch {
namespace json = boost::json;
namespace {

json::array tensors_of(const std::vector<tensor>& all) {
  json::array result;
  for (const auto& x : all)
    result.push_back({{"name", x.name}, {"dtype", x.dtype}, {"rank", x.shape.size()}, {"scalar", x.scalar}});
  return result;
}

json::object init_of(const task& t) {
  return t.reference->init.empty() ? json::object() : json::parse(t.reference->init).as_object();
}

}  // namespace

bool takes_models(const json::object& init) {
  return init.contains("pretrained");
}
bool takes_models(const task& t) {
  return takes_models(init_of(t));
}

json::array files_of(const program& source) {
  json::array files;
  for (const auto& file : source.files) files.push_back({{"path", file.path}, {"text", file.text}});
  return files;
}

void add_program(json::object& job, const program& source) {
  job["files"] = files_of(source);
  job["inductor"] = facts_of(source).compilers;
}

json::object job_of(const task& t, std::uint64_t seed) {
  const auto& reference = *t.reference;
  const auto init = init_of(t);
  const auto* calls = init.if_contains("calls");
  const auto* precision = init.if_contains("precision");
  return {{"inputs", tensors_of(t.inputs)},
          {"outputs", tensors_of(t.outputs)},
          {"form", reference.form == "module" ? "module" : "function"},
          {"seed", seed & 0x7fffffffffffffffU},
          {"init", init},
          {"models", takes_models(init)},
          {"calls", calls == nullptr ? json::array() : calls->as_array()},
          {"narrow", precision != nullptr && *precision == "task"}};
}

json::object job_of_inputs(const task& t, std::size_t workload, std::uint64_t seed) {
  auto job = job_of(task_of_made_inputs(t, t.workloads.at(workload)), seed);
  job["memory"] = 0;
  job["role"] = "inputs";
  add_program(job, t.reference->source);
  job["entries"] = json::array{json::string(input_function_of(t))};
  return job;
}

json::array entry_of_reference(const task& t) {
  return {json::string(t.reference->entry.empty() ? "run" : t.reference->entry)};
}

json::array entries_of_candidate(const task& t) {
  auto entries = entry_of_reference(t);
  if (t.reference->form == "module") {
    entries.insert(entries.begin(), "ModelNew");
  } else {
    entries.emplace_back("run");
    entries.emplace_back("kernel_function");
  }
  return entries;
}

sealed_memory make_parameters(python_server& server, const task& t, std::uint64_t seed, double load_s,
                              const std::stop_token& stop) {
  sealed_memory made;
  worker_settings worker;
  worker.stop = stop;
  worker.patient = true;
  worker.load_limit_s = load_s;
  worker.start = [&](const worker_settings& given, int control, int arena) {
    auto job = job_of(t, seed);
    job["role"] = "state";
    add_program(job, t.reference->source);
    job["entries"] = entry_of_reference(t);
    job["threads"] = given.threads;
    job["cpus"] = given.cpus.empty() ? "any" : fmt::format("{}", fmt::join(given.cpus, ","));
    job["memory"] = 0;
    job["state_bytes"] = sealed_memory::most_bytes;
    return worker_process(server.start(job, {control, arena, made.descriptor()}));
  };
  {
    worker_session session(worker, {}, 4096);
    const auto end = session.load();
    if (end == call_end::interrupted) throw error(error_code::interrupted, "the evaluation was stopped");
    if (end != call_end::done) {
      throw error(session.lock_down_failed() ? error_code::environment : error_code::input,
                  "the reference cannot be loaded: " + (session.message().empty() && session.report()
                                                            ? describe(*session.report())
                                                            : session.message()),
                  {.file = t.file, .key = "reference"});
    }
  }
  made.seal();
  return made;
}

}  // namespace kevo::torch
