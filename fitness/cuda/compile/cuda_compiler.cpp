#include "fitness/cuda/compile/cuda_compiler.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>

#include "fitness/build/compiler_process.hpp"
#include "fitness/cuda/compile/build_cache.hpp"
#include "fitness/cuda/compile/cub_headers.hpp"
#include "fitness/cuda/compile/cubin.hpp"
#include "fitness/cuda/compile/message.hpp"
#include "fitness/cuda/compile/nvcc.hpp"
#include "fitness/cuda/compile/standard_headers.hpp"
#include "fitness/cuda/compile/triton.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::cuda {
namespace fs = std::filesystem;
namespace {

constexpr const char* nvrtc_protocol = "kevo nvrtc 2";

/// Libraries of finished kernels that may lie among CUDA's headers: including one would be somebody else's
/// work.
const std::vector<std::string>& kernel_libraries() {
  static const std::vector<std::string> names = {"cutlass",  "cute",     "cublasdx",
                                                 "cufftdx",  "curanddx", "cusolverdx",
                                                 "nvcompdx", "thrust",   "cudnn_frontend"};
  return names;
}

/// The log without what differs from one run to the next.
std::string steady(const std::string& log) {
  std::string result;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Compile time = ") == std::string::npos) result += line + '\n';
  }
  return result;
}

// The kernels that were asked for, then the others. False, with the reason, if one that was asked for is no
// kernel.
bool take_kernels(const cuda_build_request& request, const compile_answer& answer,
                  const std::vector<compiled_kernel>& found, cuda_build_result& result) {
  for (std::size_t i = 0; i < request.kernels.size(); ++i) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const auto& kernel) {
      return kernel.mangled == answer.symbols.at(i);
    });
    if (same == found.end()) {
      result.reasons.push_back(request.kernels[i] + " is not a kernel: __global__ is missing");
      return false;
    }
    auto kernel = *same;
    kernel.name = request.kernels[i];
    result.module.kernels.push_back(std::move(kernel));
  }
  for (const auto& other : found) {
    if (std::find(answer.symbols.begin(), answer.symbols.end(), other.mangled) != answer.symbols.end())
      continue;
    auto kernel = other;
    kernel.name = readable(kernel.mangled);
    result.module.kernels.push_back(std::move(kernel));
  }
  return true;
}

// What the module keeps from one call to the next.
void take_lasting(const compile_answer& answer, cubin_contents contents, compiled_module& module) {
  const auto unused = unused_words(answer.ptx);
  std::map<std::string, int> times;
  for (const auto& global : contents.globals) ++times[global.symbol];
  const bool used = std::any_of(contents.globals.begin(), contents.globals.end(), [&](const auto& global) {
    return times[global.symbol] > 1 || !std::binary_search(unused.begin(), unused.end(), global.symbol);
  });
  // Who uses one variable can reach its neighbours, so that they are restored all or none.
  if (used) module.globals = std::move(contents.globals);
  // Managed variables lie apart from their section, in memory that moves between host and device.
  for (const auto& symbol : contents.managed)
    module.lasting.push_back("the managed variable " + readable(symbol));
  for (const auto& function : contents.external) {
    if (function == "malloc" || function == "free") module.lasting.push_back(function + "()");
  }
}

// Adds the kernels, images and variables of one module to another one.
void append(compiled_module more, bool hidden, compiled_module& module) {
  const auto images = static_cast<std::uint32_t>(module.images.size());
  module.architecture = more.architecture;
  for (auto& image : more.images) module.images.push_back(std::move(image));
  for (auto& kernel : more.kernels) {
    kernel.image += images;
    kernel.hidden = hidden;
    module.kernels.push_back(std::move(kernel));
  }
  for (auto& global : more.globals) {
    global.image += images;
    module.globals.push_back(std::move(global));
  }
  for (auto& lasting : more.lasting) module.lasting.push_back(std::move(lasting));
}

// How an attempt to compile ended.
enum class end_of_attempt : std::uint8_t {
  decided,  // the result is one to remember
  late,     // out of time; the machine may have been busy
  hung      // out of time while the program itself was executed, which a second attempt would not change
};

}  // namespace

process_limits cuda_compiler_settings::default_limits() {
  process_limits limits;
  limits.wall_s = 60;
  limits.cpu_s = 120;
  limits.memory_bytes = std::uint64_t{8} << 30U;
  limits.processes = 64;
  limits.file_bytes = 64U << 20U;
  limits.output_bytes = 128U << 20U;
  limits.scratch_bytes = 64U << 20U;
  return limits;
}

