#include "fitness/cuda/compile/nvcc.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <kevo/error.hpp>

#include "fitness/build/compiler.hpp"
#include "fitness/cuda/compile/cub_headers.hpp"
#include "fitness/cuda/compile/cubin.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "src/base/process/descriptor.hpp"
#include "src/base/process/find_program.hpp"

namespace kevo::cuda {
namespace fs = std::filesystem;
namespace {

constexpr const char* entry_file = "kevo_entry.cu";
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20U;

/// Of one time, always the same: no build has a clock.
void write(const fs::path& path, const std::string& text) {
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  constexpr std::array<timespec, 2> epoch = {};
  if (!file || ::utimensat(AT_FDCWD, path.c_str(), epoch.data(), AT_SYMLINK_NOFOLLOW) != 0)
    throw error(error_code::environment, "cannot write a candidate's source", {path.string(), 0, 0, {}});
}

/// A regular file that a sandboxed process left; empty for anything else.
std::string read_left(const fs::path& path) {
  const kevo::detail::descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info = {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  if (static_cast<std::uint64_t>(info.st_size) > most_bytes) return {};
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const auto got = ::read(file.get(), text.data() + at, text.size() - at);
    if (got <= 0) break;
    at += static_cast<std::size_t>(got);
  }
  text.resize(at);
  return text;
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ') result += c;
  }
  return result;
}

/// "void ns::f<64, float>(float*)" without result and parameters, and without blanks.
std::string kernel_part(const std::string& symbol) {
  std::string text = readable(symbol);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (text[i] == '(' && depth == 0) {
      text.resize(i);
      break;
    }
  }
  if (text.starts_with("void ")) text.erase(0, 5);
  return without_blanks(text);
}

/// nvcc on the entry in /src, which leaves what it makes in /out.
launch_spec nvcc_spec(const std::string& nvcc, std::vector<std::string> arguments, const fs::path& sources,
                      const fs::path& output) {
  launch_spec spec;
  spec.argv = {nvcc};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.argv.emplace_back(entry_file);
  const auto prefix = fs::path(nvcc).parent_path().parent_path();
  spec.environment = {"PATH=" + (prefix / "bin").string() + ":/usr/bin:/bin", "LC_ALL=C", "TMPDIR=/tmp",
                      "SOURCE_DATE_EPOCH=0", "TZ=UTC0"};
  spec.mounts = toolkit_mounts(nvcc);
  spec.mounts.push_back({sources.string(), "/src"});
  spec.mounts.push_back({output.string(), "/out", true});
  spec.directory = "/src";
  spec.policy = syscall_policy::builder;
  return spec;
}

/// Where a toolkit and the system keep headers and libraries.
std::vector<fs::path> toolkit_folders(const fs::path& prefix) {
  std::vector<fs::path> folders = {prefix / "include",
                                   prefix / "include/cccl",
                                   prefix / "lib64",
                                   prefix / "lib",
                                   "/usr/include",
                                   "/usr/include/x86_64-linux-gnu",
                                   "/usr/lib",
                                   "/usr/lib64",
                                   "/usr/lib/x86_64-linux-gnu"};
  std::error_code code;
  for (fs::directory_iterator at(prefix / "targets", code), end; !code && at != end; at.increment(code)) {
    for (const char* part : {"include", "include/cccl", "lib", "lib/stubs"})
      folders.push_back(at->path() / part);
  }
  return folders;
}

/// Thrust's algorithms, by the names of their headers. The rest of thrust stays: CUB's block and warp
/// primitives need its iterators and policies.
constexpr std::array<std::string_view, 33> thrust_algorithms = {"adjacent_difference",
                                                                "async",
                                                                "binary_search",
                                                                "copy",
                                                                "copy_if",
                                                                "count",
                                                                "equal",
                                                                "extrema",
                                                                "fill",
                                                                "find",
                                                                "for_each",
                                                                "gather",
                                                                "generate",
                                                                "inner_product",
                                                                "logical",
                                                                "merge",
                                                                "mismatch",
                                                                "partition",
                                                                "reduce",
                                                                "reduce_by_key",
                                                                "remove",
                                                                "replace",
                                                                "scan",
                                                                "scan_by_key",
                                                                "scatter",
                                                                "sequence",
                                                                "set_operations",
                                                                "shuffle",
                                                                "sort",
                                                                "transform",
                                                                "transform_reduce",
                                                                "transform_scan",
                                                                "unique"};

/// Where those headers lie below an include folder. What is not there needs no hiding.
void add_thrust_algorithms(const fs::path& include, std::vector<std::string>& to) {
  for (const char* part : {"thrust", "thrust/system/cuda/detail", "thrust/system/detail/generic"}) {
    std::error_code code;
    if (!fs::is_directory(include / part, code)) continue;
    for (const auto name : thrust_algorithms) {
      const auto stem = (include / part / name).string();
      for (const char* end : {".h", ".inl", ""}) {
        if (fs::exists(stem + end, code)) to.push_back(stem + end);
      }
    }
  }
  for (const char* whole : {"omp", "tbb"}) to.push_back((include / "thrust/system" / whole).string());
}

