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
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "fitness/build/build_cache.hpp"
#include "fitness/build/compiler_process.hpp"
#include "fitness/build/fast_math.hpp"
#include "fitness/build/loaded_parts.hpp"
#include "fitness/process/descriptor.hpp"
#include "fitness/process/find_program.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "fitness/worker/thread_runtime.hpp"
#include "src/base/text/renamed_file.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

constexpr const char* protocol = "kevo build 4";
constexpr const char* entry_name = "kevo_entry.cpp";
constexpr const char* unit_name = "candidate.o";
constexpr const char* checked_name = "candidate.ii";
constexpr const char* object_name = "candidate.so";
constexpr const char* placement_name = "placement.s";
constexpr const char* entry_unit_name = "entry.o";

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

/// No build has a clock: a program that decides by one would differ between what is judged and the next
/// build.
constexpr std::array<const char*, 4> no_clock = {"-Wno-builtin-macro-redefined", "-D__DATE__=\"Jan  1 1970\"",
                                                 "-D__TIME__=\"00:00:00\"",
                                                 "-D__TIMESTAMP__=\"Thu Jan  1 00:00:00 1970\""};

/// Shared objects alone can be loaded, and their code is slower than a program's own where another library
/// might replace a function or a variable: with these words, none might.
constexpr std::array<const char*, 2> as_in_a_program = {"-fPIC", "-fno-semantic-interposition"};
constexpr const char* hidden_names = "-fvisibility=hidden";
/// Compilers call a function wherever code of a library uses a variable that each thread has for itself. By
/// this word they use its place, as in a program. A worker has room for some such variables
/// (static_thread_local_bytes); programs with more of them are compiled as a library.
constexpr const char* fixed_thread_locals = "-ftls-model=initial-exec";

/// Drawn by the operating system for each build. It is in no key, for what a worker loads from an object does
/// not depend on it: a worker finds the entry by its address.
std::string drawn_entry_name() {
  std::random_device source;
  std::string name = "kevo_";
  for (int i = 0; i < 4; ++i) name += fmt::format("{:08x}", source());
  return name;
}

/// An object that comes before all others and moves what follows, in each section, by a number of bytes of
/// its own. A linker puts the code that runs seldom first, and all other code behind it.
std::string placement_source(std::size_t number) {
  rng random = rng(0x706c6163).split(number);
  std::string text;
  for (const char* section : {".section .text.unlikely,\"ax\"", ".section .rodata,\"a\"", ".data", ".bss"}) {
    constexpr std::uint64_t page = 4096;
    constexpr std::uint64_t unit = 16;
    text += fmt::format("{}\n.skip {}\n", section, unit * random.below(page / unit));
  }
  return text + ".section .note.GNU-stack,\"\"\n";
}

/// The flags for a compiler that does not link.
std::vector<std::string> without_linking(const std::vector<std::string>& flags) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == "-l")
      ++i;
    else if (!flags[i].starts_with("-l") && !flags[i].starts_with("-Wl,"))
      kept.push_back(flags[i]);
  }
  return kept;
}

