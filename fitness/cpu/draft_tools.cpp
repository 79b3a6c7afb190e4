#include "fitness/cpu/draft_tools.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/build/hot_loops.hpp"
#include "fitness/build/object_measures.hpp"
#include "fitness/machine/hardware_counters.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "fitness/worker/thread_runtime.hpp"
#include "src/base/process/find_program.hpp"
#include "src/base/text/utf8.hpp"

namespace kevo {
namespace {

constexpr double scratch_s = 10;
constexpr std::size_t scratch_output_bytes = 8000;  ///< shown of each of the two outputs
constexpr std::size_t shown_loops = 3;
constexpr std::size_t shown_lines = 60;
constexpr const char* inside_folder = "/scratch";
constexpr const char* inside_program = "/scratch/program";

/// The beginning and the end of a long text.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return as_utf8(text);
  return as_utf8(text.substr(0, most / 2)) + fmt::format("\n... {} bytes ...\n", text.size() - most) +
         as_utf8(text.substr(text.size() - most / 2));
}

std::string said_by_build(const build_result& built) {
  std::string text = "It does not build.\n";
  for (const auto& reason : built.reasons) text += reason + '\n';
  return text + cut(built.diagnostics, scratch_output_bytes);
}

/// Processors that can do what cachegrind cannot: it would refuse the instructions.
bool has_wide_vectors() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

compiler scratch_compiler(test_bench& bench) {
  compiler_settings settings;
  settings.sandbox = bench.settings().sandbox;
  settings.limits.wall_s = bench.settings().limits.build_s;
  settings.cpus = bench.settings().build_processors;
  return compiler(std::move(settings), &bench.running());
}

build_request scratch_request(const test_bench& bench, const program& source, bool for_cachegrind) {
  build_request wanted{
      .source = source, .compiler = bench.settings().compiler, .flags = bench.settings().flags};
  wanted.link = {"-lm"};
  wanted.executable = true;
  if (for_cachegrind && has_wide_vectors()) wanted.flags.emplace_back("-mno-avx512f");
  return wanted;
}

/// As a worker, but that it is a whole program: it ends by itself, and writes to its outputs and to /tmp.
launch_spec scratch_launch(const test_bench& bench, const std::string& folder) {
  launch_spec spec;
  spec.argv = {inside_program};
  spec.directory = "/tmp";
  spec.mounts = runtime_mounts();
  for (const auto& library : thread_libraries(bench.settings().flags)) {
    for (auto& one : runtime_mounts({library})) {
      const auto same = [&](const mount& known) { return known.inside == one.inside; };
      if (std::none_of(spec.mounts.begin(), spec.mounts.end(), same)) spec.mounts.push_back(std::move(one));
    }
  }
  // The folder, not the file: a link in it would be followed inside alone.
  spec.mounts.push_back({folder, inside_folder});
  spec.sandbox = bench.settings().sandbox;
  spec.policy = syscall_policy::worker;
  spec.cpus = bench.cores().workers;
  spec.limits.wall_s = scratch_s;
  spec.limits.cpu_s = scratch_s * bench.settings().threads;
  spec.limits.data_bytes = bench.settings().limits.memory_bytes;
  spec.limits.memory_bytes = bench.settings().limits.memory_bytes + (std::uint64_t{1} << 30U);
  spec.limits.processes = 2 * bench.settings().threads + 2;
  spec.limits.open_files = 64;
  spec.limits.file_bytes = std::uint64_t{16} << 20U;
  spec.limits.scratch_bytes = std::uint64_t{16} << 20U;
  spec.limits.output_bytes = std::uint64_t{1} << 20U;
  return spec;
}

struct counted_run {
  exit_report report;
  std::string counted;  ///< what the counters say, or why there are none
};

void open_counters(pid_t process, void* context) {
  static_cast<std::optional<hardware_counters>*>(context)->emplace(process);
}

counted_run run_counted(const launch_spec& spec, const std::stop_token& stop) {
  std::optional<hardware_counters> counters;
  counted_run made;
  made.report = launch(spec, &open_counters, &counters).wait(stop);
  if (counters && counters->missing().empty())
    made.counted = describe(counters->read());
  else
    made.counted = "no hardware counters: " + (counters ? counters->missing() : "the program was not held");
  return made;
}

std::string valgrind() {
  // Beside the script of that name, which starts another process, where a package has both.
  const std::string direct = find_program("valgrind.bin");
  return direct.empty() ? find_program("valgrind") : direct;
}

/// The same under cachegrind, which simulates the caches: many times slower, but counts are exact.
void run_by_cachegrind(launch_spec& spec, const std::string& program, const std::vector<int>& cpus) {
  const auto own = std::exchange(spec.mounts, toolchain_mounts(program));
  for (const auto& one : own) {
    if (one.inside == inside_folder) spec.mounts.push_back(one);
  }
  spec.cpus = cpus;
  spec.own_proc = true;
  spec.argv = {program, "--tool=cachegrind", "--cachegrind-out-file=/dev/null", "--cache-sim=yes",
               inside_program};
  spec.limits.wall_s = 6 * scratch_s;
  spec.limits.cpu_s = 6 * scratch_s;
}

std::string how_it_ended(const exit_report& report) {
  if (report.kind == exit_kind::timed_out) return fmt::format("was ended after {:.3g} s", report.wall_s);
  if (report.kind == exit_kind::output_exceeded) return "was ended: it printed more than 1 MiB";
  return describe(report);
}

/// The lines of valgrind, which begin with "==" and the process's number.
bool is_of_valgrind(std::string_view line) {
  return line.starts_with("==") && line.find("== ") != std::string_view::npos;
}

std::string without_valgrind(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!is_of_valgrind(line) && !line.starts_with("--")) kept.append(line).push_back('\n');
  }
  return kept;
}

