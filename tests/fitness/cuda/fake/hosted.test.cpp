// timed
// once: exploits of hosted launch*,a hosted program is as fast*,a baseline may be linked*
// once: a hosted baseline is timed*,a vendor's own library*
// Hosted launch end to end on the test double of the driver: programs with host code of their own, built by a
// stand-in for nvcc, run by the real kevo-worker-hosted and timed by the real kevo-device. The exploits are
// those of tests/gpu/hosted that the double can play.
// timeout: 600

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/cuda/hosted/hosted_compiler.hpp"
#include "fitness/cuda/hosted/torch_libraries.hpp"
#include "fitness/cuda/measure/minimum_times.hpp"
#include "fitness/cuda/measure/reading_plans.hpp"
#include "fitness/cuda/measure/two_clocks.hpp"
#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"
#include "tests/support/skip.hpp"

using namespace kevo;
namespace fs = std::filesystem;

namespace {

const fs::path programs = KEVO_SOURCE_DIR "/tests/gpu/hosted";

std::string value_of(const std::string& text, const std::string& key) {
  const std::string start = "// " + key + ": ";
  const auto at = text.find(start);
  return at == std::string::npos ? ""
                                 : text.substr(at + start.size(), text.find('\n', at) - at - start.size());
}

/// y = 2 x in so many nanoseconds, with other lines of `run` before the launch.
std::string hosted_scale_of(int ns, const std::string& lines = {}) {
  return "#define FAKE_NS " + std::to_string(ns) +
         "\n#include <cuda_runtime.h>\n#include <cstdint>\n"
         "__global__ void scale(const float* x, float* y, long long n) {\n"
         "  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) y[i] = 2 * x[i];\n}\n"
         "extern \"C\" int run(const float* x, float* y, int64_t N, cudaStream_t stream) {\n" +
         lines + "  scale<<<(N + 63) / 64, 64, 0, stream>>>(x, y, N);\n  return 0;\n}\n";
}

std::shared_ptr<const task> with_baselines(const std::string& baselines) {
  auto t = *toy::task_of("scale.yaml");
  const auto hosted = hosted_scale_of(40000);
  if (baselines == "hosted first") t.baselines = {{"hosted", program_of("cuda", hosted), {}, false}};
  if (baselines == "library") {
    const auto with =
        "#include <toyblas.h>\n" + hosted_scale_of(40000, "  if (toyblas_version() != 3) return 1;\n");
    t.baselines.push_back({"toyblas", program_of("cuda", with), {"toyblas"}, true});
  }
  return std::make_shared<const task>(t);
}

}  // namespace

TEST_CASE("a program that cannot use host functions of a stream learns why") {
  const fake_gpu gpu;
  cuda_fitness fitness(with_baselines("hosted first"), toy::quick_settings());
  const auto told = [&](const std::string& lines) {
    const auto e = toy::evaluate(fitness, hosted_scale_of(10000, lines));
    CHECK(e.outcome == outcome::launch_failed);
    CHECK(e.feedback.find("the function run returned 3") != std::string::npos);
    return e.feedback.find("may start no threads") != std::string::npos;
  };
  CHECK(told("  return 3;  // what cudaLaunchHostFunc has answered\n"));
  CHECK_FALSE(told("  return 3;\n"));
}

TEST_CASE("a hosted program is timed beside a baseline whose workspace is much larger than its data") {
  const fake_gpu gpu;
  auto t = *toy::task_of("scale.yaml");
  const auto declared = shell::read_file(KEVO_SOURCE_DIR "/tests/fitness/cuda/fake/scale.cu");
  const std::string launch = "// kevo: launch";
  const auto at = declared.find(launch);
  REQUIRE(at != std::string::npos);
  const auto with_workspace =
      declared.substr(0, at) + "// kevo: workspace space float32 [1048576]\n" + declared.substr(at);
  t.baselines = {{"seed", program_of("cuda", with_workspace), {}, false}};
  auto settings = toy::quick_settings();
  settings.limits.workspace_bytes = 8U << 20U;
  cuda_fitness fitness(std::make_shared<const task>(t), settings);
  const auto e = toy::evaluate(fitness, hosted_scale_of(10000));
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.speedup == doctest::Approx(2).epsilon(0.05));
}