/// Finished kernels, as libraries and as headers: somebody else's work.
std::vector<std::string> finished_kernels(const fs::path& prefix) {
  constexpr std::array<std::string_view, 20> names = {
      "libcublas", "libcudnn", "libcufft",   "libcusparse", "libcusolver", "libcutensor", "libnccl",
      "libnvblas", "libnpp",   "libcutlass", "cublas",      "cudnn",       "cufft",       "cusparse",
      "cusolver",  "cutensor", "cutlass",    "cute",        "nvcompdx",    "curanddx"};
  std::vector<std::string> found;
  std::error_code code;
  for (const auto& folder : toolkit_folders(prefix)) {
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
      const std::string name = at->path().filename().string();
      const auto begins = [&name](std::string_view start) { return name.starts_with(start); };
      if (std::any_of(names.begin(), names.end(), begins)) found.push_back(at->path().string());
    }
    code.clear();
    found.push_back((folder / "cub" / "device").string());
    add_thrust_algorithms(folder, found);
  }
  return found;
}

/// Hides other people's kernels from a compilation, and gives it a cub/cub.cuh that needs none of them.
void hide_finished_kernels(const std::string& nvcc, const fs::path& headers, launch_spec& spec) {
  write(headers / "cub" / "cub.cuh", cub_without_device());
  spec.mounts.push_back({headers.string(), "/headers"});
  spec.hidden = numeric_libraries();
  for (auto& one : finished_kernels(fs::path(nvcc).parent_path().parent_path()))
    spec.hidden.push_back(std::move(one));
}

}  // namespace

std::vector<mount> toolkit_mounts(const std::string& nvcc) {
  const auto prefix = fs::path(nvcc).parent_path().parent_path();
  auto mounts = toolchain_mounts(nvcc);
  for (const char* part : {"nvvm", "targets", "include", "lib64", "lib"}) {
    const auto folder = (prefix / part).string();
    bool seen = false;
    for (const auto& m : mounts) seen = seen || folder == m.inside || folder.starts_with(m.inside + '/');
    if (!seen) mounts.push_back({folder, folder, false, true});
  }
  return mounts;
}

std::vector<std::string> toolkit_library_folders(const std::string& nvcc) {
  const auto prefix = fs::path(nvcc).parent_path().parent_path();
  std::vector<std::string> folders;
  std::error_code code;
  for (const char* part : {"lib64", "lib"}) {
    if (fs::is_directory(prefix / part, code)) folders.push_back((prefix / part).string());
  }
  for (fs::directory_iterator at(prefix / "targets", code), end; !code && at != end; at.increment(code)) {
    if (fs::is_directory(at->path() / "lib", code)) folders.push_back((at->path() / "lib").string());
  }
  return folders;
}

std::string find_nvcc(const std::string& name) {
  std::error_code code;
  const auto path = fs::canonical(find_program(name), code);
  if (code) {
    throw error(error_code::environment, "the compiler was not found: " + name, {},
                "install the CUDA toolkit, or compile with NVRTC (fitness.compiler: nvrtc)");
  }
  // It may be a script that starts the real one elsewhere, which a sandbox would not show: ask where.
  launch_spec spec;
  spec.argv = {path.string(), "--dryrun", "-cubin", "-x", "cu", "/dev/null"};
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  spec.sandbox = sandbox_mode::off;
  std::istringstream lines(run(spec).err);
  constexpr std::string_view top = "#$ TOP=";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(top)) continue;
    const auto real = fs::canonical(fs::path(line.substr(top.size())) / "bin" / "nvcc", code);
    if (!code) return real.string();
  }
  return path.string();
}

std::string find_hosted_nvcc(const std::string& configured) {
  const auto from = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  const auto named = configured.empty() ? from("KEVO_NVCC") : configured;
  if (named == "none") return {};
  std::vector<std::string> places;
  if (!named.empty()) {
    places = {named};
  } else {
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
      if (const auto folder = from(variable); !folder.empty()) places.push_back(folder + "/bin/nvcc");
    }
    places.insert(places.end(), {"nvcc", "/usr/local/cuda/bin/nvcc"});
  }
  for (const auto& place : places) {
    std::error_code code;
    if (const auto found = find_program(place); !found.empty() && fs::exists(found, code))
      return find_nvcc(found);
  }
  return {};
}

std::string nvcc_version(const std::string& nvcc) {
  launch_spec spec;
  spec.argv = {nvcc, "--version"};
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  spec.sandbox = sandbox_mode::off;
  const auto said = run(spec).out;
  constexpr std::string_view mark = "release ";
  const auto at = said.find(mark);
  if (at == std::string::npos) return "nvcc";
  return "nvcc " + said.substr(at + mark.size(), said.find(',', at) - at - mark.size());
}

