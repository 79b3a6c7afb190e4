#include "fitness/torch/building_pass.hpp"

#include <memory>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/worker/session.hpp"

namespace kevo::torch {
namespace {

constexpr std::size_t least_arena_bytes = 4096;  // it has no calls

}  // namespace

std::string build_ahead(python_server& server, detail::descriptor compiler, boost::json::object job,
                        const building_pass& pass) {
  job["role"] = "ahead";
  job["device_facts"] = pass.facts;
  job["compiler"] = true;
  job["threads"] = 1;
  job["cpus"] = "any";
  job["memory"] = pass.memory_bytes;
  worker_settings worker;
  worker.sandbox = pass.sandbox;
  worker.patient = true;
  worker.load_limit_s = pass.limit_s;
  worker.stop = pass.stop;
  // The socket is the process' own, so that a build ends when the process has ended.
  const auto socket = std::make_shared<detail::descriptor>(std::move(compiler));
  worker.start = [&server, job = std::move(job), socket](const worker_settings&, int control, int arena) {
    kevo::worker_process process(server.start(job, {control, arena, socket->get()}));
    socket->reset();
    return process;
  };
  worker_session session(worker, {}, least_arena_bytes);
  const auto end = session.load();
  if (end == call_end::interrupted) throw error(error_code::interrupted, "the evaluation was stopped");
  if (session.lock_down_failed())
    throw error(error_code::environment,
                "the process that builds extensions ahead cannot start: " + session.message());
  return end == call_end::load_failed ? session.message() : std::string();
}

}  // namespace kevo::torch
