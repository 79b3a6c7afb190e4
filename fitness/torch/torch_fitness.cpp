#include "fitness/torch/torch_fitness.hpp"

#include <algorithm>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/cpu/program_kind.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/compiled_baseline.hpp"
#include "fitness/torch/python_server.hpp"
#include "fitness/torch/torch_programs.hpp"

namespace kevo {

struct torch_fitness::state {
  std::shared_ptr<const task> subject;
  std::shared_ptr<torch::python_server> server;
  std::optional<cpu_fitness> judged;  // by the rules of the CPU
  any_fitness on_device;              // or of GPUs
};

namespace {

cuda_settings device_settings(const torch_settings& settings) {
  cuda_settings made;
  made.device = settings.gpu;
  made.nvcc = "none";
  made.python = settings.python;
  made.sandbox = settings.sandbox;
  // The first call of a size compiles kernels, and libraries choose theirs.
  made.limits.call_s = std::max(settings.limits.call_s, settings.limits.first_call_s);
  made.limits.memory_bytes = settings.limits.memory_bytes;
  made.limits.source_bytes = settings.limits.source_bytes;
  made.timing = settings.cuda_timing;
  made.cache_dir = settings.cache_dir;
  made.promising = settings.promising;
  made.foreign = settings.foreign;
  made.own_kernel = settings.own_kernel;
  made.own_kernel_share = settings.own_kernel_share;
  made.both_times = true;
  made.host_time = settings.time == "host";
  made.pythons = settings.pythons;
  return made;
}

// torch.compile starts compilers, which processes on the CPU may not.
std::shared_ptr<const task> without_compiled(std::shared_ptr<const task> t) {
  const auto compiled = [](const baseline& one) { return torch::is_compiled(one.link); };
  if (std::none_of(t->baselines.begin(), t->baselines.end(), compiled)) return t;
  for (const auto& one : t->baselines) {
    if (!compiled(one) || one.optional) continue;
    throw error(
        error_code::input,
        "the baseline '" + one.name + "' is compiled by torch.compile, which needs fitness.device: cuda",
        {.file = t->file, .key = "baselines"},
        "write optional: true, so that it is left out where it cannot be compiled");
  }
  auto changed = std::make_shared<task>(*t);
  std::erase_if(changed->baselines, compiled);
  return changed;
}

}  // namespace

torch_fitness::torch_fitness(std::shared_ptr<const task> t, const torch_settings& settings)
    : state_(std::make_unique<state>()) {
  if (!t) throw error(error_code::usage, "the torch fitness function needs a task");
  if (settings.device != "cpu" && settings.device != "cuda")
    throw error(error_code::input, "fitness.device '" + settings.device + "' is not known",
                {.key = "fitness.device"}, "write device: cpu or device: cuda");
  if (settings.device == "cpu" && settings.own_kernel_share > 0)
    throw error(error_code::input, "fitness.own_kernel_share needs a GPU",
                {.key = "fitness.own_kernel_share"}, "write device: cuda, or remove own_kernel_share");
  if (settings.time != "device" && settings.time != "host")
    throw error(error_code::input, "fitness.time '" + settings.time + "' is not known",
                {.key = "fitness.time"}, "write time: device or time: host");
  if (settings.device == "cpu" && settings.time == "host")
    throw error(error_code::input,
                "fitness.time: host needs a GPU: on a CPU there is one time, that of the host",
                {.key = "fitness.time"}, "write device: cuda, or remove time");
  t = torch::with_baseline(std::move(t));
  state_->subject = t;
  if (settings.device == "cuda") {
    require_runnable(*t, "python");
    cuda_settings made = device_settings(settings);
    state_->on_device = settings.gpus
                            ? cuda_fitness_pool(std::move(t), std::move(made), *settings.gpus)
                            : any_fitness(std::make_shared<cuda_fitness>(std::move(t), std::move(made)));
    return;
  }
  t = without_compiled(std::move(t));
  state_->subject = t;
  state_->server = settings.server;
  if (!state_->server) {
    auto tools = torch::find_torch(settings.python, contains(settings.sandbox));
    state_->server =
        std::make_shared<torch::python_server>(std::move(tools), settings.sandbox, settings.helper);
  }
  auto kind = std::make_shared<const program_kind>(torch::torch_programs(t, settings, state_->server));
  state_->judged.emplace(std::move(t), torch::bench_settings(settings), std::move(kind));
}
torch_fitness::torch_fitness(torch_fitness&&) noexcept = default;
torch_fitness& torch_fitness::operator=(torch_fitness&&) noexcept = default;
torch_fitness::~torch_fitness() = default;

evaluation torch_fitness::evaluate(const evaluation_request& request) {
  return state_->on_device ? state_->on_device.evaluate(request) : state_->judged->evaluate(request);
}
std::string torch_fitness::describe() const {
  return state_->on_device ? state_->on_device.describe() : state_->judged->describe();
}
const task& torch_fitness::subject() const {
  return *state_->subject;
}

}  // namespace kevo
