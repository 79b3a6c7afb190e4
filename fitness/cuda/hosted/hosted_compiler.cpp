#include "fitness/cuda/hosted/hosted_compiler.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>

#include "fitness/build/build_choices.hpp"
#include "fitness/build/compiler_process.hpp"
#include "fitness/build/libraries.hpp"
#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/compile/nvcc.hpp"
#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/cuda/hosted/torch_libraries.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"

namespace kevo::cuda {
namespace fs = std::filesystem;
namespace {

constexpr const char* protocol = "kevo hosted 2";
constexpr std::size_t remembered = 64;

// What a candidate may load. The driver's library is opened by the CUDA runtime within the object.
constexpr std::array<std::string_view, 9> allowed = {"libc.so",       "libm.so",  "libdl.so",
                                                     "libpthread.so", "librt.so", "libstdc++.so",
                                                     "libgcc_s.so",   "ld-linux", "libcuda.so"};

std::vector<std::string> needed_by(const std::string& object) {
  const scratch_folder scratch(false);
  const auto path = scratch.path() + "/object.so";
  std::ofstream(path, std::ios::binary) << object;
  return needed_libraries(path);
}

// Machine code alone: with -arch=sm_90a, nvcc compiles the program a second time, to PTX that no worker
// loads.
std::string machine_code_for(const std::string& architecture) {
  constexpr std::string_view prefix = "sm_";
  if (!architecture.starts_with(prefix)) return "-arch=" + architecture;
  return "-gencode=arch=compute_" + architecture.substr(prefix.size()) + ",code=" + architecture;
}

// Where the loader looks outside of a sandbox.
constexpr std::array<const char*, 3> system_library_folders = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                                                               "/usr/lib/aarch64-linux-gnu"};

// A file name that cannot be written, or cannot stand in a line of the entry.
std::optional<std::string> unfit(const program& source) {
  for (const auto& file : source.files) {
    if (file.path.find_first_of("\"\\\n") != std::string::npos) return file.path;
  }
  return unfit_file_name(source, "kevo_entry.cu");
}

}  // namespace

struct hosted_compiler::state {
  explicit state(hosted_compiler_settings given)
      : settings(std::move(given)), nvcc(find_hosted_nvcc(settings.nvcc)) {
    if (nvcc.empty()) {
      missing =
          "nvcc was not found (searched: KEVO_NVCC, CUDA_HOME, CUDA_PATH, PATH and /usr/local/cuda), so that "
          "hosted programs cannot be built";
    } else {
      version = nvcc_version(nvcc);
    }
  }

  hosted_compiler_settings settings;
  std::string nvcc;
  std::string missing;
  std::string version;  // "nvcc 13.0"
  std::mutex mutex;
  std::map<content_id, hosted_object> known;
  std::deque<content_id> order;  // of `known`, oldest first
  std::map<std::vector<std::string>, torch_libraries> torch;

  std::string identity() const {
    if (nvcc.empty()) return "no nvcc";
    std::error_code code;
    const auto time = fs::last_write_time(nvcc, code).time_since_epoch().count();
    return fmt::format("{} {} {} {}", protocol, nvcc, time, settings.standard);
  }
  hosted_object make(const hosted_job& job, const std::stop_token& stop) const;
  std::vector<std::string> folders_of(const std::vector<std::string>& needed) const;
  std::vector<std::string> folders_with_torch(const std::vector<std::string>& of_torch) const;
  torch_libraries torch_for(const std::vector<std::string>& link);
};

// Of those that a trusted program is linked with; nothing if it needs none of them.
torch_libraries hosted_compiler::state::torch_for(const std::vector<std::string>& link) {
  std::vector<std::string> wanted;
  std::copy_if(link.begin(), link.end(), std::back_inserter(wanted), is_of_torch);
  if (wanted.empty()) return {};
  const std::lock_guard lock(mutex);
  auto found = torch.find(wanted);
  if (found == torch.end()) {
    found = torch.emplace(wanted, find_torch_libraries(wanted, settings.python, contains(settings.sandbox)))
                .first;
  }
  return found->second;
}

// Where what a trusted object needs lies, if neither the loader nor the sandbox brings it anyway.
std::vector<std::string> hosted_compiler::state::folders_of(const std::vector<std::string>& needed) const {
  std::vector<std::string> folders;
  std::error_code code;
  auto places = toolkit_library_folders(nvcc);
  places.insert(places.end(), system_library_folders.begin(), system_library_folders.end());
  for (const auto& name : needed) {
    const auto usual = [&name](std::string_view start) { return name.starts_with(start); };
    if (std::any_of(allowed.begin(), allowed.end(), usual)) continue;
    for (const auto& place : places) {
      if (!fs::exists(fs::path(place) / name, code)) continue;
      const auto folder = fs::canonical(place, code).string();
      if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
      break;
    }
  }
  return folders;
}