std::vector<std::string> nvrtc_options(const cuda_build_request& request, const std::string& standard) {
  std::vector<std::string> options = {"--gpu-architecture=" + request.architecture, "--std=" + standard,
                                      "--ptxas-options=-v", "--device-int128"};
  options.insert(options.end(), request.flags.begin(), request.flags.end());
  return options;
}

std::vector<source_text> nvrtc_headers() {
  auto headers = standard_headers();
  // The toolkit's own has host functions, which NVRTC does not take.
  headers.push_back({"cub/cub.cuh", cub_without_device()});
  return headers;
}

struct cuda_compiler::state {
  state(cuda_compiler_settings given, running_builds* shared)
      : settings(std::move(given)),
        tools(settings.compiler == "nvrtc" ? find_toolchain(settings.cuda) : toolchain()),
        program(settings.compiler == "nvrtc" ? find_compile_program() : find_nvcc(settings.compiler)),
        pausable(shared),
        on_disk(settings.cache_dir) {
    static_cast<void>(contains(settings.sandbox));  // refuses here rather than at the first build
  }

  cuda_compiler_settings settings;
  toolchain tools;
  std::string program;
  running_builds* pausable;
  build_cache on_disk;
  std::mutex mutex;
  std::optional<triton_tools> triton;  // found when the first program in Triton comes
  std::map<content_id, cuda_build_result> known;
  std::deque<content_id> order;  // of `known`, oldest first

  std::string identity() const {
    std::error_code code;
    const auto time = fs::last_write_time(program, code).time_since_epoch().count();
    std::string text = fmt::format("{}\n{}\n{}\n{} {}\n", nvrtc_protocol, tools.identity(), settings.standard,
                                   program, time);
    for (const auto& folder : tools.include_folders) text += folder + '\n';
    return text;
  }

  const triton_tools& triton_found() {
    const std::lock_guard lock(mutex);
    if (!triton) triton = find_triton(settings.python, contains(settings.sandbox));
    return *triton;
  }

  content_id key_of(const cuda_build_request& request) {
    content_hasher hash;
    const auto id = id_of(request.source);
    if (request.source.language == "triton") hash.text(triton_found().identity()).number(request.visible);
    hash.text(identity()).number(id.high).number(id.low).text(request.architecture);
    for (const auto* list : {&request.kernels, &request.flags}) {
      hash.number(list->size());
      for (const auto& item : *list) hash.text(item);
    }
    return hash.finish();
  }

  launch_spec spec_of() const {
    auto spec = compiler_launch(settings.limits, settings.sandbox, settings.cpus);
    spec.mounts = runtime_mounts({"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libdl.so.2",
                                  "libpthread.so.0", "librt.so.1"});
    const auto add = [&spec](const std::string& host, const std::string& inside) {
      spec.mounts.push_back({host, inside});
      spec.argv.push_back(inside);
    };
    add(program, "/kevo/kevo-compile-cuda");
    add(tools.library, "/cuda/lib/" + fs::path(tools.library).filename().string());
    if (tools.builtins.empty()) {
      spec.argv.emplace_back("/nonexistent");
    } else {
      add(tools.builtins, "/cuda/lib/" + fs::path(tools.builtins).filename().string());
    }
    std::size_t number = 0;
    for (const auto& folder : tools.include_folders) {
      // A folder within one that is mounted already is seen there.
      std::string inside;
      for (const auto& m : spec.mounts) {
        if (folder.starts_with(m.host + '/')) inside = m.inside + folder.substr(m.host.size());
      }
      if (inside.empty()) {
        inside = "/cuda/include" + std::to_string(number++);
        spec.mounts.push_back({folder, inside});
      }
      spec.argv.push_back(inside);
      for (const auto& name : kernel_libraries()) spec.hidden.emplace_back(folder).append("/").append(name);
    }
    spec.environment = {"PATH=/nonexistent", "LC_ALL=C"};
    return spec;
  }

  compile_job job_of(const cuda_build_request& request) const {
    compile_job job;
    job.options = nvrtc_options(request, settings.standard);
    job.kernels = request.kernels;
    for (const auto& file : request.source.files) job.sources.push_back({file.path, file.text});
    for (auto& header : nvrtc_headers()) job.sources.push_back(std::move(header));
    return job;
  }

  std::vector<std::string> nvcc_options(const cuda_build_request& request) const {
    std::vector<std::string> options = {"-arch=" + request.architecture, "-std=" + settings.standard,
                                        "-Xptxas", "-v"};
    options.insert(options.end(), request.flags.begin(), request.flags.end());
    return options;
  }