std::string analysis_of(const test_bench& bench, const machine_loop& loop, const std::stop_token& stop) {
  const std::string program = find_program("llvm-mca");
  if (program.empty()) return "llvm-mca is not installed: no analysis of the throughput\n";
  launch_spec spec;
  spec.argv = {program, "-iterations=100", "-bottleneck-analysis"};
  spec.mounts = toolchain_mounts(program);
  spec.standard_input = block_of(loop);
  spec.limits.wall_s = 20;
  spec.limits.memory_bytes = std::uint64_t{2} << 30U;
  spec.limits.processes = 4;
  spec.sandbox = bench.settings().sandbox;
  const exit_report report = run(spec, stop);
  if (!report.ok()) return "llvm-mca cannot analyse the first loop\n";
  // What precedes the table of instructions, which repeats the loop.
  const auto end = std::min(report.out.find("\nInstruction Info:"), std::size_t{2500});
  return "The first loop by llvm-mca (data in the nearest cache, 100 turns):\n" + report.out.substr(0, end);
}

}  // namespace

std::string cachegrind_line(std::string_view log) {
  constexpr std::array<std::pair<std::string_view, const char*>, 6> wanted = {{
      {"I   refs:", "instructions"},
      {"D   refs:", "loads and stores"},
      {"D1  misses:", "misses of the first-level cache"},
      {"LLd misses:", "misses of the last-level cache"},
      {"D1  miss rate:", "of the accesses miss the first level"},
      {"LLd miss rate:", "of the accesses miss the last level"},
  }};
  std::string text;
  for (const auto& [key, name] : wanted) {
    const auto at = log.find(key);
    if (at == std::string_view::npos) continue;
    const auto begin = log.find_first_not_of(' ', at + key.size());
    if (begin == std::string_view::npos) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        log.substr(begin, log.find_first_of(" \n", begin) - begin), name);
  }
  return text;
}

std::string run_scratch(test_bench& bench, const program& source, bool counters,
                        const std::stop_token& stop) {
  if (!contains(bench.settings().sandbox))
    return "error: without a sandbox, programs of your own are not run";
  const bool simulated = counters && !missing_counters().empty();
  const std::string simulator = simulated ? valgrind() : std::string();  // empty: none, or not needed
  compiler builds = scratch_compiler(bench);                             // what it built goes with it
  const build_result built = builds.build(scratch_request(bench, source, !simulator.empty()), stop);
  if (!built.ok) return said_by_build(built);
  const scratch_folder place;
  const std::string folder = place.folder("program");
  const std::filesystem::path file = std::filesystem::path(folder) / "program";
  std::filesystem::copy_file(built.object_path, file);
  std::filesystem::permissions(file, std::filesystem::perms(0755));
  launch_spec spec = scratch_launch(bench, folder);
  if (!simulator.empty()) run_by_cachegrind(spec, simulator, bench.settings().build_processors);

  counted_run made;
  if (!simulator.empty()) {
    made.report = bench.running().run(spec, stop);  // stands back as builds do: its times mean nothing
    made.counted = cachegrind_line(made.report.err);
  } else {
    const auto processors = bench.take_processors(stop);
    if (counters) {
      made = run_counted(spec, stop);
    } else {
      made.report = run(spec, stop);
    }
  }
  if (stop.stop_requested()) throw error(error_code::interrupted, "interrupted while a program ran");
  std::string text = fmt::format("The program {} after {:.3g} s ({:.3g} s of processor time).\n",
                                 how_it_ended(made.report), made.report.wall_s, made.report.cpu_s);
  const std::string complaints = simulator.empty() ? made.report.err : without_valgrind(made.report.err);
  if (!made.report.out.empty()) text += "It printed:\n" + cut(made.report.out, scratch_output_bytes) + '\n';
  if (!complaints.empty()) text += "On standard error:\n" + cut(complaints, scratch_output_bytes) + '\n';
  if (!counters) return text;
  if (!simulator.empty())
    return text + fmt::format(
                      "Counted by cachegrind, which simulates the caches, so that times mean nothing{}: "
                      "{}\n",
                      has_wide_vectors() ? " (built without AVX-512, which it cannot run)" : "",
                      made.counted.empty() ? "it gave no figures" : made.counted);
  return text + "Counted: " + made.counted + (simulated ? "; valgrind is not installed either" : "") + '\n';
}

std::string assembly(test_bench& bench, const program& draft, const std::string& function,
                     const std::stop_token& stop) {
  if (const std::string why = bench.kind().refusal(draft); !why.empty()) return "error: " + why;
  const build_result built = bench.build_candidate(draft, stop);
  if (!built.ok) return said_by_build(built);
  const std::string code = disassembly_of(built.object_path, bench.settings().sandbox, &bench.running());
  if (code.empty()) return "error: objdump is not installed, or cannot read the program";
  const auto loops = innermost_loops(code, function);
  if (loops.empty())
    return function.empty() ? "The program has no loop in its machine code."
                            : fmt::format("No function whose name contains '{}' has a loop.",
                                          as_utf8(function.substr(0, 100)));
  std::string text = fmt::format("{} innermost {}, those first whose instructions compute most.\n",
                                 loops.size(), loops.size() == 1 ? "loop" : "loops");
  for (std::size_t i = 0; i < loops.size() && i < shown_loops; ++i)
    text += describe(loops[i], i == 0 ? shown_lines : shown_lines / 3);
  return text + analysis_of(bench, loops.front(), stop);
}

}  // namespace kevo