TEST_CASE("exploits of hosted launch are caught, odd but honest programs are accepted") {
  const fake_gpu gpu;
  auto settings = toy::quick_settings();
  settings.timing.short_s = 0.2;
  settings.limits.call_s = 2;
  cuda_fitness fitness(toy::task_of("rows.yaml"), settings);
  int right[2] = {};
  int total[2] = {};
  for (const bool honest : {false, true}) {
    for (const auto& file : fs::directory_iterator(programs / (honest ? "honest" : "attacks"))) {
      const std::string text = shell::read_file(file.path());
      if (value_of(text, "fake") == "no") continue;
      // Without a sandbox the libraries of the machine are there for all.
      if (file.path().stem() == "load_cublas" && settings.sandbox == sandbox_mode::off) continue;
      const auto verdict = "|" + value_of(text, "verdict") + "|";
      const auto most = value_of(text, "most_speedup");
      const auto result = toy::evaluate(fitness, text, evaluation_stage::timed_short);
      const bool fine =
          verdict.find("|" + std::string(to_string(result.outcome)) + "|") != std::string::npos &&
          (most.empty() || result.speedup <= std::stod(most));
      CHECK_MESSAGE(fine, file.path().stem().string(), ": ", to_string(result.outcome), ", ", result.speedup,
                    " times: ", result.feedback);
      std::printf("%-24s %-13s %6.3f  %s\n", file.path().stem().c_str(),
                  std::string(to_string(result.outcome)).c_str(), result.speedup,
                  result.feedback.substr(0, result.feedback.find('\n')).c_str());
      right[honest] += fine ? 1 : 0;
      ++total[honest];
    }
  }
  MESSAGE("hosted exploits judged rightly: ", right[0], " of ", total[0],
          "; honest programs accepted: ", right[1], " of ", total[1]);
  CHECK(total[0] >= 8);
  CHECK(total[1] >= 3);
  // Nobody else pays for them.
  CHECK(toy::evaluate(fitness, shell::read_file(toy::folder + "rows.cu")).valid());
}

TEST_CASE(
    "a hosted program is as fast as the device's clock says, and the evaluation says how fine that is") {
  const fake_gpu gpu;
  cuda_fitness fitness(toy::task_of("scale.yaml"), toy::quick_settings());
  const auto twice = toy::evaluate(fitness, hosted_scale_of(10000));
  CHECK_MESSAGE(twice.valid(), twice.feedback);
  CHECK(twice.speedup == doctest::Approx(2).epsilon(0.03));
  for (const auto& w : twice.workloads) {
    if (!w.hidden) CHECK(w.time_ns == doctest::Approx(10000).epsilon(0.03));
    if (!w.hidden) CHECK(w.baseline_ns == doctest::Approx(20000).epsilon(0.03));
  }
  CHECK(twice.context.at("clock").starts_with("the trusted clock: "));
  CHECK(std::stod(twice.context.at("hosted_resolution_ns")) < 200);
  CHECK(std::stod(twice.context.at("hosted_interval_ms")) >= 2);
  CHECK(std::stoi(twice.context.at("hosted_interval_calls")) >= 200);
  CHECK(twice.measures.at("code_bytes") > 1000);

  const auto same = toy::evaluate(fitness, hosted_scale_of(20000));
  CHECK(same.valid());
  CHECK(same.speedup == doctest::Approx(1).epsilon(0.02));

  const auto confirmed = toy::evaluate(fitness, hosted_scale_of(10000), evaluation_stage::confirmed);
  CHECK_MESSAGE(confirmed.stage == evaluation_stage::confirmed, confirmed.feedback);
  CHECK(confirmed.speedup == doctest::Approx(2).epsilon(0.03));

  // A declared program beside it is timed as ever.
  CHECK(toy::evaluate(fitness, toy::scale_source(10000)).context.at("clock").starts_with("events"));
}