std::string symbol_of(std::string_view kernel, const std::vector<std::string>& symbols) {
  const auto wanted = without_blanks(kernel);
  const auto base = wanted.substr(0, wanted.find('<'));
  std::string only;
  int instances = 0;
  for (const auto& symbol : symbols) {
    const auto part = kernel_part(symbol);
    if (part == wanted) return symbol;
    if (part.substr(0, part.find('<')) != base) continue;
    only = symbol;
    ++instances;
  }
  return instances == 1 ? only : std::string();
}

std::string nvcc_entry(const program& source, const std::vector<std::string>& kernels) {
  // A host table of their addresses makes nvcc instantiate templates.
  std::string text = "#include \"" + source.files.front().path + "\"\n";
  for (std::size_t i = 0; i < kernels.size(); ++i)
    text += "void* kevo_kernel_" + std::to_string(i) + "() { return (void*)&" + kernels[i] + "; }\n";
  return text;
}

compile_answer compile_with_nvcc(const nvcc_job& job,
                                 const std::function<exit_report(const launch_spec&)>& run,
                                 exit_report& report) {
  const scratch_folder scratch(contains(job.sandbox) || job.sandbox != sandbox_mode::off);
  const fs::path sources = scratch.folder("src");
  const fs::path output = scratch.folder("out");
  for (const auto& file : job.source->files) write(sources / file.path, file.text);
  write(sources / entry_file, nvcc_entry(*job.source, job.kernels));
  let_everyone_read(sources);

  std::vector<std::string> arguments = {"-cubin", "--keep",          "--keep-dir", "/out",
                                        "-o",     "/out/kevo.cubin", "-I/headers"};
  arguments.insert(arguments.end(), job.options.begin(), job.options.end());
  auto spec = nvcc_spec(job.nvcc, std::move(arguments), sources, output);
  const fs::path headers = scratch.folder("headers");
  hide_finished_kernels(job.nvcc, headers, spec);
  spec.limits = job.limits;
  spec.sandbox = job.sandbox;
  spec.cpus = job.cpus;
  report = run(spec);

  compile_answer answer;
  answer.status = compile_status::failed;
  answer.log = report.err;
  if (!report.ok()) return answer;
  answer.cubin = read_left(output / "kevo.cubin");
  answer.ptx = read_left(output / "kevo_entry.ptx");
  if (answer.cubin.empty()) {
    answer.message = "nvcc produced no cubin";
    return answer;
  }
  std::vector<std::string> symbols;
  for (const auto& kernel : read_cubin(answer.cubin).kernels) symbols.push_back(kernel.mangled);
  for (const auto& kernel : job.kernels) {
    answer.symbols.push_back(symbol_of(kernel, symbols));
    if (!answer.symbols.back().empty()) continue;
    answer.message = "nvcc produced no kernel " + kernel + ", or kevo cannot identify it";
    return answer;
  }
  answer.status = compile_status::compiled;
  return answer;
}

hosted_answer compile_hosted(const hosted_job& job, const std::function<exit_report(const launch_spec&)>& run,
                             exit_report& report) {
  const scratch_folder scratch(contains(job.sandbox) || job.sandbox != sandbox_mode::off);
  const fs::path sources = scratch.folder("src");
  const fs::path output = scratch.folder("out");
  for (const auto& file : job.source->files) write(sources / file.path, file.text);
  write(sources / entry_file, job.entry);
  let_everyone_read(sources);
  const fs::path headers = scratch.folder("headers");
  std::vector<std::string> arguments = {"-shared",  "-cudart",        "static", "-Xcompiler",  "-fPIC",
                                        "-Xlinker", "--no-undefined", "-o",     "/out/kevo.so"};
  arguments.insert(arguments.end(), job.options.begin(), job.options.end());
  for (const auto& folder : job.library_folders) arguments.push_back("-L" + folder);
  for (const auto& library : job.link) arguments.push_back("-l" + library);
  if (!job.trusted) arguments.emplace_back("-I/headers");
  auto spec = nvcc_spec(job.nvcc, std::move(arguments), sources, output);
  if (!job.trusted) hide_finished_kernels(job.nvcc, headers, spec);
  for (const auto& folder : job.library_folders) {
    const bool seen = std::any_of(spec.mounts.begin(), spec.mounts.end(), [&](const mount& m) {
      return folder == m.inside || folder.starts_with(m.inside + '/');
    });
    if (!seen) spec.mounts.push_back({folder, folder});
  }
  spec.limits = job.limits;
  spec.sandbox = job.sandbox;
  spec.cpus = job.cpus;
  report = run(spec);
  hosted_answer answer;
  answer.log = report.err;
  if (!report.ok()) return answer;
  answer.object = read_left(output / "kevo.so");
  answer.ok = !answer.object.empty();
  if (!answer.ok) answer.message = "nvcc produced no object file, or one that is too large";
  return answer;
}

}  // namespace kevo::cuda
