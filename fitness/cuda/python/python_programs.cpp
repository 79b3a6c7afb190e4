#include "fitness/cuda/python/python_programs.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/cuda/launch/launch_signature.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/building_pass.hpp"
#include "fitness/torch/compile_server.hpp"
#include "fitness/torch/job.hpp"
#include "fitness/torch/source_facts.hpp"
#include "fitness/worker/worker_process.hpp"

namespace kevo::cuda {
namespace json = boost::json;
namespace {

constexpr std::size_t most_words = 512;
constexpr std::size_t most_calls_ahead = 16;
constexpr double longest_load_s = 120;
constexpr double longest_kernels_s = 40;         // of a pass that builds kernels alone
constexpr double longest_load_of_model_s = 600;  // which may have billions of parameters

bool speaks_of_convolutions(const program& source) {
  return std::any_of(source.files.begin(), source.files.end(), [](const auto& file) {
    return file.text.find("Conv") != std::string::npos || file.text.find("conv") != std::string::npos;
  });
}

// Scalar inputs, then the extents of every tensor.
std::vector<std::int64_t> words_of_call(const task& t, const workload& w, const launch_signature& signature) {
  std::vector<std::int64_t> words;
  for (const auto& scalar : signature.scalars) {
    std::int64_t word = 0;
    std::memcpy(&word, scalar.bytes.data(), sizeof word);
    words.push_back(word);
  }
  const auto axes = axis_values(t, w);
  for (const auto* list : {&t.inputs, &t.outputs}) {
    for (const auto& one : *list) {
      if (one.scalar) continue;
      const auto own = extents(one, axes);
      words.insert(words.end(), own.begin(), own.end());
    }
  }
  if (words.size() > most_words)
    throw error(error_code::input, "the tensors of the task have too many extents", {.file = t.file});
  return words;
}

json::object facts_for_pytorch(const device_description& device) {
  return {{"name", device.name},
          {"major", device.major},
          {"minor", device.minor},
          {"total_memory", device.memory_bytes},
          {"multi_processor_count", device.multiprocessors},
          {"L2_cache_size", device.l2_bytes},
          {"max_threads_per_multi_processor", device.threads_per_multiprocessor},
          {"regs_per_multiprocessor", device.registers_per_multiprocessor},
          {"shared_memory_per_multiprocessor", device.shared_per_multiprocessor},
          {"shared_memory_per_block_optin", device.shared_per_block}};
}

bool is_built_ahead(const program& source) {
  return torch::uses_extensions(source) || torch::facts_of(source).triton_kernels > 0;
}

scalar_argument word_of(std::int64_t value) {
  scalar_argument word;
  word.size = sizeof value;
  std::memcpy(word.bytes.data(), &value, sizeof value);
  return word;
}

}  // namespace

plan python_plan(const task& t, const workload& w) {
  const auto signature = signature_of(t, w);
  plan made;
  made.inputs = static_cast<std::uint32_t>(signature.inputs.size());
  made.outputs = static_cast<std::uint32_t>(signature.outputs.size());
  kernel_launch call;
  auto& arguments = call.arguments;
  for (std::uint32_t i = 0; i < made.inputs + made.outputs; ++i)
    arguments.emplace_back(buffer_argument{i, 0});
  for (const auto value : words_of_call(t, w, signature)) arguments.emplace_back(word_of(value));
  made.steps.emplace_back(std::move(call));
  return made;
}

python_programs::python_programs(std::shared_ptr<const task> t, const python_settings& settings,
                                 const device_description& device, shared_pythons* shared,
                                 const std::stop_token& stop)
    : task_(std::move(t)),
      settings_(settings),
      device_(device.uuid),
      facts_(facts_for_pytorch(device)),
      warm_(shared != nullptr ? shared->of(settings, device)
                              : std::make_shared<warm_pythons>(settings, device)),
      has_convolutions_(speaks_of_convolutions(task_->reference->source)),
      seed_(secret_seed()) {
  // Needed for the first evaluation, and not by what is made here.
  if (std::any_of(task_->seeds.begin(), task_->seeds.end(), is_built_ahead)) ahead_is_there();
  auto other = std::async(std::launch::async, [this] { warm_->candidates().facts(); });
  warm_->trusted().facts();
  other.get();
  if (task_->reference->form != "module") return;
  const double limit_s = torch::takes_models(*task_) ? longest_load_of_model_s : longest_load_s;
  parameters_ = torch::make_parameters(warm_->trusted(), *task_, seed_, limit_s, stop);
  // A candidate has its own parameters and sees those of the reference.
  settings_.memory_bytes += 2 * parameters_->bytes();
}

worker_options python_programs::workers_for(python_role role, bool concurrent) {
  const bool trusted = role != python_role::candidate;
  worker_options options;
  options.sandbox = settings_.sandbox;
  options.hosted = true;
  options.trusted = trusted;
  options.memory_bytes = trusted ? 0 : settings_.memory_bytes;
  options.fork = [this, trusted, concurrent](int region, int arena, std::uint64_t arena_bytes) {
    const json::object job = {{"device", device_},
                              {"arena_bytes", arena_bytes},
                              {"memory", trusted ? 0 : settings_.memory_bytes},
                              {"parameters", parameters_.has_value()},
                              {"compiler", !trusted},
                              {"queues", concurrent ? 0 : 1},
                              {"convolutions", has_convolutions_},
                              {"models", torch::takes_models(*task_)}};
    std::vector<int> descriptors = {region, arena};
    if (parameters_) descriptors.push_back(parameters_->descriptor());
    detail::descriptor compiler;
    if (!trusted) {
      compiler = warm_->connect_compiler();
      descriptors.push_back(compiler.get());
    }
    return (trusted ? warm_->trusted() : warm_->candidates()).start(job, descriptors);
  };
  return options;
}

bool python_programs::ahead_is_there() {
  const std::lock_guard lock(starting_ahead_);
  if (!ahead_starts_.valid()) {
    ahead_starts_ = std::async(std::launch::async, [warm = warm_] {
      try {
        warm->ahead().facts();
      } catch (const error&) {  // whoever needs it is told
      }
    });
  }
  return ahead_starts_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

std::string python_programs::build_ahead(const program& source, const std::stop_token& stop) {
  if (!is_built_ahead(source)) return {};
  // Kernels alone are compiled on the device before that process has imported PyTorch.
  if (!ahead_is_there() && !torch::uses_extensions(source)) return {};
  // Without the run's seed, which decides parameters: it has no use for them.
  auto job = torch::job_of(*task_, 0);
  torch::add_program(job, source);
  job["entries"] = torch::entries_of_candidate(*task_);
  job["triton"] = torch::facts_of(source).triton_kernels > 0;
  // Of visible workloads alone: what the process says is shown.
  json::array words;
  for (const auto& w : task_->workloads) {
    if (w.hidden || words.size() == most_calls_ahead) continue;
    const auto own = words_of_call(*task_, w, signature_of(*task_, w));
    words.emplace_back(json::array(own.begin(), own.end()));
  }
  job["words"] = std::move(words);
  torch::building_pass pass;
  pass.facts = facts_;
  pass.sandbox = settings_.sandbox;
  pass.memory_bytes = settings_.memory_bytes;
  pass.limit_s = torch::uses_extensions(source) ? longest_load_s : longest_kernels_s;
  pass.stop = stop;
  return torch::build_ahead(warm_->ahead(), warm_->connect_compiler(), std::move(job), pass);
}

worker_settings python_programs::input_maker_for(std::size_t workload) {
  if (!input_makers_)
    input_makers_ = std::make_unique<torch::python_server>(warm_->tools(), settings_.sandbox);
  worker_settings worker;
  worker.sandbox = settings_.sandbox;
  worker.load_limit_s = longest_load_s;
  worker.patient = true;
  worker.start = [this, workload](const worker_settings& of, int control, int arena) {
    auto job = torch::job_of_inputs(*task_, workload, seed_);
    job["threads"] = of.threads;
    job["cpus"] = "any";
    return kevo::worker_process(input_makers_->start(job, {control, arena}));
  };
  return worker;
}

json::object python_programs::told_of(const program& source, python_role role) const {
  auto job = torch::job_of(*task_, seed_);
  job["files"] = torch::files_of(source);
  job["entries"] = role == python_role::reference ? torch::entry_of_reference(*task_)
                                                  : torch::entries_of_candidate(*task_);
  job["role"] = role == python_role::reference  ? "reference"
                : role == python_role::baseline ? "baseline"
                                                : "candidate";
  return job;
}

std::string python_programs::object_of(const program& source, python_role role, bool compile) const {
  auto job = told_of(source, role);
  if (compile) job["compile"] = true;
  return json::serialize(job);
}

std::string python_programs::nothing() const {
  auto job = told_of({}, python_role::candidate);
  job["role"] = "nothing";
  return json::serialize(job);
}

std::string python_programs::watched_object_of(const program& source) const {
  auto job = told_of(source, python_role::candidate);
  const auto facts = torch::facts_of(source);
  job["kernels"] = json::array(facts.kernels.begin(), facts.kernels.end());
  return json::serialize(job);
}

std::string python_programs::identity() const {
  const auto& tools = warm_->tools();
  return fmt::format("{} {} {}", tools.python, tools.packages, tools.version);
}

}  // namespace kevo::cuda
