#include "fitness/build/compiler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "fitness/build/build_cache.hpp"
#include "fitness/build/build_try.hpp"
#include "fitness/build/compiler_process.hpp"
#include "fitness/build/instruction_sets.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/process/find_program.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

constexpr const char* protocol = "kevo build 4";

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

}  // namespace

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
        pausable(shared),
        places(std::random_device{}()) {}

  compiler_settings settings;
  bool contained;
  detail::build_cache cache;
  running_builds* pausable;
  // Where programs are placed: nobody knows it before, so that no program can be made for these places.
  rng places;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::set<content_id> running;
  std::map<std::string, std::string> versions;  // by path, size and time of the program

  std::string version(const std::string& path) {
    std::error_code code;
    const auto real = fs::canonical(path, code);
    const auto time = fs::last_write_time(real, code).time_since_epoch().count();
    const std::string key = path + '\n' + real.string() + '\n' + std::to_string(time);
    {
      const std::lock_guard lock(mutex);
      if (const auto found = versions.find(key); found != versions.end()) return found->second;
    }
    auto spec = detail::spec_of_compiler(settings, path);
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
    hash.text(protocol)
        .number(id.high)
        .number(id.low)
        .text(request.entry.declaration)
        .text(request.entry.text);
    hash.number(request.fast_math.allowed ? 1 : 0)
        .text(request.fast_math.allowed ? "" : request.fast_math.why);
    hash.text(path).text(version(path));
    for (const std::vector<std::string>* list :
         {&request.flags, &request.link, &std::as_const(settings.hidden)}) {
      hash.number(list->size());
      for (const auto& item : *list) hash.text(item);
    }
    hash.text(is_native(request.flags) ? processor_identity() : "");
    if (request.executable) hash.text("executable");
    // What a sandboxed compiler finds differs from what a free one does, and a time-out from a longer one.
    hash.number(contained ? 1 : 0).number(settings.object_bytes);
    hash.text(detail::seconds_text(settings.limits.wall_s))
        .number(settings.limits.memory_bytes)
        .number(settings.limits.data_bytes);
    return hash.finish();
  }

  build_result attempt(const build_request& request, const std::string& path, const content_id& key,
                       const std::stop_token& stop, bool& again);
  std::vector<std::string> place(const build_request& request, const std::string& path,
                                 const std::vector<content_id>& keys, std::size_t first,
                                 const std::stop_token& stop);
};

// `again` says that a second try may end otherwise.
build_result compiler::state::attempt(const build_request& request, const std::string& path,
                                      const content_id& key, const std::stop_token& stop, bool& again) {
  detail::build_try build(settings, pausable, request, path, stop);
  const auto object = build.link();
  again = build.again();
  if (!object) return std::move(build.result());
  build.result().ok = true;
  return cache.store(key, std::move(build.result()), object.get(), settings.object_bytes);
}

// Compiles once and links for each placement. @param keys of the objects
std::vector<std::string> compiler::state::place(const build_request& request, const std::string& path,
                                                const std::vector<content_id>& keys, std::size_t first,
                                                const std::stop_token& stop) {
  constexpr int most_tries = 2;
  for (int tries = 1;; ++tries) {
    detail::build_try build(settings, pausable, request, path, stop);
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto object = build.link(places.split(first + i));
      if (!object) break;
      build_result made;
      made.ok = true;
      paths.push_back(cache.store(keys[i], std::move(made), object.get(), settings.object_bytes).object_path);
    }
    if (paths.size() == keys.size()) return paths;
    if (build.again() && tries < most_tries) continue;
    const auto& failed = build.result();
    throw error(error_code::environment,
                "a program that was built cannot be linked again: " +
                    (failed.reasons.empty() ? failed.diagnostics : failed.reasons.front()),
                {}, "free memory and disk space, then continue with `kevo resume`");
  }
}

compiler::compiler(compiler_settings settings, running_builds* pausable)
    : state_(std::make_unique<state>(std::move(settings), pausable)) {}
compiler::compiler(compiler&&) noexcept = default;
compiler& compiler::operator=(compiler&&) noexcept = default;
compiler::~compiler() = default;

std::string compiler::version_of(const std::string& name) {
  return state_->version(compiler_path(name));
}

std::string compiler::instruction_sets_of(const std::string& name, const std::vector<std::string>& flags) {
  auto spec = detail::spec_of_compiler(state_->settings, compiler_path(name));
  for (const auto& flag : unit_options(flags)) spec.argv.push_back(flag);
  for (const char* word : {"-dM", "-E", "-x", "c++", "/dev/null"}) spec.argv.emplace_back(word);
  const auto report = kevo::run(spec);
  return report.ok() ? instruction_sets_in(report.out) : std::string();
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
  if (const auto name = unfit_file_name(request.source, detail::entry_file)) {
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

std::vector<std::string> compiler::place(const build_request& request, std::size_t first, std::size_t count,
                                         std::stop_token stop) {
  const std::string path = compiler_path(request.compiler);
  const auto program = state_->key_of(request, path);
  std::vector<content_id> keys;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back(content_hasher()
                       .text("placement 1")
                       .number(program.high)
                       .number(program.low)
                       .number(state_->places.split(first + i)())
                       .finish());
    if (const auto found = state_->cache.find(keys.back()); found && found->ok)
      known.push_back(found->object_path);
  }
  return known.size() == count ? known : state_->place(request, path, keys, first, stop);
}

}  // namespace kevo
