#include "fitness/build/build_try.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "fitness/build/compiler_process.hpp"
#include "fitness/build/fast_math.hpp"
#include "fitness/build/loaded_parts.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/worker/thread_runtime.hpp"
#include "src/base/text/renamed_file.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

constexpr const char* unit_name = "candidate.o";
constexpr const char* entry_unit_name = "entry.o";
constexpr const char* checked_name = "candidate.ii";
constexpr const char* placement_name = "placement.s";
constexpr const char* object_name = "candidate.so";

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
std::string placement_source(rng random) {
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

void append(std::vector<std::string>& words, const std::vector<std::string>& further) {
  words.insert(words.end(), further.begin(), further.end());
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

namespace detail {

launch_spec spec_of_compiler(const compiler_settings& settings, const std::string& program) {
  auto spec = compiler_launch(settings.limits, settings.sandbox, settings.cpus);
  spec.argv = {program};
  // Nothing of ours: collect2 looks for the linker along PATH.
  spec.environment = {"PATH=" + fs::path(program).parent_path().string() + ":/usr/bin:/bin", "LC_ALL=C"};
  spec.mounts = toolchain_mounts(program);
  spec.hidden = settings.hidden;
  return spec;
}

std::string seconds_text(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

build_try::build_try(const compiler_settings& settings, running_builds* pausable,
                     const build_request& request, std::string program, const std::stop_token& stop)
    : settings_(settings),
      pausable_(pausable),
      request_(request),
      program_(std::move(program)),
      stop_(stop),
      scratch_(settings.sandbox != sandbox_mode::off),
      sources_(scratch_.folder("src")),
      units_(scratch_.folder("units")),
      entry_(scratch_.folder("entry")),
      output_(scratch_.folder("out")) {
  write_sources();
}

void build_try::write_sources() {
  for (const auto& file : request_.source.files) {
    const bool main = &file == &request_.source.files.front() && !request_.entry.empty();
    write_source(
        sources_, file.path,
        main ? fmt::format("{}\n#line 1 \"{}\"\n{}", file.text, entry_file, request_.entry.declaration)
             : file.text);
  }
  if (!request_.entry.empty()) write_source(entry_, entry_file, request_.entry.text);
  let_everyone_read(sources_);
  let_everyone_read(entry_);
}

// Whether the latest compiler ended well; else `result_` has the reason. @param first the first error that it
// states; empty if there is none
bool build_try::succeeded(const std::string& first) {
  const auto& report = result_.report;
  switch (report.kind) {
    case exit_kind::timed_out:
      result_.reasons.push_back("the compiler timed out after " + seconds_text(settings_.limits.wall_s) +
                                " s");
      again_ = true;
      return false;
    case exit_kind::output_exceeded:
      result_.reasons.push_back("the compiler printed more than " +
                                std::to_string(settings_.limits.output_bytes) + " bytes");
      return false;
    case exit_kind::signalled:
      result_.reasons.push_back("the compiler " + describe(report));
      again_ = true;
      return false;
    case exit_kind::exited:
    case exit_kind::cancelled:
    case exit_kind::not_started:
      break;
  }
  if (report.code == 0) return true;
  if (lacked_memory(report)) {
    result_.reasons.push_back("the compiler ran out of memory (" +
                              std::to_string(settings_.limits.memory_bytes >> 20U) + " MiB allowed)");
    again_ = true;
    return false;
  }
  if (contains_any(report.err, {"No space left on device"})) {
    struct statvfs disk = {};
    if (::statvfs(output_.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < (std::uint64_t{16} << 20U))
      throw error(error_code::environment, "the disk has no free space for builds",
                  {scratch_.path(), 0, 0, {}},
                  "free some disk space, or set TMPDIR to a folder on another disk");
  }
  result_.reasons.push_back(first.empty() ? "the compiler " + describe(report) : first);
  return false;
}

// Runs one compiler. Whether it ended well, as `succeeded`.
bool build_try::step(const launch_spec& spec) {
  auto limited = spec;
  const double before = result_.report.wall_s;
  limited.limits.wall_s = std::max(0.001, settings_.limits.wall_s - before);
  result_.report = pausable_ != nullptr ? pausable_->run(limited, stop_) : kevo::run(limited, stop_);
  result_.report.wall_s += before;
  require_own_end(result_.report, program_, stop_);

  std::string said = result_.report.err;
  for (const auto& folder : {sources_, std::string("/src"), units_, std::string("/units"), entry_,
                             std::string("/entry"), output_, std::string("/out")})
    replace_all(said, folder + "/", "");
  for (const auto& file : request_.source.files)  // clang names what it finds beside another file so
    said = with_renamed_file(said, "./" + file.path, file.path);
  const std::string first = at_own_place(first_error(said, ""), said, entry_file,
                                         request_.entry.declaration);  // may lie behind the cut
  if (const auto rule = rule_of_headers(first); !rule.empty()) said += "note: " + rule + '\n';
  result_.diagnostics = cut_diagnostics(result_.diagnostics + said, settings_.diagnostics_bytes);
  return succeeded(first);
}

// Compiles the program's main file to an object. Where its text may ask for fast math without permission,
// what is compiled is the preprocessed text that was looked at.
bool build_try::compile() {
  auto spec = spec_of_compiler(settings_, program_);
  spec.mounts.push_back({sources_, "/src"});
  spec.mounts.push_back({units_, "/units", true});
  spec.directory = "/src";
  append(spec.argv, unit_options(request_.flags));
  if (!request_.entry.empty()) spec.argv.emplace_back(hidden_names);
  if (fixed_thread_locals_) spec.argv.emplace_back(fixed_thread_locals);
  std::string main = request_.source.files.front().path;
  if (!request_.fast_math.allowed && may_ask_for_fast_math(request_.source)) {
    auto preprocess = spec;
    const std::string checked = std::string("/units/") + checked_name;
    append(preprocess.argv, {"-E", "-o", checked, main});
    if (!step(preprocess)) return false;
    std::uint64_t size = 0;
    const auto text = open_made(units_, checked_name, size);
    const auto found = find_fast_math(request_.source, text ? text_of(text.get(), size) : "");
    if (found) {
      result_.reasons.push_back(fmt::format(
          "{}:{}: error: fast math ('{}') is refused, as the build option 'fast_math: on' would be: {}",
          found->file, found->line, found->what, request_.fast_math.why));
      result_.diagnostics += result_.reasons.back() + '\n';
      return false;
    }
    result_.diagnostics.clear();  // they come again
    main = checked;
  }
  append(spec.argv, {"-c", "-o", std::string("/units/") + unit_name, main});
  return step(spec);
}

// By itself, for several links.
bool build_try::compile_entry() {
  const auto name = drawn_entry_name();
  auto spec = spec_of_compiler(settings_, program_);
  spec.mounts.push_back({entry_, "/entry"});
  spec.mounts.push_back({units_, "/units", true});
  spec.directory = "/entry";
  append(spec.argv, unit_options(request_.flags));
  append(spec.argv,
         {"-Dkevo_call=" + name, "-c", "-o", std::string("/units/") + entry_unit_name, entry_file});
  if (!step(spec)) return false;
  entry_name_ = name;
  return true;
}

// Where the entry is needed once, it is compiled with the link.
bool build_try::link_to_file(const std::optional<rng>& places) {
  if (places) {
    if (!request_.entry.empty() && entry_name_.empty() && !compile_entry()) return false;
    fs::remove(fs::path(entry_) / placement_name);
    write_source(entry_, placement_name, placement_source(*places));
    let_everyone_read(entry_);
  }
  auto spec = spec_of_compiler(settings_, program_);
  spec.mounts.push_back({units_, "/units"});
  spec.mounts.push_back({entry_, "/entry"});
  spec.mounts.push_back({output_, "/out", true});
  if (!request_.link.empty()) spec.mounts.push_back({sources_, "/src"});  // it may name a file of these
  spec.directory = "/entry";
  if (!names_standard(request_.flags)) spec.argv.emplace_back(standard_flag);
  append(spec.argv, request_.flags);
  spec.argv.insert(spec.argv.end(), as_in_a_program.begin(), as_in_a_program.end());
  if (!request_.executable) append(spec.argv, {"-shared", "-Wl,-Bsymbolic-functions"});
  // Without a build id, which depends on names that are not loaded.
  append(spec.argv, {"-Wl,--build-id=none", "-o", std::string("/out/") + object_name});
  if (places) spec.argv.emplace_back(placement_name);
  spec.argv.push_back(std::string("/units/") + unit_name);
  if (!entry_name_.empty()) {
    append(spec.argv, {std::string("/units/") + entry_unit_name, "-Wl,-e," + entry_name_});
  } else if (!request_.entry.empty()) {
    const auto name = drawn_entry_name();
    append(spec.argv, {entry_file, "-Dkevo_call=" + name, "-Wl,-e," + name});
  }
  append(spec.argv, library_flags(request_.flags));
  append(spec.argv, request_.link);
  if (step(spec)) return true;
  explain_missing_function();
  return false;
}

void build_try::explain_missing_function() {
  const auto& entry = request_.entry;
  if (entry.empty() || result_.reasons.size() != 1 ||
      !contains_any(result_.report.err, {"undefined reference to `" + entry.function + "'",
                                         "ymbol `" + entry.function + "' isn't defined",
                                         "undefined hidden symbol: " + entry.function}))
    return;
  const auto line = entry.declaration.find("extern");
  result_.reasons = {"the program does not define what the task calls: " +
                     entry.declaration.substr(line, entry.declaration.find("  //", line) - line)};
  result_.diagnostics = result_.reasons.front() + '\n';
}

// What the linker wrote; nothing, and the reason in `result_`, if it cannot be used.
descriptor build_try::made_object(std::uint64_t& size) {
  auto object = open_made(output_, object_name, size);
  if (!object) {
    result_.reasons.emplace_back("the compiler produced no object file");
  } else if (size > settings_.object_bytes) {
    result_.reasons.push_back("the object file is larger than " + std::to_string(settings_.object_bytes) +
                              " bytes");
    return {};
  }
  return object;
}

descriptor build_try::link(const std::optional<rng>& places) {
  for (;;) {
    if (!compiled_ && !(compiled_ = compile())) return {};
    if (!link_to_file(places)) return {};
    std::uint64_t size = 0;
    auto object = made_object(size);
    if (!object || !fixed_thread_locals_ ||
        thread_local_bytes(text_of(object.get(), size)) <= static_thread_local_bytes / 2)
      return object;
    // There is not enough room for so many of them: as in a library, then.
    fixed_thread_locals_ = compiled_ = false;
    result_.diagnostics.clear();
  }
}

}  // namespace detail
}  // namespace kevo