TEST_CASE("a hosted baseline is timed by its events, unless the candidate is hosted, too") {
  const fake_gpu gpu;
  cuda_fitness fitness(with_baselines("hosted first"), toy::quick_settings());
  const auto declared = toy::evaluate(fitness, toy::scale_source(20000));
  CHECK_MESSAGE(declared.valid(), declared.feedback);
  CHECK(declared.baseline == "hosted");
  CHECK(declared.context.at("clock").starts_with("events"));
  CHECK(declared.speedup == doctest::Approx(2).epsilon(0.03));
  const auto hosted = toy::evaluate(fitness, hosted_scale_of(40000));
  CHECK(hosted.context.at("clock").starts_with("the trusted clock: "));
  CHECK(hosted.speedup == doctest::Approx(1).epsilon(0.03));
}

TEST_CASE(
    "a baseline may be linked with a library, and is skipped with a word about it where there is none") {
  const fake_gpu gpu;
  {
    cuda_fitness fitness(with_baselines("library"), toy::quick_settings());
    const auto result = toy::evaluate(fitness, toy::scale_source(10000), evaluation_stage::confirmed);
    CHECK_MESSAGE(result.valid(), result.feedback);
    CHECK(result.other_speedups.empty());
    CHECK(result.context.at("baselines_left_out").find("toyblas (") != std::string::npos);
    CHECK(result.context.at("baselines_left_out").find("toyblas.h") != std::string::npos);
  }
  const fs::path toolkit = gpu.folder() + "/toolkit";
  shell::write_file(toolkit / "include/toyblas.h", "extern \"C\" int toyblas_version();\n");
  shell::write_file(toolkit / "toyblas.cpp", "extern \"C\" int toyblas_version() { return 3; }\n");
  const auto made =
      shell::run({"/usr/bin/g++", "-shared", "-fPIC", "-Wl,-soname,libtoyblas.so.3", "-o",
                  (toolkit / "lib/libtoyblas.so").string(), (toolkit / "toyblas.cpp").string()});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  fs::copy_file(toolkit / "lib/libtoyblas.so", toolkit / "lib/libtoyblas.so.3");
  cuda_fitness fitness(with_baselines("library"), toy::quick_settings());
  const auto result = toy::evaluate(fitness, toy::scale_source(10000), evaluation_stage::confirmed);
  CHECK_MESSAGE(result.valid(), result.feedback);
  CHECK_FALSE(result.context.contains("baselines_left_out"));
  CHECK(result.speedup == doctest::Approx(2).epsilon(0.03));
  CHECK(result.other_speedups.at("toyblas") == doctest::Approx(4).epsilon(0.03));
  const auto range = result.other_speedup_intervals.at("toyblas");
  CHECK(range.low < result.other_speedups.at("toyblas"));
  CHECK(range.high > result.other_speedups.at("toyblas"));
  CHECK(range.low > 3);
  CHECK(range.high < 5);
  // The same library is not for candidates.
  const auto stolen = toy::evaluate(
      fitness,
      "#include <dlfcn.h>\n" +
          hosted_scale_of(10000, "  if (dlopen(\"libtoyblas.so.3\", RTLD_NOW) == nullptr) return 5;\n"));
  if (toy::sandbox_here() != sandbox_mode::off) CHECK(stolen.outcome == outcome::launch_failed);
}