// PyTorch's libraries need many others, of Python packages, of the toolkit or of the system: all those
// folders are seen, so that the loader chooses as it does in a process of Python.
std::vector<std::string> hosted_compiler::state::folders_with_torch(
    const std::vector<std::string>& of_torch) const {
  auto places = toolkit_library_folders(nvcc);
  places.insert(places.end(), system_library_folders.begin(), system_library_folders.end());
  auto folders = of_torch;
  std::error_code code;
  for (const auto& place : places) {
    const auto folder = fs::canonical(place, code).string();
    if (!code && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  }
  return folders;
}

hosted_object hosted_compiler::state::make(const hosted_job& job, const std::stop_token& stop) const {
  exit_report report;
  const auto answer = compile_hosted(
      job, [&](const launch_spec& spec) { return kevo::run(spec, stop); }, report);
  require_own_end(report, nvcc, stop);
  hosted_object made;
  made.diagnostics = cut_diagnostics(answer.log, settings.diagnostics_bytes);
  if (report.kind == exit_kind::timed_out) {
    made.reasons.push_back(fmt::format("nvcc timed out after {} s", job.limits.wall_s));
    return made;
  }
  if (!answer.ok) {
    const std::string otherwise = answer.message.empty() ? "nvcc " + describe(report) : answer.message;
    made.reasons.push_back(first_error(answer.log, otherwise));
    if (made.diagnostics.empty()) made.diagnostics = otherwise;
    return made;
  }
  made.needed = needed_by(answer.object);
  for (const auto& name : made.needed) {
    const auto usual = [&name](std::string_view start) { return name.starts_with(start); };
    if (job.trusted || std::any_of(allowed.begin(), allowed.end(), usual)) continue;
    made.reasons.push_back("needs the library " + name + ", which candidates are not allowed to load");
    made.diagnostics += made.reasons.back();
    return made;
  }
  if (job.trusted) {
    // What a task names but the object does not call may still be what another library loads later.
    auto names = made.needed;
    for (const auto& library : job.link) names.push_back("lib" + library + ".so");
    made.folders = job.library_folders.empty() ? folders_of(names) : folders_with_torch(job.library_folders);
  }
  made.object = answer.object;
  made.ok = true;
  return made;
}

hosted_compiler::hosted_compiler(hosted_compiler_settings settings)
    : state_(std::make_unique<state>(std::move(settings))) {}
hosted_compiler::hosted_compiler(hosted_compiler&&) noexcept = default;
hosted_compiler& hosted_compiler::operator=(hosted_compiler&&) noexcept = default;
hosted_compiler::~hosted_compiler() = default;

const std::string& hosted_compiler::missing() const {
  return state_->missing;
}
std::string hosted_compiler::identity() const {
  return state_->identity();
}

hosted_object hosted_compiler::build(const task& t, const program& source, const std::string& architecture,
                                     const std::vector<std::string>& flags, bool trusted,
                                     const std::vector<std::string>& link, std::stop_token stop) {
  if (source.files.empty()) throw error(error_code::usage, "the program contains no file");
  hosted_object refused;
  if (!missing().empty()) {
    refused.reasons.push_back(missing());
    refused.diagnostics = missing() + "; install the CUDA toolkit, or use launch lines instead of host code";
    return refused;
  }
  if (const auto name = unfit(source)) {
    refused.reasons.push_back("this file name is not allowed: \"" + *name + '"');
    refused.diagnostics = refused.reasons.back();
    return refused;
  }
  hosted_job job;
  job.nvcc = state_->nvcc;
  job.source = &source;
  job.entry = hosted_entry(t, source.files.front().path);
  job.options = {machine_code_for(architecture), "-std=" + state_->settings.standard, "-O3"};
  job.options.insert(job.options.end(), flags.begin(), flags.end());
  try {
    const auto permission = trusted ? fast_math_permission{true, {}} : fast_math_of(t);
    const auto chosen = build_choices_of(source, build_family::hosted_cuda, permission);
    const auto words = cuda_words(chosen);
    job.options.insert(job.options.end(), words.begin(), words.end());
    refused.choices = chosen.text();
  } catch (const error& failure) {
    if (failure.code() != error_code::input) throw;
    refused.reasons.emplace_back(failure.what());
    refused.diagnostics = refused.reasons.back();
    return refused;
  }
  job.trusted = trusted;
  job.link = link;
  if (trusted) {
    auto found = state_->torch_for(link);
    if (!found.missing.empty()) {
      refused.reasons.push_back(found.missing);
      refused.diagnostics = found.missing;
      return refused;
    }
    job.library_folders = std::move(found.folders);
  }
  job.limits = cuda_compiler_settings::default_limits();
  job.limits.wall_s = state_->settings.wall_s;
  job.limits.cpu_s = 2 * state_->settings.wall_s;
  job.limits.scratch_bytes = 256U << 20U;
  job.sandbox = state_->settings.sandbox;

  content_hasher hash;
  const auto id = id_of(source);
  hash.text(identity()).number(id.high).number(id.low).text(job.entry).number(trusted ? 1 : 0);
  for (const std::vector<std::string>* list :
       {&std::as_const(job.options), &link, &std::as_const(job.library_folders)}) {
    hash.number(list->size());
    for (const auto& item : *list) hash.text(item);
  }
  const auto key = hash.finish();
  {
    const std::lock_guard lock(state_->mutex);
    if (const auto found = state_->known.find(key); found != state_->known.end()) return found->second;
  }
  auto made = state_->make(job, stop);
  made.choices = refused.choices;
  made.compiler = state_->version;
  const std::lock_guard lock(state_->mutex);
  if (state_->known.emplace(key, made).second) state_->order.push_back(key);
  while (state_->order.size() > remembered) {
    state_->known.erase(state_->order.front());
    state_->order.pop_front();
  }
  return made;
}

}  // namespace kevo::cuda
