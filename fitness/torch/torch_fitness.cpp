#include "fitness/torch/torch_fitness.hpp"

#include <utility>

#include <kevo/error.hpp>

#include "fitness/cpu/program_kind.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/python_server.hpp"
#include "fitness/torch/torch_programs.hpp"

namespace kevo {

struct torch_fitness::state {
  std::shared_ptr<torch::python_server> server;
  std::optional<cpu_fitness> judged;  // by the rules of the CPU
};

torch_fitness::torch_fitness(std::shared_ptr<const task> t, const torch_settings& settings)
    : state_(std::make_unique<state>()) {
  if (!t) throw error(error_code::usage, "the torch fitness function needs a task");
  if (settings.device != "cpu")
    throw error(error_code::input, "fitness.device '" + settings.device + "' is not supported yet",
                {.key = "fitness.device"}, "write device: cpu");
  t = torch::with_baseline(std::move(t));
  auto tools = torch::find_torch(settings.python, contains(settings.sandbox));
  state_->server =
      std::make_shared<torch::python_server>(std::move(tools), settings.sandbox, settings.helper);
  auto kind = std::make_shared<const program_kind>(torch::torch_programs(t, settings, state_->server));
  state_->judged.emplace(std::move(t), torch::bench_settings(settings), std::move(kind));
}
torch_fitness::torch_fitness(torch_fitness&&) noexcept = default;
torch_fitness& torch_fitness::operator=(torch_fitness&&) noexcept = default;
torch_fitness::~torch_fitness() = default;

evaluation torch_fitness::evaluate(const evaluation_request& request) {
  return state_->judged->evaluate(request);
}
std::string torch_fitness::describe() const {
  return state_->judged->describe();
}
const task& torch_fitness::subject() const {
  return state_->judged->subject();
}

}  // namespace kevo