TEST_CASE("a vendor's own library is loaded in the sandbox of a baseline, where there is one") {
  const auto nvcc = cuda::find_hosted_nvcc();
  if (nvcc.empty()) {
    kevo_test::skip("there is no nvcc on this machine");
    return;
  }
  const fake_gpu gpu;
  ::setenv("KEVO_NVCC", nvcc.c_str(), 1);
  auto t = *toy::task_of("scale.yaml");
  // No more than what works without a device.
  t.baselines.push_back({"cublas",
                         program_of("cuda",
                                    "#include <cublas_v2.h>\n#include <cuda_runtime.h>\n#include <cstdint>\n"
                                    "extern \"C\" int run(const float*, float*, int64_t, cudaStream_t) {\n"
                                    "  return cublasGetCudartVersion() > 10000 ? 42 : 43;\n}\n"),
                         {"cublas"},
                         true});
  cuda_fitness fitness(std::make_shared<const task>(t), toy::quick_settings());
  const auto result = toy::evaluate(fitness, toy::scale_source(10000), evaluation_stage::checked);
  CHECK(result.valid());
  const auto left_out = result.context.at("baselines_left_out");
  const bool no_library = left_out.find("No such file") != std::string::npos ||
                          left_out.find("cannot find -l") != std::string::npos;
  CHECK_MESSAGE((no_library || left_out.find("the function run returned 42") != std::string::npos), left_out);
  std::puts(left_out.c_str());
}

TEST_CASE("PyTorch's libraries are loaded in the sandbox of a baseline, where there are some") {
  const auto nvcc = cuda::find_hosted_nvcc();
  if (nvcc.empty()) {
    kevo_test::skip("there is no nvcc on this machine");
    return;
  }
  const auto found = cuda::find_torch_libraries({"torch_cuda", "torch_cpu"}, {}, true);
  const fake_gpu gpu;
  ::setenv("KEVO_NVCC", nvcc.c_str(), 1);
  auto t = *toy::task_of("scale.yaml");
  // No more than what works without a device: a tensor in memory of the host, and the address of a kernel's
  // function.
  const std::string text =
      "#include <cuda_runtime.h>\n#include <cstdint>\n"
      "extern \"C\" {\n"
      "int aoti_torch_device_type_cpu();\nint aoti_torch_dtype_float32();\n"
      "int aoti_torch_create_tensor_from_blob(void*, int64_t, const int64_t*, const int64_t*, int64_t, int, "
      "int, "
      "int, void**);\n"
      "int aoti_torch_get_numel(void*, int64_t*);\nint aoti_torch_delete_tensor_object(void*);\n"
      "int aoti_torch_cuda__flash_attention_forward();\n}\n"
      "extern \"C\" int run(const float*, float*, int64_t, cudaStream_t) {\n"
      "  int (*volatile kernel)() = &aoti_torch_cuda__flash_attention_forward;\n"
      "  if (kernel == nullptr) return 1;\n"
      "  float memory[6] = {};\n  int64_t sizes[] = {2, 3}, strides[] = {3, 1}, count = 0;\n"
      "  void* tensor = nullptr;\n"
      "  if (aoti_torch_create_tensor_from_blob(memory, 2, sizes, strides, 0, aoti_torch_dtype_float32(), "
      "aoti_torch_device_type_cpu(), 0, &tensor) != 0) return 2;\n"
      "  if (aoti_torch_get_numel(tensor, &count) != 0 || aoti_torch_delete_tensor_object(tensor) != 0) "
      "return "
      "3;\n"
      "  return 36 + (int)count;\n}\n";
  t.baselines.push_back({"torch", program_of("cuda", text), {"torch_cuda", "torch_cpu"}, true});
  cuda_fitness fitness(std::make_shared<const task>(t), toy::quick_settings());
  const auto result = toy::evaluate(fitness, toy::scale_source(10000), evaluation_stage::checked);
  CHECK_MESSAGE(result.valid(), result.feedback);
  const auto left_out = result.context.at("baselines_left_out");
  const std::string expected = found.missing.empty() ? "the function run returned 42" : "PyTorch";
  CHECK_MESSAGE(left_out.find(expected) != std::string::npos, left_out);
  std::puts(left_out.c_str());
  // The same libraries are not for candidates.
  const auto stolen = toy::evaluate(
      fitness,
      "#include <dlfcn.h>\n" +
          hosted_scale_of(10000, "  if (dlopen(\"libtorch_cpu.so\", RTLD_NOW) == nullptr) return 5;\n"));
  if (toy::sandbox_here() != sandbox_mode::off)
    CHECK_MESSAGE(stolen.feedback.find("returned 5") != std::string::npos, stolen.feedback);
}