  cuda_build_result attempt(const cuda_build_request& request, const std::stop_token& stop,
                            end_of_attempt& end);
  cuda_build_result attempt_triton(const cuda_build_request& request, const std::stop_token& stop,
                                   end_of_attempt& end);
  exit_report launch(const launch_spec& spec, const std::stop_token& stop) const {
    return pausable != nullptr ? pausable->run(spec, stop) : kevo::run(spec, stop);
  }
};

// The variants that only hidden workloads launch are compiled apart: a program's file, which is executed
// then, can see their names, and its messages are told to nobody.
cuda_build_result cuda_compiler::state::attempt_triton(const cuda_build_request& request,
                                                       const std::stop_token& stop, end_of_attempt& end) {
  end = end_of_attempt::decided;
  cuda_build_result result;
  const auto& python = triton_found();
  const auto visible = std::min(request.visible, request.kernels.size());
  for (const bool hidden : {false, true}) {
    const auto first = request.kernels.begin() + static_cast<std::ptrdiff_t>(hidden ? visible : 0);
    const auto last =
        hidden ? request.kernels.end() : request.kernels.begin() + static_cast<std::ptrdiff_t>(visible);
    if (first == last) continue;
    const triton_job job{&python,         &request.source,  {first, last}, request.architecture,
                         settings.limits, settings.sandbox, settings.cpus};
    exit_report report;
    auto answer = compile_with_triton(
        job, [&](const launch_spec& spec) { return launch(spec, stop); }, report);
    require_own_end(report, python.python, stop);
    result.compiler = report.ok() ? "Triton " + python.version : "";  // as in `attempt`
    if (answer.ok) {
      append(std::move(answer.module), hidden, result.module);
      continue;
    }
    result.module = {};
    const bool late = report.kind == exit_kind::timed_out;
    if (late) end = answer.lowered ? end_of_attempt::late : end_of_attempt::hung;
    const std::string reason = late ? fmt::format("Triton timed out after {} s", settings.limits.wall_s)
                               : report.ok() ? answer.error
                                             : "Triton " + describe(report);
    const std::string log = report.ok() ? answer.log : report.err;
    const std::string secret = "a kernel does not compile for a hidden workload";
    result.reasons.push_back(hidden ? secret : reason);
    result.diagnostics = hidden ? secret : cut_diagnostics(log, settings.diagnostics_bytes);
    return result;
  }
  result.ok = true;
  return result;
}

cuda_build_result cuda_compiler::state::attempt(const cuda_build_request& request,
                                                const std::stop_token& stop, end_of_attempt& end) {
  end = end_of_attempt::decided;
  cuda_build_result result;
  const bool by_nvcc = settings.compiler != "nvrtc";
  exit_report report;
  compile_answer answer;
  if (by_nvcc) {
    const nvcc_job job{program,         &request.source,  request.kernels, nvcc_options(request),
                       settings.limits, settings.sandbox, settings.cpus};
    answer = compile_with_nvcc(
        job, [&](const launch_spec& spec) { return launch(spec, stop); }, report);
  } else {
    auto spec = spec_of();
    spec.standard_input = encode(job_of(request));
    report = launch(spec, stop);
  }
  require_own_end(report, program, stop);
  if (by_nvcc && report.kind == exit_kind::exited && report.code != 0) {
    result.compiler = "nvcc";
    result.diagnostics = cut_diagnostics(steady(answer.log), settings.diagnostics_bytes);
    result.reasons.push_back(first_error(steady(answer.log), "nvcc " + describe(report)));
    return result;
  }
  if (!report.ok()) {
    const bool late = report.kind == exit_kind::timed_out;
    if (late) end = end_of_attempt::late;
    result.reasons.push_back(late ? fmt::format("the compiler timed out after {} s", settings.limits.wall_s)
                                  : "the compiler " + describe(report));
    result.diagnostics = cut_diagnostics(report.err, settings.diagnostics_bytes);
    return result;
  }
  if (!by_nvcc) answer = decode_compile_answer(report.out);
  result.compiler = by_nvcc ? "nvcc" : fmt::format("NVRTC {}.{}", answer.major, answer.minor);
  result.diagnostics = cut_diagnostics(steady(answer.log), settings.diagnostics_bytes);
  if (answer.status == compile_status::unavailable) {
    throw error(error_code::environment, "NVRTC cannot compile: " + cut_diagnostics(answer.message, 2000),
                {tools.library, 0, 0, {}},
                "architecture " + request.architecture + ", found by " + tools.found_by);
  }
  if (answer.status == compile_status::failed) {
    result.reasons.push_back(first_error(steady(answer.log), answer.message));
    return result;
  }
  auto& module = result.module;
  module.architecture = request.architecture;
  module.images = {answer.cubin};
  module.log = result.diagnostics;
  auto contents = read_cubin(answer.cubin);
  add_assembler_figures(answer.log, contents.kernels);
  if (!take_kernels(request, answer, contents.kernels, result)) return result;
  take_lasting(answer, std::move(contents), module);
  result.ok = true;
  return result;
}