/// What a sandboxed process wrote: no links, no devices, no surprises in size. Nothing if there is no such
/// file.
detail::descriptor open_made(const std::string& folder, const char* name, std::uint64_t& size) {
  const detail::descriptor at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  detail::descriptor file(::openat(at.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info = {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  size = static_cast<std::uint64_t>(info.st_size);
  return file;
}

std::string text_of(int file, std::uint64_t size) {
  std::string text(static_cast<std::size_t>(size), '\0');
  std::size_t read = 0;
  while (read < text.size()) {
    const ssize_t length = ::pread(file, text.data() + read, text.size() - read, static_cast<off_t>(read));
    if (length <= 0) break;
    read += static_cast<std::size_t>(length);
  }
  text.resize(read);
  return text;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

bool contains_any(const std::string& text, std::initializer_list<std::string> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return text.find(word) != std::string::npos; });
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
  const auto kept = without_linking(flags);
  result.insert(result.end(), kept.begin(), kept.end());
  result.insert(result.end(), no_clock.begin(), no_clock.end());
  result.insert(result.end(), as_in_a_program.begin(), as_in_a_program.end());
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
    // What a sandboxed compiler finds differs from what a free one does, and a time-out from a longer one.
    hash.number(contained ? 1 : 0).number(settings.object_bytes);
    hash.text(seconds(settings.limits.wall_s))
        .number(settings.limits.memory_bytes)
        .number(settings.limits.data_bytes);
    return hash.finish();
  }

  struct folders;
  bool succeeded(const exit_report& report, const std::string& first, const folders& at, build_result& result,
                 bool& again) const;
  bool step(const build_request& request, const launch_spec& spec, const folders& at,
            const std::stop_token& stop, build_result& result, bool& again) const;
  bool compile(const build_request& request, const std::string& path, const folders& at,
               const char* thread_locals, const std::stop_token& stop, build_result& result,
               bool& again) const;
  std::string compile_entry(const build_request& request, const std::string& path, const folders& at,
                            const std::stop_token& stop, build_result& result) const;
  bool link(const build_request& request, const std::string& path, const folders& at,
            const std::optional<std::string>& entry, const std::stop_token& stop, build_result& result,
            bool& again) const;
  void write_sources(const build_request& request, const folders& at) const;
  detail::descriptor made_object(const folders& at, build_result& result, std::uint64_t& size) const;
  std::vector<std::string> place_all(const build_request& request, const std::string& path,
                                     const std::vector<content_id>& keys, std::size_t first,
                                     const std::stop_token& stop);
  build_result attempt(const build_request& request, const std::string& path, const content_id& key,
                       const std::stop_token& stop, bool& again);
};

// Of one try. Each is seen by the compilers that need it alone: what compiles the candidate sees its sources,
// and never the entry, whose name is a secret.
struct compiler::state::folders {
  explicit folders(bool for_sandbox)
      : scratch(for_sandbox),
        sources(scratch.folder("src")),
        units(scratch.folder("units")),
        entry(scratch.folder("entry")),
        output(scratch.folder("out")) {}
  scratch_folder scratch;
  std::string sources;
  std::string units;
  std::string entry;
  std::string output;
};

// Whether the compiler ended well; else `result` has the reason, and `again` says that a second try may end
// otherwise. @param first the first error that the compiler states; empty if there is none
bool compiler::state::succeeded(const exit_report& report, const std::string& first, const folders& at,
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
    if (::statvfs(at.output.c_str(), &disk) == 0 &&
        disk.f_bavail * disk.f_frsize < (std::uint64_t{16} << 20U))
      throw error(error_code::environment, "the disk has no free space for builds",
                  {at.scratch.path(), 0, 0, {}},
                  "free some disk space, or set TMPDIR to a folder on another disk");
  }
  result.reasons.push_back(first.empty() ? "the compiler " + describe(report) : first);
  return false;
}

// Runs one compiler of a build. Whether it ended well, as `succeeded`.
bool compiler::state::step(const build_request& request, const launch_spec& spec, const folders& at,
                           const std::stop_token& stop, build_result& result, bool& again) const {
  auto limited = spec;
  const double before = result.report.wall_s;
  limited.limits.wall_s = std::max(0.001, settings.limits.wall_s - before);
  auto report = launch_and_wait(limited, stop);
  report.wall_s += before;
  result.report = report;
  require_own_end(report, spec.argv.front(), stop);

  std::string said = report.err;
  for (const auto& folder : {at.sources, std::string("/src"), at.units, std::string("/units"), at.entry,
                             std::string("/entry"), at.output, std::string("/out")})
    replace_all(said, folder + "/", "");
  for (const auto& file : request.source.files)  // clang names what it finds beside another file so
    said = with_renamed_file(said, "./" + file.path, file.path);
  const std::string first = at_own_place(first_error(said, ""), said, entry_name,
                                         request.entry.declaration);  // may lie behind the cut
  result.diagnostics = cut_diagnostics(result.diagnostics + said, settings.diagnostics_bytes);
  return succeeded(report, first, at, result, again);
}

