#include "fitness/torch/torch_programs.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "fitness/build/build_choices.hpp"
#include "fitness/cpu/paired.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/oracle/input_maker.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/torch/compile_server.hpp"
#include "fitness/torch/job.hpp"
#include "fitness/torch/sealed_memory.hpp"
#include "fitness/torch/source_facts.hpp"

namespace kevo::torch {
namespace json = boost::json;
namespace {

struct programs {
  std::shared_ptr<const task> t;
  torch_settings settings;
  std::shared_ptr<python_server> server;
  std::uint64_t seed = 0;  // of the parameters
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const program>> known;  // candidates and baselines, by their object
  // Compiles extensions; null until a program has one.
  std::mutex compiling;
  std::unique_ptr<compile_server> compilers;
  detail::descriptor connect() {
    const std::lock_guard lock(compiling);
    if (!compilers) {
      compile_settings wanted;
      wanted.modules = server->modules();
      compilers = std::make_unique<compile_server>(server->tools(), settings.sandbox, wanted);
    }
    try {
      return compilers->connect();
    } catch (const error&) {
      compilers.reset();  // it has ended: the next program gets another
      throw;
    }
  }

  // The parameters of the reference, which every process of a candidate is given to read.
  std::optional<sealed_memory> state;

  std::string add(const program& source) {
    auto object = to_string(id_of(source));
    const std::lock_guard lock(mutex);
    // One run sees many: what is forgotten here is needed by no process any more, or added again.
    if (known.size() > 4096) known.clear();
    known.emplace(object, std::make_shared<const program>(source));
    return object;
  }
  std::shared_ptr<const program> find(const std::string& object) {
    const std::lock_guard lock(mutex);
    const auto found = known.find(object);
    if (found == known.end()) throw error(error_code::internal, "a program was run before it was built");
    return found->second;
  }

