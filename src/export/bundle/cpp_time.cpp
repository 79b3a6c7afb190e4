#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/build/compiler.hpp"
#include "fitness/build/compiler_process.hpp"
#include "fitness/cpu/cpp_programs.hpp"
#include "fitness/cpu/cpu_fitness.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "src/base/process/find_program.hpp"
#include "src/export/bundle/bundle_time.hpp"
#include "src/export/bundle/cpp_program.hpp"
#include "src/export/bundle/symbol_address.hpp"

namespace kevo::bundle {
namespace fs = std::filesystem;
namespace {

// Of a file that a sandboxed process wrote, which has ended.
std::string bytes_of(const std::string& path) {
  std::error_code code;
  if (!fs::is_regular_file(fs::symlink_status(path, code))) return {};
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_files(const std::string& folder, const folder_text& files) {
  for (const auto& [name, text] : files) {
    const auto path = fs::path(folder) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  let_everyone_read(folder);
}

// The bundle, and what CMake made of it.
class cmake_build {
 public:
  cmake_build(std::string cmake, std::string compiler, sandbox_mode sandbox)
      : cmake_(std::move(cmake)),
        compiler_(std::move(compiler)),
        sandbox_(sandbox),
        scratch_(contains(sandbox) || sandbox != sandbox_mode::off),
        bundle_(scratch_.folder("bundle")),
        output_(scratch_.folder("build")) {}

  /// @throws kevo::error (input) with what the compiler says
  void build(const folder_text& files) {
    write_files(bundle_, files);
    step({"-S", "/bundle", "-B", "/build", "-DCMAKE_BUILD_TYPE=Release"});
    step({"--build", "/build"});
  }
  std::string made(const std::string& file) const { return bytes_of(output_ + '/' + file); }

 private:
  void step(const std::vector<std::string>& words) const {
    auto limits = compiler_settings::default_limits();
    limits.wall_s = 300;
    limits.cpu_s = 600;
    auto spec = compiler_launch(limits, sandbox_, {});
    spec.argv = {cmake_};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.environment = {"PATH=" + fs::path(compiler_).parent_path().string() + ":/usr/bin:/bin", "LC_ALL=C"};
    spec.mounts = toolchain_mounts(compiler_);
    const auto add = [&](const std::string& folder) {
      const auto same = [&](const mount& m) { return m.inside == folder; };
      if (std::none_of(spec.mounts.begin(), spec.mounts.end(), same)) spec.mounts.push_back({folder, folder});
    };
    for (const auto& one : toolchain_mounts(cmake_)) add(one.inside);
    // CMake's own files, beside which other people's may lie.
    std::error_code code;
    const auto share = fs::canonical(cmake_, code).parent_path().parent_path() / "share";
    for (const auto& entry : fs::directory_iterator(share, code)) {
      if (entry.path().filename().string().starts_with("cmake-")) add(entry.path().string());
    }
    spec.mounts.push_back({bundle_, "/bundle"});
    spec.mounts.push_back({output_, "/build", true});
    spec.hidden = numeric_libraries();
    const auto report = run(spec);
    require_own_end(report, cmake_, {});
    if (!report.ok())
      throw error(error_code::input, "the bundle does not build: CMake " + describe(report),
                  {.file = "CMakeLists.txt", .key = {}}, cut_diagnostics(report.out + report.err, 4000));
  }

  std::string cmake_;
  std::string compiler_;
  sandbox_mode sandbox_;
  scratch_folder scratch_;
  std::string bundle_;
  std::string output_;
};

// What a processor predicts of loads and jumps depends on the last bits of their addresses: a histogram took
// 7 % longer where only the last six were those of the run's object.
constexpr std::uint64_t page = 4096;

// How far behind the start of a page the code has to begin so that `symbol` lies as `run` does in the run's
// object.
unsigned offset_of(const std::string& object, const std::string& symbol, const std::string& run_object) {
  const auto here = symbol_address(object, symbol);
  const auto there = symbol_address(bytes_of(run_object), "run");
  return here && there ? static_cast<unsigned>((*there - *here) % page) : 0;
}

// The function of the bundle as a candidate.
program calling_program(const bundled& b, const folder_text& files, std::string library) {
  const auto header = b.name + ".hpp";
  return {
      "cpp",
      {{"caller.cpp", fmt::format("#include \"{0}\"\n#include <cstdint>\nusing std::int8_t, std::int16_t, "
                                  "std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, "
                                  "std::uint64_t;\n{2} {{ {1}::run({3}); }}\n",
                                  header, b.name, prototype(*b.what), argument_names(*b.what))},
       {header, files.at("include/" + header)},
       {"bundle.a", std::move(library)}}};
}

cpu_settings settings_of(const bundled& b, const cpp_build& build, int threads) {
  cpu_settings settings;
  settings.compiler = build.compiler;
  settings.flags = build.flags;
  settings.threads = threads;
  settings.sandbox = b.sandbox;
  settings.limits.source_bytes = std::uint64_t{64} << 20U;
  settings.timing = bundle_timing_settings();
  return settings;
}

}  // namespace

timing_settings bundle_timing_settings() {
  timing_settings timing;
  timing.sustained_s = 0;
  // Half of the width of `equal_time`, and so many pairs that other work on the machine only costs time.
  timing.confirming_interval = 0.03;
  timing.confirming_pairs = 160;
  timing.full_s = 6;
  return timing;
}

bundle_time judged_bundle(const bundled& b, const evaluation& judged) {
  if (!judged.valid())
    throw error(error_code::input, "the bundle is wrong: " + judged.feedback,
                {.file = b.run_folder, .key = {}}, "kevo eval says whether the program itself is right");
  const auto& range = judged.speedup_interval;
  return {estimate{1 / judged.speedup, {1 / range.high, 1 / range.low}}, {}};
}

bundle_time time_cpp_bundle(bundled& b, folder_text& files, int threads, const wait_listener& waiting) {
  const auto cmake = find_program("cmake");
  if (cmake.empty()) return {std::nullopt, "there is no CMake on this machine"};
  const auto build = cpp_build_of(b);
  const auto compiler_path = find_program(build.compiler);
  if (compiler_path.empty())
    return {std::nullopt, "the compiler of the run is not on this machine: " + build.compiler};

  const auto settings = settings_of(b, build, threads);
  auto compared = std::make_shared<task>(*b.what);
  compared->baselines = {{"the run's object", *b.source, {}, false}};
  const auto kind = std::make_shared<program_kind>(cpp_programs(compared, settings, nullptr));
  const auto measured = kind->build(*b.source, {});
  if (!measured.ok)
    throw error(error_code::input, "the program does not compile here: " + measured.diagnostics,
                {.file = b.run_folder, .key = {}}, "export another candidate with --candidate N");

  cmake_build made(cmake, compiler_path, b.sandbox);
  made.build(files);
  b.places.program = offset_of(made.made(b.name + "_run.o"), b.name + "_run", measured.object_path);
  if (b.compared_with != nullptr) {
    b.places.baseline =
        offset_of(made.made(b.name + "_baseline.o"), b.name + "_baseline",
                  kind->build_trusted(trusted_role::baseline, b.compared_with, {}, "baseline"));
  }
  files["CMakeLists.txt"] = cpp_build_file(b);
  made.build(files);

  const auto caller =
      std::make_shared<const program>(calling_program(b, files, made.made("lib" + b.name + ".a")));
  compiler_settings linker;
  linker.sandbox = b.sandbox;
  compiler callers(linker);
  auto link = library_flags(build.flags);
  link.insert(link.begin(), "/src/bundle.a");
  kind->place = nullptr;  // the bundle has one place, which is the run's
  const auto trusted = kind->build_trusted;
  kind->build_trusted = [trusted, object = measured.object_path](trusted_role role, const baseline* given,
                                                                 std::stop_token stop,
                                                                 const std::string& who) {
    return role == trusted_role::baseline ? object : trusted(role, given, std::move(stop), who);
  };
  kind->build = [&](const program& source, std::stop_token stop) {
    return callers.build({source, candidate_entry(*compared), build.compiler, build.flags, link},
                         std::move(stop));
  };
  cpu_fitness judge(compared, settings, kind);
  evaluation_request request;
  request.program = caller;
  request.wanted = evaluation_stage::confirmed;
  request.fresh = true;
  request.waiting = waiting;
  return judged_bundle(b, judge.evaluate(request));
}

}  // namespace kevo::bundle