// Compiles the candidate's main file to an object. Where its text may ask for fast math without permission,
// what is compiled is the preprocessed text that was looked at.
bool compiler::state::compile(const build_request& request, const std::string& path, const folders& at,
                              const char* thread_locals, const std::stop_token& stop, build_result& result,
                              bool& again) const {
  auto spec = spec_for(path);
  spec.mounts.push_back({at.sources, "/src"});
  spec.mounts.push_back({at.units, "/units", true});
  spec.directory = "/src";
  const auto options = unit_options(request.flags);
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  if (!request.entry.empty()) spec.argv.emplace_back(hidden_names);
  if (thread_locals != nullptr) spec.argv.emplace_back(thread_locals);
  std::string main = request.source.files.front().path;
  if (!request.fast_math.allowed && may_ask_for_fast_math(request.source)) {
    auto preprocess = spec;
    const std::string checked = std::string("/units/") + checked_name;
    preprocess.argv.insert(preprocess.argv.end(), {"-E", "-o", checked, main});
    if (!step(request, preprocess, at, stop, result, again)) return false;
    std::uint64_t size = 0;
    const auto text = open_made(at.units, checked_name, size);
    const auto found = find_fast_math(request.source, text ? text_of(text.get(), size) : "");
    if (found) {
      result.reasons.push_back(fmt::format(
          "{}:{}: error: fast math ('{}') is refused, as the build option 'fast_math: on' would be: {}",
          found->file, found->line, found->what, request.fast_math.why));
      result.diagnostics += result.reasons.back() + '\n';
      return false;
    }
    result.diagnostics.clear();  // they come again
    main = checked;
  }
  spec.argv.insert(spec.argv.end(), {"-c", "-o", std::string("/units/") + unit_name, main});
  return step(request, spec, at, stop, result, again);
}

// Compiles the entry alone, for several links. Gives its name.
std::string compiler::state::compile_entry(const build_request& request, const std::string& path,
                                           const folders& at, const std::stop_token& stop,
                                           build_result& result) const {
  const auto name = drawn_entry_name();
  auto spec = spec_for(path);
  spec.mounts.push_back({at.entry, "/entry"});
  spec.mounts.push_back({at.units, "/units", true});
  spec.directory = "/entry";
  const auto options = unit_options(request.flags);
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  spec.argv.insert(spec.argv.end(),
                   {"-Dkevo_call=" + name, "-c", "-o", std::string("/units/") + entry_unit_name, entry_name});
  bool again = false;
  return step(request, spec, at, stop, result, again) ? name : std::string();
}

// Compiles the entry, and links it with the candidate's object. @param entry the name of an entry that has
// been compiled, to be linked behind a placement
bool compiler::state::link(const build_request& request, const std::string& path, const folders& at,
                           const std::optional<std::string>& entry, const std::stop_token& stop,
                           build_result& result, bool& again) const {
  auto spec = spec_for(path);
  spec.mounts.push_back({at.units, "/units"});
  spec.mounts.push_back({at.entry, "/entry"});
  spec.mounts.push_back({at.output, "/out", true});
  if (!request.link.empty()) spec.mounts.push_back({at.sources, "/src"});  // it may name a file of these
  spec.directory = "/entry";
  if (!names_standard(request.flags)) spec.argv.emplace_back(standard_flag);
  spec.argv.insert(spec.argv.end(), request.flags.begin(), request.flags.end());
  spec.argv.insert(spec.argv.end(), as_in_a_program.begin(), as_in_a_program.end());
  // Without a build id, which depends on names that are not loaded.
  spec.argv.insert(spec.argv.end(), {"-shared", "-Wl,-Bsymbolic-functions", "-Wl,--build-id=none", "-o",
                                     std::string("/out/") + object_name});
  if (entry) spec.argv.emplace_back(placement_name);
  spec.argv.push_back(std::string("/units/") + unit_name);
  if (entry && !entry->empty()) {
    spec.argv.insert(spec.argv.end(), {std::string("/units/") + entry_unit_name, "-Wl,-e," + *entry});
  } else if (!request.entry.empty()) {
    const auto name = drawn_entry_name();
    spec.argv.insert(spec.argv.end(), {entry_name, "-Dkevo_call=" + name, "-Wl,-e," + name});
  }
  const auto libraries = library_flags(request.flags);
  spec.argv.insert(spec.argv.end(), libraries.begin(), libraries.end());
  spec.argv.insert(spec.argv.end(), request.link.begin(), request.link.end());
  if (step(request, spec, at, stop, result, again)) return true;
  if (!request.entry.empty() && result.reasons.size() == 1 &&
      contains_any(result.report.err, {"undefined reference to `" + request.entry.function + "'",
                                       "ymbol `" + request.entry.function + "' isn't defined",
                                       "undefined hidden symbol: " + request.entry.function})) {
    const auto& declared = request.entry.declaration;
    const auto line = declared.find("extern");
    result.reasons = {"the program does not define what the task calls: " +
                      declared.substr(line, declared.find("  //", line) - line)};
    result.diagnostics = result.reasons.front() + '\n';
  }
  return false;
}

