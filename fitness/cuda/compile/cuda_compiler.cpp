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
#include "fitness/cuda/compile/module_parts.hpp"
#include "fitness/cuda/compile/nvcc.hpp"
#include "fitness/cuda/compile/standard_headers.hpp"
#include "fitness/cuda/compile/triton.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::cuda {
namespace fs = std::filesystem;
namespace {

constexpr const char* nvrtc_protocol = "kevo nvrtc 3";
constexpr const char* nvcc_protocol = "kevo nvcc 2";

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

std::vector<std::string> joined(std::vector<std::string> options, const std::vector<std::string>& flags,
                                const std::vector<std::string>& chosen) {
  options.insert(options.end(), flags.begin(), flags.end());
  options.insert(options.end(), chosen.begin(), chosen.end());
  return options;
}

cuda_build_result refused(std::string reason) {
  cuda_build_result result;
  result.diagnostics = reason;
  result.reasons.push_back(std::move(reason));
  return result;
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

std::vector<std::string> nvrtc_options(const cuda_build_request& request, const build_choices& chosen,
                                       const std::string& standard) {
  return joined({"--gpu-architecture=" + request.architecture, "--std=" + standard, "--ptxas-options=-v",
                 "--device-int128"},
                request.flags, cuda_words(chosen));
}

std::vector<std::string> nvcc_options(const cuda_build_request& request, const build_choices& chosen,
                                      const std::string& standard) {
  return joined({"-arch=" + request.architecture, "-std=" + standard, "-Xptxas", "-v"}, request.flags,
                cuda_words(chosen));
}

std::vector<source_text> nvrtc_headers() {
  auto headers = standard_headers();
  // The toolkit's own has host functions, which NVRTC does not take.
  headers.push_back({"cub/cub.cuh", cub_without_device()});
  return headers;
}

struct cuda_compiler::state {
  /// An nvcc of this machine; an empty path: there is none.
  struct nvcc_here {
    std::string path;
    std::string version;
  };

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
  std::optional<nvcc_here> nvcc;       // found when the first program that chooses it comes
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

  bool by_nvcc(const build_choices& chosen) const {
    return chosen.value("compiler", settings.compiler) != "nvrtc";
  }

  const nvcc_here& nvcc_found() {
    const std::lock_guard lock(mutex);
    if (!nvcc) {
      nvcc.emplace();
      nvcc->path = settings.compiler == "nvrtc" ? find_hosted_nvcc(settings.nvcc) : program;
      if (!nvcc->path.empty()) nvcc->version = nvcc_version(nvcc->path);
    }
    return *nvcc;
  }
  std::string nvcc_identity() {
    const auto& found = nvcc_found();
    std::error_code code;
    const auto time = fs::last_write_time(found.path, code).time_since_epoch().count();
    return fmt::format("{}\n{}\n{} {}\n", nvcc_protocol, found.version, found.path, time);
  }

  content_id key_of(const cuda_build_request& request, const build_choices& chosen) {
    content_hasher hash;
    if (!chosen.empty()) hash.text(chosen.text());
    if (by_nvcc(chosen)) hash.text(nvcc_identity());
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
    spec.environment = {"PATH=/nonexistent", "LC_ALL=C", "TZ=UTC0"};
    return spec;
  }

  compile_job job_of(const cuda_build_request& request, const build_choices& chosen) const {
    compile_job job;
    job.options = nvrtc_options(request, chosen, settings.standard);
    job.kernels = request.kernels;
    for (const auto& file : request.source.files) job.sources.push_back({file.path, file.text});
    for (auto& header : nvrtc_headers()) job.sources.push_back(std::move(header));
    return job;
  }

  cuda_build_result attempt(const cuda_build_request& request, const build_choices& chosen,
                            const std::stop_token& stop, end_of_attempt& end);
  cuda_build_result attempt_triton(const cuda_build_request& request, const build_choices& chosen,
                                   const std::stop_token& stop, end_of_attempt& end);
  std::string against(const cuda_build_request& request, const build_choices& chosen);
  exit_report launch(const launch_spec& spec, const std::stop_token& stop) const {
    return pausable != nullptr ? pausable->run(spec, stop) : kevo::run(spec, stop);
  }
};

// The variants that only hidden workloads launch are compiled apart: a program's file, which is executed
// then, can see their names, and its messages are told to nobody.
cuda_build_result cuda_compiler::state::attempt_triton(const cuda_build_request& request,
                                                       const build_choices& chosen,
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
                         settings.limits, settings.sandbox, settings.cpus, triton_words(chosen)};
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
                                                const build_choices& chosen, const std::stop_token& stop,
                                                end_of_attempt& end) {
  end = end_of_attempt::decided;
  cuda_build_result result;
  const bool nvcc_compiles = by_nvcc(chosen);
  exit_report report;
  compile_answer answer;
  if (nvcc_compiles) {
    nvcc_job job{nvcc_found().path, &request.source,
                 request.kernels,   nvcc_options(request, chosen, settings.standard),
                 settings.limits,   settings.sandbox,
                 settings.cpus};
    job.limits.scratch_bytes = std::max<std::uint64_t>(job.limits.scratch_bytes, 256U << 20U);
    answer = compile_with_nvcc(
        job, [&](const launch_spec& spec) { return launch(spec, stop); }, report);
  } else {
    auto spec = spec_of();
    spec.standard_input = encode(job_of(request, chosen));
    report = launch(spec, stop);
  }
  require_own_end(report, nvcc_compiles ? nvcc_found().path : program, stop);
  if (nvcc_compiles && report.kind == exit_kind::exited && report.code != 0) {
    result.compiler = nvcc_found().version;
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
  if (!nvcc_compiles) answer = decode_compile_answer(report.out);
  result.compiler =
      nvcc_compiles ? nvcc_found().version : fmt::format("NVRTC {}.{}", answer.major, answer.minor);
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
  if (source.language == "triton") return state_->triton_found().identity();
  try {
    const auto chosen = build_choices_of(source, build_family::cuda, {true, {}});
    return state_->by_nvcc(chosen) ? state_->nvcc_identity() : "";
  } catch (const error& failure) {  // it will not be compiled
    if (failure.code() != error_code::input) throw;
    return "";
  }
}

// Why a program cannot be compiled as it chooses; empty if it can.
std::string cuda_compiler::state::against(const cuda_build_request& request, const build_choices& chosen) {
  if (request.source.language == "triton" || !by_nvcc(chosen)) {
    const bool absent = settings.compiler != "nvrtc" && chosen.value("compiler") == "nvrtc";
    return absent ? "the program chooses the compiler nvrtc, and this evaluator compiles with nvcc alone"
                  : "";
  }
  if (nvcc_found().path.empty())
    return "the program chooses the compiler nvcc, which was not found (searched: KEVO_NVCC, CUDA_HOME, "
           "CUDA_PATH, PATH and /usr/local/cuda) or is refused by fitness.nvcc";
  for (const auto& file : request.source.files) {
    if (file.path.find_first_of("\"\\\n") != std::string::npos)
      return "this file name is not allowed: \"" + file.path + '"';
  }
  return "";
}

cuda_build_result cuda_compiler::build(const cuda_build_request& request, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  build_choices chosen;
  const auto finish = [&](cuda_build_result result) {
    result.chosen = chosen;
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  };
  if (request.source.files.empty()) throw error(error_code::usage, "the program contains no file");
  if (const auto name = unfit_file_name(request.source, "kevo_entry.cu")) {
    return finish(refused("this file name is not allowed: \"" + *name + '"'));
  }
  try {
    const bool triton = request.source.language == "triton";
    chosen = build_choices_of(request.source, triton ? build_family::triton : build_family::cuda,
                              request.fast_math);
  } catch (const error& failure) {
    if (failure.code() != error_code::input) throw;
    return finish(refused(failure.what()));
  }
  if (auto why = state_->against(request, chosen); !why.empty()) return finish(refused(std::move(why)));
  const auto key = state_->key_of(request, chosen);
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
      return request.source.language == "triton" ? state_->attempt_triton(request, chosen, stop, end)
                                                 : state_->attempt(request, chosen, stop, end);
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

}  // namespace kevo::cuda