TEST_CASE("host code may throw and catch, and what it does not catch costs that candidate only") {
  const fake_gpu gpu;
  cuda_fitness fitness(toy::task_of("scale.yaml"), toy::quick_settings());
  const auto judge = [&](const std::string& lines) {
    return toy::evaluate(fitness, "#include <stdexcept>\n#include <thread>\n" + hosted_scale_of(20000, lines),
                         evaluation_stage::checked);
  };
  CHECK(judge("  try { throw std::runtime_error(\"x\"); } catch (const std::exception&) {}\n").valid());
  // A thread is denied as one is that the machine has no room for.
  const auto alone =
      judge("  try { std::thread([] {}).detach(); return 4; } catch (const std::exception&) {}\n");
  CHECK_MESSAGE(alone.valid(), alone.feedback);
  CHECK(judge("  throw 1;\n").outcome == outcome::crashed);
  CHECK(judge("").valid());
}

TEST_CASE("what does not build is a value that says why") {
  const fake_gpu gpu;
  cuda_fitness fitness(toy::task_of("scale.yaml"), toy::quick_settings());
  const auto judge = [&](const std::string& run) {
    return toy::evaluate(fitness, "#include <cuda_runtime.h>\n#include <cstdint>\n" + run);
  };
  const auto missing = judge("extern \"C\" int run(const float* x, cudaStream_t stream) { return 0; }\n");
  CHECK(missing.outcome == outcome::build_failed);
  CHECK(missing.feedback.find("run") != std::string::npos);
  const auto doubles =
      judge("extern \"C\" int run(const double*, double*, int64_t, cudaStream_t) { return 0; }\n");
  CHECK(doubles.outcome == outcome::build_failed);
  const auto open = judge(
      "extern \"C\" void elsewhere();\n"
      "extern \"C\" int run(const float*, float*, int64_t, cudaStream_t) { elsewhere(); return 0; }\n");
  CHECK(open.outcome == outcome::build_failed);
  CHECK(open.feedback.find("elsewhere") != std::string::npos);
}

// Its memory is limited as a candidate's is: a program that finds none in that role alone.
TEST_CASE("a candidate that finds no memory is to blame only if a known program finds some in its place") {
  const fake_gpu gpu;
  const std::string full_for_candidates =
      "  rlimit most{};\n  getrlimit(RLIMIT_DATA, &most);\n"
      "  if (most.rlim_cur != RLIM_INFINITY) return cudaErrorMemoryAllocation;\n";
  const auto with_header = [](const std::string& text) { return "#include <sys/resource.h>\n" + text; };
  const auto greedy = hosted_scale_of(20000, "  return cudaErrorMemoryAllocation;\n");
  {
    cuda_fitness fitness(with_baselines("hosted first"), toy::quick_settings());
    const auto e = toy::evaluate(fitness, greedy);
    CHECK(e.outcome == outcome::crashed);
    CHECK_MESSAGE(
        e.feedback.find("found no memory on the device: the function run returned 2") != std::string::npos,
        e.feedback);
    CHECK(toy::evaluate(fitness, hosted_scale_of(20000)).valid());
    const auto other = hosted_scale_of(20001, "  return cudaErrorMemoryAllocation;\n");
    CHECK(toy::count_tries(fitness, other, false).tries == 1);
    CHECK(toy::count_tries(fitness, other, true).tries == 2);
  }
  auto t = *toy::task_of("scale.yaml");
  t.baselines = {
      {"large", program_of("cuda", with_header(hosted_scale_of(40000, full_for_candidates))), {}, false}};
  cuda_fitness fitness(std::make_shared<const task>(t), toy::quick_settings());
  try {
    const auto e = toy::evaluate(fitness, greedy);
    FAIL("blamed the candidate: ", e.feedback);
  } catch (const error& failure) {
    CHECK(failure.code() == error_code::environment);
    CHECK_MESSAGE(
        failure.message().find("the device has no room for a candidate on workload '") != std::string::npos,
        failure.message());
    CHECK_MESSAGE(failure.hint().find("a device with more memory") != std::string::npos, failure.hint());
  }
  // Whoever needs none is not asked.
  CHECK(toy::evaluate(fitness, hosted_scale_of(20000)).valid());
}