// What the compilers of a build see.
void compiler::state::write_sources(const build_request& request, const folders& at) const {
  for (const auto& file : request.source.files) {
    const bool main = &file == &request.source.files.front() && !request.entry.empty();
    write_source(at.sources, file.path,
                 main
                     ? fmt::format("{}\n#line 1 \"{}\"\n{}", file.text, entry_name, request.entry.declaration)
                     : file.text);
  }
  if (!request.entry.empty()) write_source(at.entry, entry_name, request.entry.text);
  let_everyone_read(at.sources);
  let_everyone_read(at.entry);
}

// What the linker wrote; nothing, and the reason in `result`, if it cannot be used.
detail::descriptor compiler::state::made_object(const folders& at, build_result& result,
                                                std::uint64_t& size) const {
  auto object = open_made(at.output, object_name, size);
  if (!object) {
    result.reasons.emplace_back("the compiler produced no object file");
  } else if (size > settings.object_bytes) {
    result.reasons.push_back("the object file is larger than " + std::to_string(settings.object_bytes) +
                             " bytes");
    return {};
  }
  return object;
}

// Compiles once and links for each placement. @param keys of the objects
std::vector<std::string> compiler::state::place_all(const build_request& request, const std::string& path,
                                                    const std::vector<content_id>& keys, std::size_t first,
                                                    const std::stop_token& stop) {
  build_result result;
  std::vector<std::string> paths;
  const auto link_at = [&](const folders& at, const std::string& entry, std::size_t i, bool& again) {
    fs::remove(fs::path(at.entry) / placement_name);
    write_source(at.entry, placement_name, placement_source(first + i));
    let_everyone_read(at.entry);
    std::uint64_t size = 0;
    if (!link(request, path, at, entry, stop, result, again)) return detail::descriptor();
    return made_object(at, result, size);
  };
  const auto all_placed = [&](const char* thread_locals, bool& again, bool& too_large) {
    const folders at(contained || settings.sandbox != sandbox_mode::off);
    write_sources(request, at);
    if (!compile(request, path, at, thread_locals, stop, result, again)) return false;
    std::string entry;
    if (!request.entry.empty()) {
      entry = compile_entry(request, path, at, stop, result);
      if (entry.empty()) return again = true, false;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto object = link_at(at, entry, i, again);
      if (!object) return false;
      struct stat info = {};
      ::fstat(object.get(), &info);
      const auto bytes = thread_local_bytes(text_of(object.get(), static_cast<std::uint64_t>(info.st_size)));
      too_large = thread_locals != nullptr && bytes > static_thread_local_bytes / 2;
      if (too_large) return false;
      build_result made;
      made.ok = true;
      paths.push_back(cache.store(keys[i], std::move(made), object.get(), settings.object_bytes).object_path);
    }
    return true;
  };
  const char* thread_locals = fixed_thread_locals;
  for (int tries = 0; tries < 3; ++tries) {
    result = {};
    paths.clear();
    bool again = false;
    bool too_large = false;
    if (all_placed(thread_locals, again, too_large)) return paths;
    if (too_large) thread_locals = nullptr;
    if (!too_large && !again) break;
  }
  throw error(error_code::environment,
              "a program that was built cannot be linked again: " +
                  (result.reasons.empty() ? result.diagnostics : result.reasons.front()),
              {}, "free memory and disk space, then continue with `kevo resume`");
}

// All compilers of a build. `again` says that a second try may end otherwise.
build_result compiler::state::attempt(const build_request& request, const std::string& path,
                                      const content_id& key, const std::stop_token& stop, bool& again) {
  build_result result;
  again = false;
  const folders at(contained || settings.sandbox != sandbox_mode::off);
  write_sources(request, at);

  const char* thread_locals = fixed_thread_locals;
  for (;;) {
    if (!compile(request, path, at, thread_locals, stop, result, again) ||
        !link(request, path, at, std::nullopt, stop, result, again))
      return result;
    std::uint64_t size = 0;
    const auto object = made_object(at, result, size);
    if (!object) return result;
    if (thread_locals != nullptr &&
        thread_local_bytes(text_of(object.get(), size)) > static_thread_local_bytes / 2) {
      thread_locals = nullptr;
      result.diagnostics.clear();
      continue;
    }
    result.ok = true;
    return cache.store(key, std::move(result), object.get(), settings.object_bytes);
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
                       .number(first + i)
                       .finish());
    if (const auto found = state_->cache.find(keys.back()); found && found->ok)
      known.push_back(found->object_path);
  }
  return known.size() == count ? known : state_->place_all(request, path, keys, first, stop);
}

}  // namespace kevo