cuda_compiler::cuda_compiler(cuda_compiler_settings settings, running_builds* pausable)
    : state_(std::make_unique<state>(std::move(settings), pausable)) {}
cuda_compiler::cuda_compiler(cuda_compiler&&) noexcept = default;
cuda_compiler& cuda_compiler::operator=(cuda_compiler&&) noexcept = default;
cuda_compiler::~cuda_compiler() = default;

const toolchain& cuda_compiler::tools() const {
  return state_->tools;
}
std::string cuda_compiler::identity() const {
  return state_->identity();
}
std::string cuda_compiler::identity_for(const program& source) const {
  return source.language == "triton" ? state_->triton_found().identity() : "";
}

cuda_build_result cuda_compiler::build(const cuda_build_request& request, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const auto finish = [start](cuda_build_result result) {
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  };
  if (request.source.files.empty()) throw error(error_code::usage, "the program contains no file");
  if (const auto name = unfit_file_name(request.source, "kevo_entry.cu")) {
    cuda_build_result refused;
    refused.reasons.push_back("this file name is not allowed: \"" + *name + '"');
    return finish(std::move(refused));
  }
  const auto key = state_->key_of(request);
  {
    const std::lock_guard lock(state_->mutex);
    if (const auto found = state_->known.find(key); found != state_->known.end()) {
      auto result = found->second;
      result.cached = true;
      return finish(std::move(result));
    }
  }
  auto end = end_of_attempt::decided;
  cuda_build_result result;
  if (auto kept = state_->on_disk.find(key)) {
    result = std::move(*kept);
    result.cached = true;
  } else {
    const auto attempt = [&] {
      return request.source.language == "triton" ? state_->attempt_triton(request, stop, end)
                                                 : state_->attempt(request, stop, end);
    };
    result = attempt();
    if (end == end_of_attempt::late) result = attempt();
    // A compiler that died may have died of the machine.
    if (end == end_of_attempt::decided && !result.compiler.empty()) state_->on_disk.keep(key, result);
  }
  if (end == end_of_attempt::decided) {
    const std::lock_guard lock(state_->mutex);
    if (state_->known.emplace(key, result).second) state_->order.push_back(key);
    while (state_->order.size() > state_->settings.remembered) {
      state_->known.erase(state_->order.front());
      state_->order.pop_front();
    }
  }
  return finish(std::move(result));
}

std::map<std::string, double> measures_of_module(const compiled_module& module) {
  std::map<std::string, double> measures;
  const auto largest = [&](const std::string& name, std::uint64_t value) {
    measures[name] = std::max(measures[name], static_cast<double>(value));
  };
  for (const auto& kernel : module.kernels) {
    if (kernel.hidden) continue;
    largest("registers", kernel.registers);
    largest("spill_bytes", std::uint64_t{kernel.spill_stores} + kernel.spill_loads);
    largest("shared_bytes", kernel.static_shared_bytes);
    largest("stack_bytes", kernel.stack_bytes);
    measures["code_bytes"] += static_cast<double>(kernel.code_bytes);
  }
  return measures;
}

std::string describe_resources(const compiled_module& module) {
  std::string text;
  for (const auto& kernel : module.kernels) {
    if (kernel.hidden) continue;
    text += fmt::format("{}: {} registers", kernel.name, kernel.registers);
    if (kernel.spill_stores + kernel.spill_loads > 0)
      text += fmt::format(", spills {} bytes stored and {} loaded", kernel.spill_stores, kernel.spill_loads);
    if (kernel.stack_bytes > 0) text += fmt::format(", {} bytes of stack", kernel.stack_bytes);
    text += fmt::format(", {} bytes of static shared memory, {} bytes of code\n", kernel.static_shared_bytes,
                        kernel.code_bytes);
  }
  return text;
}

}  // namespace kevo::cuda