TEST_CASE("where there is no nvcc, hosted programs are refused and all else works") {
  const fake_gpu gpu;
  ::setenv("KEVO_NVCC", "none", 1);
  cuda_fitness fitness(with_baselines("library"), toy::quick_settings());
  const auto hosted = toy::evaluate(fitness, hosted_scale_of(10000));
  CHECK(hosted.outcome == outcome::build_failed);
  CHECK(hosted.feedback.find("nvcc was not found") != std::string::npos);
  const auto declared = toy::evaluate(fitness, toy::scale_source(10000));
  CHECK(declared.valid());
  CHECK(declared.context.at("baselines_left_out").find("nvcc was not found") != std::string::npos);
}

TEST_CASE("hosted programs are known by what they say") {
  const auto hosted = [](const std::string& text) { return cuda::is_hosted(program_of("cuda", text)); };
  CHECK(hosted(hosted_scale_of(1000)));
  CHECK(hosted("int run (const float* x, cudaStream_t s);"));
  CHECK_FALSE(hosted(toy::scale_source(1000)));
  CHECK_FALSE(hosted("__global__ void rerun(float* x) {}"));
  CHECK_FALSE(
      hosted("// kevo: launch f<<<1, 1>>>(x)\n__global__ void f(float* x) {}\nint run(cudaStream_t);\n"));
  const auto t = *toy::task_of("scale.yaml");
  CHECK(cuda::hosted_prototype(t) ==
        "extern \"C\" int run(const float* x, float* y, int64_t N, cudaStream_t stream)");
  const auto plan = cuda::hosted_plan(t, t.workloads.at(1));
  REQUIRE(plan.steps.size() == 1);
  CHECK(std::get<cuda::kernel_launch>(plan.steps.front()).arguments.size() == 3);
}

TEST_CASE("an interval holds as many distinct calls as make 2 ms, where there are so many") {
  CHECK(cuda::plan_intervals(20e3, 30e3, false, 400, 512).calls == 110);
  CHECK(cuda::plan_intervals(5e6, 9e6, true, 32, 512).calls == 1);
  CHECK(cuda::plan_intervals(20e3, 30e3, false, 32, 512).calls == 31);
  CHECK(cuda::plan_intervals(20e3, 30e3, false, 400, 8).calls == 8);
  CHECK(cuda::plan_intervals(20e3, 30e3, true, 1, 8).calls == 1);
  // Of programs in Python: longer, with calls in front; four of them and a first call are one process's.
  const auto python = cuda::plan_python_intervals(300e3, 200e3, false, 180, 512);
  CHECK(python.calls == 40);
  CHECK(python.pairs == 4);
  CHECK(python.untimed == 4);
  CHECK(4 * (python.calls + python.untimed) + 1 <= 180);
  CHECK(cuda::plan_python_intervals(300e3, 200e3, false, 40, 512).calls == 15);
  CHECK(cuda::plan_python_intervals(300e3, 200e3, false, 2, 1).calls == 1);
  CHECK(cuda::plan_python_intervals(300e3, 200e3, false, 2, 1).untimed == 0);
  // One call that was held up, and one that was short because the next one was long, change nothing.
  CHECK(cuda::middle_mean({1, 5, 5, 5, 5, 5, 5, 900}) == doctest::Approx(5));
  CHECK(cuda::middle_mean({3}) == doctest::Approx(3));
}

TEST_CASE("no process that has seen a hidden size is asked for a visible one afterwards") {
  const fake_gpu gpu;
  auto t = *toy::task_of("scale.yaml");
  std::stable_partition(t.workloads.begin(), t.workloads.end(), [](const workload& w) { return w.hidden; });
  REQUIRE(t.workloads.front().hidden);
  std::string visible = "false";
  for (const auto& w : t.workloads) {
    if (!w.hidden) visible += " || N == " + std::to_string(w.axes.at("N"));
  }
  auto settings = toy::quick_settings();
  settings.gates.determinism = 2;
  cuda_fitness fitness(std::make_shared<const task>(t), settings);
  const auto tells = toy::evaluate(
      fitness, hosted_scale_of(10000, "  static int64_t other = 0;\n  if (!(" + visible +
                                          ")) other = N;\n  else if (other != 0) return int(other);\n"));
  CHECK_MESSAGE(tells.valid(), tells.feedback);
}

