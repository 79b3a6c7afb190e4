#include "fitness/build/compiler.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/build/build_cache.hpp"
#include "fitness/build/compiler_process.hpp"
#include "fitness/process/descriptor.hpp"
#include "fitness/process/find_program.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "src/base/text/renamed_file.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

constexpr const char* protocol = "kevo build 3";
constexpr const char* entry_name = "kevo_entry.cpp";
constexpr const char* object_name = "candidate.so";

std::string compiler_path(const std::string& name) {
  auto path = find_program(name);
  if (path.empty()) {
    throw error(error_code::environment, "the compiler was not found: " + name, {},
                "install it, or choose another compiler with fitness.compiler");
  }
  return path;
}

/// What -march=native means here.
std::string processor_identity() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const char* key :
         {"vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU part"}) {
      if (line.starts_with(key)) text += line + '\n';
    }
  }
  return text;
}

bool is_native(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(),
                     [](const std::string& flag) { return flag.ends_with("=native"); });
}

/// Compilers differ in the language they take by default, and most of them lag behind what people write.
constexpr const char* standard_flag = "-std=gnu++20";

bool names_standard(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(),
                     [](const std::string& flag) { return flag.starts_with("-std="); });
}

void write_source(const std::string& folder, const std::string& name, std::string_view text) {
  const fs::path path = fs::path(folder) / name;
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  const detail::descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  bool good = static_cast<bool>(file);
  for (std::size_t at = 0; good && at < text.size();) {
    const ssize_t written = ::write(file.get(), text.data() + at, text.size() - at);
    good = written > 0;
    if (good) at += static_cast<std::size_t>(written);
  }
  if (!good)
    throw error(error_code::environment,
                "cannot write a candidate's source: " + std::string(std::strerror(errno)));
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

bool contains_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

bool lacked_memory(const exit_report& report) {
  return contains_any(report.err, {"out of memory", "Cannot allocate memory", "virtual memory exhausted",
                                   "std::bad_alloc", "memory exhausted", "Killed signal terminated program"});
}

std::string seconds(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

std::vector<std::string> unit_options(const std::vector<std::string>& flags) {
  std::vector<std::string> result;
  if (!names_standard(flags)) result.emplace_back(standard_flag);
  result.insert(result.end(), flags.begin(), flags.end());
  result.emplace_back("-fPIC");
  return result;
}

std::vector<std::string> numeric_libraries() {
  constexpr std::array<std::string_view, 45> names = {
      "eigen3",        "boost",    "openblas",     "libopenblas", "blas",     "libblas",     "cblas",
      "libcblas",      "lapack",   "liblapack",    "atlas",       "libatlas", "blis",        "libblis",
      "libflame",      "libmkl",   "mkl",          "libfftw",     "fftw3",    "libgsl",      "gsl",
      "dnnl",          "libdnnl",  "libarmadillo", "armadillo",   "libtorch", "torch",       "libonnx",
      "libvecf",       "libvolk",  "libxsmm",      "xsmm",        "python3",  "libgfortran", "libcaf_",
      "libtensorflow", "libggml",  "libopenvino",  "libopencv",   "opencv4",  "libsuperlu",  "libumfpack",
      "libcholmod",    "libceres", "libdlib"};
  std::vector<std::string> folders = {"/usr/include",  "/usr/include/x86_64-linux-gnu", "/usr/lib",
                                      "/usr/lib64",    "/usr/lib/x86_64-linux-gnu",     "/usr/local/include",
                                      "/usr/local/lib"};
  std::error_code code;
  // A compiler's own folders hold the libraries of its other languages: Fortran's has a matrix product.
  for (const char* base : {"/usr/lib/gcc/x86_64-linux-gnu", "/usr/lib/gcc/aarch64-linux-gnu",
                           "/usr/lib/gcc/x86_64-redhat-linux", "/usr/local/lib/gcc/x86_64-linux-gnu"}) {
    for (fs::directory_iterator at(base, code), end; !code && at != end; at.increment(code))
      folders.push_back(at->path().string());
  }
  std::vector<std::string> result;
  for (const auto& folder : folders) {
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
      const std::string name = at->path().filename().string();
      const auto names_it = [&name](std::string_view prefix) { return name.starts_with(prefix); };
      if (std::any_of(names.begin(), names.end(), names_it)) result.push_back(at->path().string());
    }
  }
  // oneTBB, with which the C++ library runs parallel algorithms, is no library of kernels; its neighbours
  // are.
  for (const char* base : {"/usr/include/oneapi", "/usr/local/include/oneapi"}) {
    for (fs::directory_iterator at(base, code), end; !code && at != end; at.increment(code)) {
      if (!at->path().filename().string().starts_with("tbb")) result.push_back(at->path().string());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

process_limits compiler_settings::default_limits() {
  process_limits limits;
  limits.wall_s = 60;
  limits.cpu_s = 120;
  limits.memory_bytes = std::uint64_t{4} << 30U;
  limits.processes = 64;
  limits.file_bytes = 256U << 20U;
  limits.output_bytes = 1U << 20U;
  limits.scratch_bytes = 256U << 20U;
  return limits;
}

struct compiler::state {
  state(compiler_settings given, running_builds* shared)
      : settings(std::move(given)),
        contained(contains(settings.sandbox)),
        cache(settings.cache_folder),
        pausable(shared) {}

  compiler_settings settings;
  bool contained;
  detail::build_cache cache;
  running_builds* pausable;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::set<content_id> running;
  std::map<std::string, std::string> versions;  // by path, size and time of the program

  exit_report launch_and_wait(const launch_spec& spec, const std::stop_token& stop) const {
    return pausable != nullptr ? pausable->run(spec, stop) : kevo::run(spec, stop);
  }

  launch_spec spec_for(const std::string& program) const {
    auto spec = compiler_launch(settings.limits, settings.sandbox, settings.cpus);
    spec.argv = {program};
    // Nothing of ours: collect2 looks for the linker along PATH.
    spec.environment = {"PATH=" + fs::path(program).parent_path().string() + ":/usr/bin:/bin", "LC_ALL=C"};
    spec.mounts = toolchain_mounts(program);
    spec.hidden = settings.hidden;
    return spec;
  }

  std::string version(const std::string& path) {
    std::error_code code;
    const auto real = fs::canonical(path, code);
    const auto time = fs::last_write_time(real, code).time_since_epoch().count();
    const std::string key = path + '\n' + real.string() + '\n' + std::to_string(time);
    {
      const std::lock_guard lock(mutex);
      if (const auto found = versions.find(key); found != versions.end()) return found->second;
    }
    auto spec = spec_for(path);
    spec.argv.emplace_back("--version");
    const auto report = kevo::run(spec);
    if (!report.ok() || report.out.empty()) {
      throw error(error_code::environment, path + " --version " + describe(report) + ": " + report.err);
    }
    std::string line = report.out.substr(0, report.out.find('\n'));
    const std::lock_guard lock(mutex);
    return versions[key] = line;
  }

  content_id key_of(const build_request& request, const std::string& path) {
    content_hasher hash;
    const auto id = id_of(request.source);
    hash.text(protocol).number(id.high).number(id.low).text(request.entry_text);
    hash.text(path).text(version(path));
    for (const std::vector<std::string>* list :
         {&request.flags, &request.link, &std::as_const(settings.hidden)}) {
      hash.number(list->size());
      for (const auto& item : *list) hash.text(item);
    }
    hash.text(is_native(request.flags) ? processor_identity() : "");
    // What a sandboxed compiler finds differs from what a free one does, and a time-out from a longer one.
    hash.number(contained ? 1 : 0).number(settings.object_bytes);
    hash.text(seconds(settings.limits.wall_s))
        .number(settings.limits.memory_bytes)
        .number(settings.limits.data_bytes);
    return hash.finish();
  }

  bool succeeded(const exit_report& report, const std::string& first, const std::string& output,
                 const scratch_folder& scratch, build_result& result, bool& again) const;
  build_result attempt(const build_request& request, const std::string& path, const content_id& key,
                       const std::stop_token& stop, bool& again);
};

// Whether the compiler ended well; else `result` has the reason, and `again` says that a second try may end
// otherwise. @param first the first error that the compiler states; empty if there is none
bool compiler::state::succeeded(const exit_report& report, const std::string& first,
                                const std::string& output, const scratch_folder& scratch,
                                build_result& result, bool& again) const {
  switch (report.kind) {
    case exit_kind::timed_out:
      result.reasons.push_back("the compiler timed out after " + seconds(settings.limits.wall_s) + " s");
      again = true;
      return false;
    case exit_kind::output_exceeded:
      result.reasons.push_back("the compiler printed more than " +
                               std::to_string(settings.limits.output_bytes) + " bytes");
      return false;
    case exit_kind::signalled:
      result.reasons.push_back("the compiler " + describe(report));
      again = true;
      return false;
    case exit_kind::exited:
    case exit_kind::cancelled:
    case exit_kind::not_started:
      break;
  }
  if (report.code == 0) return true;
  if (lacked_memory(report)) {
    result.reasons.push_back("the compiler ran out of memory (" +
                             std::to_string(settings.limits.memory_bytes >> 20U) + " MiB allowed)");
    again = true;
    return false;
  }
  if (contains_any(report.err, {"No space left on device"})) {
    struct statvfs disk = {};
    if (::statvfs(output.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < (std::uint64_t{16} << 20U))
      throw error(error_code::environment, "the disk has no free space for builds",
                  {scratch.path(), 0, 0, {}},
                  "free some disk space, or set TMPDIR to a folder on another disk");
  }
  result.reasons.push_back(first.empty() ? "the compiler " + describe(report) : first);
  return false;
}

// One run of the compiler. `again` says that a second try may end otherwise.
build_result compiler::state::attempt(const build_request& request, const std::string& path,
                                      const content_id& key, const std::stop_token& stop, bool& again) {
  build_result result;
  again = false;
  const scratch_folder scratch(contained || settings.sandbox != sandbox_mode::off);
  const std::string sources = scratch.folder("src");
  const std::string output = scratch.folder("out");
  for (const auto& file : request.source.files) write_source(sources, file.path, file.text);
  if (!request.entry_text.empty()) write_source(sources, entry_name, request.entry_text);
  let_everyone_read(sources);

  auto spec = spec_for(path);
  spec.mounts.push_back({sources, "/src"});
  spec.mounts.push_back({output, "/out", true});
  spec.directory = "/src";
  const auto options = unit_options(request.flags);
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  spec.argv.insert(spec.argv.end(),
                   {"-shared", "-o", std::string("/out/") + object_name,
                    request.entry_text.empty() ? request.source.files.front().path : entry_name});
  const auto libraries = library_flags(request.flags);
  spec.argv.insert(spec.argv.end(), libraries.begin(), libraries.end());
  spec.argv.insert(spec.argv.end(), request.link.begin(), request.link.end());
  result.report = launch_and_wait(spec, stop);
  const auto& report = result.report;

  result.diagnostics = report.err;
  for (const auto& folder : {sources, std::string("/src")}) replace_all(result.diagnostics, folder + "/", "");
  for (const auto& folder : {output, std::string("/out")}) replace_all(result.diagnostics, folder + "/", "");
  for (const auto& file : request.source.files)  // clang names what it finds beside kevo's file so
    result.diagnostics = with_renamed_file(result.diagnostics, "./" + file.path, file.path);
  const std::string first = at_own_place(first_error(result.diagnostics, ""), result.diagnostics, entry_name,
                                         request.entry_text);  // may lie behind the cut
  result.diagnostics = cut_diagnostics(std::move(result.diagnostics), settings.diagnostics_bytes);

  require_own_end(report, path, stop);
  if (!succeeded(report, first, output, scratch, result, again)) return result;

  // What lies there was written by a process that a candidate may have steered: no links, no devices, no
  // surprises in size.
  const detail::descriptor folder(::open(output.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const detail::descriptor object(
      ::openat(folder.get(), object_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info = {};
  if (!object || ::fstat(object.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    result.reasons.emplace_back("the compiler produced no object file");
    return result;
  }
  if (static_cast<std::uint64_t>(info.st_size) > settings.object_bytes) {
    result.reasons.push_back("the object file is larger than " + std::to_string(settings.object_bytes) +
                             " bytes");
    return result;
  }
  result.ok = true;
  return cache.store(key, std::move(result), object.get(), settings.object_bytes);
}

compiler::compiler(compiler_settings settings, running_builds* pausable)
    : state_(std::make_unique<state>(std::move(settings), pausable)) {}
compiler::compiler(compiler&&) noexcept = default;
compiler& compiler::operator=(compiler&&) noexcept = default;
compiler::~compiler() = default;

std::string compiler::version_of(const std::string& name) {
  return state_->version(compiler_path(name));
}

build_result compiler::build(const build_request& request, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const auto finish = [start](build_result result) {
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  };
  if (request.source.files.empty()) {
    build_result refused;
    refused.reasons.emplace_back("the program contains no file");
    return finish(std::move(refused));
  }
  if (const auto name = unfit_file_name(request.source, entry_name)) {
    build_result refused;
    refused.reasons.push_back("this file name is not allowed: \"" + *name + '"');
    return finish(std::move(refused));
  }
  const std::string path = compiler_path(request.compiler);
  const auto key = state_->key_of(request, path);

  std::unique_lock lock(state_->mutex);
  if (!state_->changed.wait(lock, stop, [&] { return !state_->running.contains(key); })) {
    throw error(error_code::interrupted, "interrupted before a build started");
  }
  if (auto known = state_->cache.find(key)) return finish(std::move(*known));
  state_->running.insert(key);
  lock.unlock();
  const struct leaving {
    compiler::state& owner;
    const content_id& key;
    ~leaving() {
      const std::lock_guard guard(owner.mutex);
      owner.running.erase(key);
      owner.changed.notify_all();
    }
  } at_end{*state_, key};

  bool again = false;
  auto result = state_->attempt(request, path, key, stop, again);
  if (!result.ok && again) result = state_->attempt(request, path, key, stop, again);
  if (!result.ok) result = state_->cache.store(key, std::move(result), -1, 0);
  return finish(std::move(result));
}

}  // namespace kevo