  /// Every program's, if the kernel forbids reading them.
  bool copies_results() { return settings.copied_results || !server->facts().readable; }
  worker_process start_with_compiler(json::object job, std::vector<int> descriptors);
  worker_start start_of(const std::string& object, std::optional<trusted_role> role);
  void make_parameters(const std::stop_token& stop) {
    if (t->reference->form == "function" || t->reference->form.empty()) return;
    state = torch::make_parameters(*server, *t, seed, settings.limits.load_s, stop);
  }
};

std::string list_of(const std::vector<int>& cpus) {
  return cpus.empty() ? "any" : fmt::format("{}", fmt::join(cpus, ","));
}

// The process may ask for extensions while its program is loaded, but not in a call: what a compiler computes
// there would not be in the time of the call.
worker_process programs::start_with_compiler(json::object job, std::vector<int> descriptors) {
  const auto compiler = std::make_shared<detail::descriptor>(connect());
  job["compiler"] = true;
  descriptors.push_back(compiler->get());
  worker_process process(server->start(job, descriptors));
  process.when_loaded([compiler] { ::shutdown(compiler->get(), SHUT_RDWR); });
  return process;
}

// Where the outputs of a process with this role lie. Of a trusted process that makes what is expected,
// elements have 64 bits.
std::optional<own_results> results_of(const task& t, std::optional<trusted_role> role) {
  own_results results;
  if (role == trusted_role::pacer) return results;
  for (const auto& input : t.inputs) results.input_extents += input.scalar ? 0 : input.shape.size();
  for (const auto& output : t.outputs)
    results.outputs.push_back(
        {role == trusted_role::reference ? 8 : element_type_of(output).size, output.shape.size()});
  return results;
}

// Behind the object of a program whose processes take the reference's parameters in place of their own.
constexpr std::string_view adopting = " with the parameters of the reference";

// What a process says whose program has made other parameters than the reference. kevo_torch.py says it.
constexpr const char* other_parameters = "its parameters are not those of the reference";

worker_start programs::start_of(const std::string& object, std::optional<trusted_role> role) {
  return [this, object, role](const worker_settings& worker, int control, int arena) {
    auto job = job_of(*t, seed);
    job["threads"] = worker.threads;
    job["cpus"] = list_of(worker.cpus);
    job["memory"] = worker.limits.data_bytes;
    std::vector<int> descriptors = {control, arena};
    if (role == trusted_role::pacer) {
      job["role"] = "pacer";
      job["pace_us"] = pace_ns / 1e3;
    } else if (role == trusted_role::reference) {
      job["role"] = "reference";
      add_program(job, t->reference->source);
      job["entries"] = entry_of_reference(*t);
      job["memory"] = 0;
    } else if (role == trusted_role::inputs) {
      job = job_of_inputs(*t, std::stoul(object), seed);
      job["threads"] = worker.threads;
      job["cpus"] = list_of(worker.cpus);
    } else {
      job["role"] = "candidate";
      const bool adopts = object.ends_with(adopting);
      const auto source = find(adopts ? object.substr(0, object.size() - adopting.size()) : object);
      job["adopts"] = adopts || role == trusted_role::baseline;
      add_program(job, *source);
      job["entries"] = entries_of_candidate(*t);
      if (state) {
        descriptors.push_back(state->descriptor());
        if (worker.limits.data_bytes > 0) job["memory"] = worker.limits.data_bytes + state->bytes();
      }
      if (uses_extensions(*source)) return start_with_compiler(std::move(job), std::move(descriptors));
    }
    return worker_process(server->start(job, descriptors));
  };
}

// Same seed, same draws: most programs make the reference's parameters, and some compute others from them
// that only their own forward understands.
other_way with_adopted_parameters() {
  return {other_parameters,
          [](const std::string& object) { return object + std::string(adopting); },
          "parameters",
          "the program's own: its constructor made others than the reference's",
          "the reference's: with those that its constructor made the program is wrong",
          "With the parameters that its constructor made the program is wrong, too."};
}

}  // namespace

cpu_settings bench_settings(const torch_settings& settings) {
  cpu_settings made;
  made.compiler.clear();
  made.flags.clear();
  made.threads = settings.threads;
  made.sandbox = settings.sandbox;
  made.limits = settings.limits;
  made.timing = settings.timing;
  made.cache_dir = settings.cache_dir;
  made.pool_bytes = settings.pool_bytes;
  made.pool_s = settings.pool_s;
  made.seed = settings.seed;
  made.promising = settings.promising;
  return made;
}

std::shared_ptr<const task> with_baseline(std::shared_ptr<const task> t) {
  if (!t->baselines.empty() || !t->reference) return t;
  auto changed = std::make_shared<task>(*t);
  changed->baselines.push_back({"eager", t->reference->source, {}, false});
  return changed;
}

program_kind torch_programs(std::shared_ptr<const task> t, const torch_settings& settings,
                            std::shared_ptr<python_server> server) {
  require_runnable(*t, "python");
  const auto own = std::make_shared<programs>();
  own->t = std::move(t);
  own->settings = settings;
  own->server = std::move(server);
  own->seed = settings.seed ? *settings.seed : secret_seed();
  program_kind kind;
  kind.backend = "torch";
  kind.protocol = "torch 12";
  kind.suite_rule = true;
  kind.contents_once = true;
  kind.warms_up = true;
  kind.refusal = [own](const program& source) -> std::string {
    if (source.language != "python" && source.language != "triton")
      return "the torch backend supports programs in python, not in " + source.language;
    try {
      const bool triton = source.language == "triton";
      static_cast<void>(build_choices_of(source, triton ? build_family::triton : build_family::torch, {}));
    } catch (const error& failure) {
      return failure.what();
    }
    const auto facts = facts_of(source);
    if (own->settings.own_kernel && facts.triton_kernels + facts.cuda_kernels == 0)
      return "the program has no kernel of its own, which fitness.own_kernel requires";
    return {};
  };
  kind.build = [own](const program& source, const std::stop_token&) {
    build_result built;
    built.ok = true;
    built.object_path = own->add(source);
    return built;
  };
  kind.build_trusted = [own](trusted_role role, const baseline* given, const std::stop_token& stop,
                             const std::string&) -> std::string {
    if (role == trusted_role::reference) return own->make_parameters(stop), "reference";
    if (role == trusted_role::pacer) return "pacer";
    return own->add(given->source);
  };
  kind.worker_for = [own](worker_settings worker, const std::string& object,
                          std::optional<trusted_role> role) {
    worker.start = own->start_of(object, role);
    worker.prepares = true;
    worker.chain = own->server->chain();
    worker.teaches_chain = role.has_value();
    if (!own->copies_results()) {
      const auto& subject = *own->t;
      worker.results =
          role == trusted_role::inputs
              ? results_of(task_of_made_inputs(subject, subject.workloads.at(std::stoul(object))), role)
              : results_of(subject, role);
    }
    return worker;
  };
  kind.otherwise = with_adopted_parameters();
  kind.same = [](const std::string& one, const std::string& other) { return one == other; };
  kind.measures = [own](const build_result& built) {
    return measures_of(facts_of(*own->find(built.object_path)));
  };
  kind.tell = [own](evaluation& e) {
    e.context["pytorch"] = own->server->facts().version;
    e.context["python"] = own->server->tools().python;
    e.context["vector_instructions"] = own->server->facts().capability;
    e.context["outputs"] =
        own->copies_results()
            ? "every time, also of baselines, includes copying the outputs into memory of kevo, because the "
              "kernel does not let kevo read the memory of its own child processes (see "
              "kernel.yama.ptrace_scope, "
              "or the system call filter of the container)"
            : "read where they lie, in the memory of the program";
    if (!own->server->facts().own_files)
      e.context["files"] = "programs can write no files: the system does not let each have a /tmp of its own";
  };
  kind.identity = [own] {
    const auto& tools = own->server->tools();
    return fmt::format("{} {} {} {}{}", tools.python, tools.packages, tools.version, own->settings.own_kernel,
                       own->copies_results() ? " copied results" : "");
  };
  kind.words = [own] { return "PyTorch " + own->server->tools().version; };
  return kind;
}

}  // namespace kevo::torch