TEST_CASE("the first call of a size may take as long as a call may, for host code tunes itself then") {
  const fake_gpu gpu;
  auto t = *toy::task_of("scale.yaml");
  std::erase_if(t.workloads, [](const workload& w) { return w.uuid != "small"; });
  auto settings = toy::quick_settings();
  settings.timing.short_pairs = 1;
  settings.timing.pairs = 1;
  cuda_fitness fitness(std::make_shared<const task>(t), settings);
  // Any other call of so short a baseline may take 1.5 s. The double's clock stands still for the first two
  // seconds of it.
  const auto tunes = toy::evaluate(
      fitness,
      "#include <unistd.h>\n" +
          hosted_scale_of(10000,
                          "  static bool tuned = false;\n  if (!tuned) usleep(3800000);\n  tuned = true;\n"),
      evaluation_stage::timed_short);
  CHECK_MESSAGE(tunes.valid(), tunes.feedback);
}

TEST_CASE("a hosted program that hoards shared memory of the host is ended, and told why") {
  const fake_gpu gpu;
  auto settings = toy::quick_settings();
  settings.limits.memory_bytes = 64U << 20U;
  cuda_fitness fitness(toy::task_of("scale.yaml"), settings);
  const auto hoards = toy::evaluate(
      fitness, "#include <sys/mman.h>\n#include <unistd.h>\n" +
                   hosted_scale_of(10000,
                                   "  for (int i = 0; i < 400; ++i) {\n"
                                   "    char* part = (char*)mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE,\n"
                                   "                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);\n"
                                   "    if (part == MAP_FAILED) return 1;\n"
                                   "    for (int k = 0; k < 1 << 20; k += 4096) part[k] = 1;\n"
                                   "    usleep(2000);\n  }\n"));
  CHECK(hoards.outcome == outcome::crashed);
  CHECK_MESSAGE(hoards.feedback.find("limits.memory") != std::string::npos, hoards.feedback);
}

TEST_CASE("what the clock of intervals cannot tell from nothing is too short for it, and not impossible") {
  const fake_gpu gpu;
  auto t = *toy::task_of("scale.yaml");
  std::erase_if(t.workloads, [](const workload& w) { return w.uuid != "small"; });
  cuda_fitness fitness(std::make_shared<const task>(t), toy::quick_settings());
  // Where neighbours take the processor, an interval may last long enough to be told from an empty one. Then
  // the figure has to be as long as the clock can tell, and another program is tried.
  evaluation short_one;
  for (int i = 0; i < 8 && !short_one.context.contains("too_short"); ++i) {
    short_one = toy::evaluate(fitness, hosted_scale_of(1, "  // try " + std::to_string(i) + "\n"));
    REQUIRE_MESSAGE(short_one.valid(), short_one.feedback);
    if (short_one.context.contains("too_short")) break;
    CHECK(short_one.workloads.at(0).time_ns >=
          0.95 * cuda::resolutions_apart * std::stod(short_one.context.at("hosted_resolution_ns")));
    CHECK(short_one.feedback.find("too short for this mode") == std::string::npos);
  }
  REQUIRE(short_one.context.contains("too_short"));
  CHECK(short_one.context.at("too_short") == "small");
  CHECK(short_one.feedback.find("too short for this mode") != std::string::npos);
  const double resolution_ns = std::stod(short_one.context.at("hosted_resolution_ns"));
  CHECK(resolution_ns > 0.1);
  CHECK(short_one.workloads.at(0).time_ns >= resolution_ns);
  CHECK(short_one.speedup_interval.low < 0.7 * short_one.speedup);
}
