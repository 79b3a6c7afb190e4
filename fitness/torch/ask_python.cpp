#include "fitness/torch/ask_python.hpp"

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/torch/job.hpp"
#include "fitness/torch/sealed_memory.hpp"
#include "fitness/worker/session.hpp"

namespace kevo::torch {

std::string ask_python(python_server& server, const program& source, std::string_view script, double seconds,
                       const boost::json::object& init) {
  namespace json = boost::json;
  const sealed_memory answer;
  worker_settings worker;
  worker.patient = true;
  worker.load_limit_s = 20 * seconds + 120;
  worker.start = [&](const worker_settings&, int control, int arena) {
    json::array files;
    for (const auto& file : source.files) files.push_back({{"path", file.path}, {"text", file.text}});
    const json::object job = {{"role", "script"},
                              {"script", script},
                              {"seconds", seconds},
                              {"files", std::move(files)},
                              {"init", init},
                              {"models", takes_models(init)},
                              {"threads", 1},
                              {"cpus", "any"},
                              {"memory", 0},
                              {"inputs", json::array()},
                              {"outputs", json::array()}};
    return worker_process(server.start(job, {control, arena, answer.descriptor()}));
  };
  worker_session session(worker, {}, 4096);
  const auto end = session.load();
  if (end == call_end::done) return answer.text();
  const std::string said = end == call_end::timed_out
                               ? fmt::format("it was not finished after {:.0f} s", worker.load_limit_s)
                           : session.message().empty() && session.report() ? describe(*session.report())
                                                                           : session.message();
  throw error(session.lock_down_failed() ? error_code::environment : error_code::input, said);
}

}  // namespace kevo::torch
