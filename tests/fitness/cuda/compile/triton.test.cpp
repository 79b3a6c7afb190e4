// timed
// timeout: 120
// Programs in Triton compile with a real Triton, without a GPU, and become plans for each workload. Skips
// where there is no Triton.

#include "fitness/cuda/compile/triton.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/compile/variable_limit.hpp"
#include "fitness/cuda/launch/wanted_kernels.hpp"
#include "operators/llm/conversation.hpp"
#include "src/export/bundle/triton_module.hpp"
#include "src/llm/cassette.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/configs/champion_table.hpp"
#include "tests/support/gpu_program.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace kevo::cuda;
namespace fs = std::filesystem;

namespace {

std::string triton_place() {
  const std::string fetched = KEVO_SOURCE_DIR "/build/python";
  return fs::exists(fetched + "/triton") ? fetched : "";
}

bool triton_is_there() {
  try {
    find_triton(triton_place());
    return true;
  } catch (const kevo::error& missing) {
    kevo_test::skip(missing.message());
    return false;
  }
}

// The compiler of this file, with NVRTC where there is one: Triton needs none.
cuda_compiler& triton_compiler() {
  static cuda_compiler one = [] {
    cuda_compiler_settings settings;
    settings.compiler = "/bin/true";  // instead of NVRTC, which is not used
    settings.python = triton_place();
    settings.sandbox = kevo::sandbox_mode::best;
    return cuda_compiler(settings);
  }();
  return one;
}

// A task of one input and one output of N elements; the last workload is hidden.
kevo::task vector_task() {
  const shell::scratch folder;
  shell::write_file(folder / "reference.cu",
                    "// kevo: launch f<<<1, 1>>>(x, y, N)\n"
                    "extern \"C\" __global__ void f(const float* x, double* y, long n) {}\n");
  shell::write_file(
      folder / "task.yaml",
      "name: vector\n"
      "axes: {N: {type: var}}\n"
      "inputs: {x: {shape: [N], dtype: float32}, scale: {dtype: float32, shape: null}}\n"
      "outputs: {y: {shape: [N], dtype: float32}}\n"
      "reference: {language: cuda, file: reference.cu}\n"
      "generate: {x: normal}\n"
      "workloads:\n"
      "  - {uuid: even, axes: {N: 4096}, inputs: {scale: {type: scalar, value: 2.0}}}\n"
      "  - {uuid: odd, axes: {N: 1001}, inputs: {scale: {type: scalar, value: 3.0}}, hidden: true}\n"
      "tolerance: {rule: bounds, max_atol: 1.0e-6, max_rtol: 1.0e-6}\n");
  return kevo::load_task((folder / "task.yaml").string());
}

struct built {
  std::vector<plan> plans;  // of each workload
  compiled_module module;
  std::string failure;  // why there is none
  std::string log;
};

built build(const std::string& text, const kevo::task& t) {
  const auto source = kevo::program_of("triton", text);
  const auto lines = read_launch_lines(source);
  if (const auto* failure = std::get_if<launch_failure>(&lines)) return {{}, {}, failure->reason, {}};
  const auto& declared = std::get<declared_launch>(lines);
  const device_facts facts;
  const auto wanted = kernels_to_compile(declared, source, t, facts);
  if (const auto* failure = std::get_if<launch_failure>(&wanted)) return {{}, {}, failure->reason, {}};
  const auto& kernels = std::get<wanted_kernels>(wanted);
  const auto made = triton_compiler().build({source, kernels.names, facts.architecture, {}, kernels.visible});
  if (!made.ok) return {{}, {}, made.reasons.empty() ? "?" : made.reasons.front(), made.diagnostics};
  built result;
  result.module = made.module;
  for (const auto& w : t.workloads) {
    const auto resolved = resolve(declared, signature_of(t, w), made.module, facts);
    if (const auto* failure = std::get_if<launch_failure>(&resolved)) return {{}, {}, failure->reason, {}};
    result.plans.push_back(std::get<plan>(resolved));
  }
  return result;
}

const kernel_launch& step(const built& b, std::size_t workload, std::size_t i = 0) {
  return std::get<kernel_launch>(b.plans.at(workload).steps.at(i));
}

constexpr const char* head =
    "import torch\n"
    "import triton\n"
    "import triton.language as tl\n"
    "BLOCK = 256  # kevo: {128, 256}\n"
    "WARPS = 2  # kevo: {1, 2, 4}\n";
constexpr const char* scaled =
    "@triton.jit\n"
    "def scaled(x, y, scale, n, BLOCK: tl.constexpr, EXACT: tl.constexpr = True):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    tl.store(y + i, tl.load(x + i, mask=i < n) * scale, mask=i < n)\n"
    "class ModelNew(torch.nn.Module):\n"
    "    @torch.no_grad()\n"
    "    def forward(self, x: torch.Tensor) -> torch.Tensor:\n"
    "        return scaled[(1,)](x, x, 2.0, x.numel(), BLOCK=BLOCK)\n";

}  // namespace

TEST_CASE("a program in Triton may choose options of Triton's compiler, and no others") {
  if (!triton_is_there()) return;
  const auto t = vector_task();
  const std::string text =
      "import triton\nimport triton.language as tl\n"
      "# kevo: launch f[1](x, y, scale, N, BLOCK=256)\n"
      "@triton.jit\n"
      "def f(x, y, scale, n, BLOCK: tl.constexpr):\n"
      "    i = tl.arange(0, BLOCK)\n"
      "    v = tl.load(x + i, mask=i < n)\n"
      "    tl.store(y + i, v * scale + v, mask=i < n)\n";
  const auto plain = build(text, t);
  const auto apart = build("# kevo: build {fuse_multiply_add: off, optimize: 2}\n" + text, t);
  CAPTURE(plain.log);
  CAPTURE(apart.log);
  REQUIRE(plain.failure.empty());
  REQUIRE(apart.failure.empty());
  CHECK(plain.module.images.at(0) != apart.module.images.at(0));
  const auto refused = build("# kevo: build {registers: 64}\n" + text, t);
  CHECK(refused.failure.find("programs in Triton have no build option 'registers'") != std::string::npos);
}

TEST_CASE(
    "a kernel is compiled for what each workload says of its arguments, and launched as Triton decides") {
  if (!triton_is_there()) return;
  const auto t = vector_task();
  const auto b =
      build(std::string(head) +
                "# kevo: launch scaled[ceildiv(N, scaled.BLOCK)](x, y, scale, N, BLOCK=BLOCK) warps WARPS\n" +
                scaled,
            t);
  REQUIRE_MESSAGE(b.failure.empty(), b.failure, b.log);
  REQUIRE(b.module.kernels.size() == 2);
  CHECK(b.module.images.size() == 2);
  CHECK(b.module.kernels[0].name ==
        "scaled('*fp32:16', '*fp32:16', 'fp32', 'i32:16', BLOCK=256, num_warps=2)");
  CHECK(b.module.kernels[1].name == "scaled('*fp32:16', '*fp32:16', 'fp32', 'i32', BLOCK=256, num_warps=2)");
  // The size of a hidden workload shows in nothing that people read.
  CHECK_FALSE(b.module.kernels[0].hidden);
  CHECK(b.module.kernels[1].hidden);
  CHECK(describe_resources(b.module).find("'i32'") == std::string::npos);
  CHECK(b.module.kernels[0].registers > 0);
  CHECK(step(b, 0).grid == std::array<std::uint32_t, 3>{16, 1, 1});
  CHECK(step(b, 1).grid == std::array<std::uint32_t, 3>{4, 1, 1});
  CHECK(step(b, 0).block == std::array<std::uint32_t, 3>{64, 1, 1});
  CHECK(step(b, 0).kernel == 0);
  CHECK(step(b, 1).kernel == 1);
  // Its own four, and two pointers that Triton adds.
  REQUIRE(step(b, 0).arguments.size() == 6);
  CHECK(step(b, 0).arguments[1] == launch_argument(buffer_argument{1, 0}));
  CHECK(std::get<scalar_argument>(step(b, 0).arguments[3]).size == 4);
  CHECK(step(b, 0).arguments[5] == launch_argument(null_argument{}));
  // Another process gets the same.
  CHECK(decode_module(encode(b.module)) == b.module);
}

TEST_CASE("configurations of an autotuner are chosen by number, and their constants name the grid") {
  if (!triton_is_there()) return;
  const std::string text = std::string(head) +
                           "CHOICE = 1  # kevo: {0, 1}\n"
                           "# kevo: launch doubled[ceildiv(N, doubled.SIZE)](x, y, N) config CHOICE\n"
                           "@triton.autotune(configs=[triton.Config({'SIZE': 64}, num_warps=1), "
                           "triton.Config({'SIZE': 512}, num_warps=8)], key=['n'])\n"
                           "@triton.jit\n"
                           "def doubled(x, y, n, SIZE: tl.constexpr):\n"
                           "    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)\n"
                           "    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)\n";
  const auto b = build(text, vector_task());
  REQUIRE_MESSAGE(b.failure.empty(), b.failure, b.log);
  CHECK(step(b, 0).grid[0] == 8);
  CHECK(step(b, 0).block[0] == 256);
}

TEST_CASE("scratch memory that a kernel needs becomes a workspace; the number 1 is compiled in") {
  if (!triton_is_there()) return;
  const auto b =
      build(std::string(head) +
                "# kevo: launch copied[ceildiv(N, BLOCK)](x, y, N, 1, BLOCK=BLOCK)\n"
                "@triton.jit\n"
                "def copied(x, y, n, stride, BLOCK: tl.constexpr):\n"
                "    d = tl.make_tensor_descriptor(x, shape=[n], strides=[1], block_shape=[BLOCK])\n"
                "    start = tl.program_id(0) * BLOCK\n"
                "    i = start + tl.arange(0, BLOCK)\n"
                "    tl.store(y + i * stride, d.load([start]), mask=i < n)\n",
            vector_task());
  REQUIRE_MESSAGE(b.failure.empty(), b.failure, b.log);
  CHECK(step(b, 0).arguments.size() == 5);  // x, y, n, scratch memory, one that is not used
  REQUIRE(b.plans[0].workspaces.size() == 1);
  CHECK(b.plans[0].workspaces[0].bytes == 16 * b.module.kernels[0].decided->scratch_bytes);
  CHECK(step(b, 0).arguments[3] == launch_argument(buffer_argument{2, 0}));
}

TEST_CASE("what does not compile says where; what fails for a hidden workload says no more than that") {
  if (!triton_is_there()) return;
  const auto t = vector_task();
  const std::string launch = "# kevo: launch f[1](x, y, N, B=BLOCK)\n@triton.jit\n";
  const auto failure = [&](const std::string& text) { return build(head + text, t).failure; };
  CHECK(failure(launch + "def f(x, y, n, B: tl.constexpr):\n    tl.store(y, tl.arange(0, 100))\n") ==
        "kernel.py:9:17: error: arange's range must be a power of 2");
  CHECK(failure(launch + "def g(x, y, n, B: tl.constexpr):\n    pass\n") == "the program has no kernel 'f'");
  CHECK(failure(launch + "def f(x, y, B: tl.constexpr):\n    pass\n") ==
        "'f' takes 2 arguments by position (x, y), not 3");
  CHECK(failure(launch + "def f(x, y, n, B):\n    pass\n") ==
        "'f': 'B' is not a tl.constexpr: give it by position");
  CHECK(failure(launch + "def f(x, y, n, B: tl.constexpr, C: tl.constexpr):\n    pass\n") ==
        "'f': the value of 'C' is missing: write C=...");
  CHECK(failure("# kevo: launch f[1](x)\ndef f(x):\n    pass\n") ==
        "'f' is not a kernel: @triton.jit is missing");
  CHECK(failure("@triton.jit\ndef f(x):\n    pass\n").find("the program has no launch line") !=
        std::string::npos);
  CHECK(failure("# kevo: launch f[1](x)\nraise SystemExit(3)\n") == "SystemExit: 3");
  CHECK(failure("# kevo: launch f<<<1, 1>>>(x)\n").find("the program is in Triton") != std::string::npos);
  CHECK(failure("# kevo: launch f[1](z)\n").find("unknown name 'z' (names:") != std::string::npos);
  CHECK(failure("# kevo: launch f[g.B](x)\n").find("unknown name 'g.B'") != std::string::npos);
  // 1001 is the size of the hidden workload.
  const auto hidden = build(std::string(head) +
                                "# kevo: launch f[1](x, y, SIZE=N)\n@triton.jit\n"
                                "def f(x, y, SIZE: tl.constexpr):\n"
                                "    tl.store(y + tl.arange(0, SIZE), tl.load(x + tl.arange(0, SIZE)))\n",
                            t);
  CHECK(hidden.failure == "a kernel does not compile for a hidden workload");
  CHECK(hidden.log.find("1001") == std::string::npos);
}

TEST_CASE("a program that only calls PyTorch is refused, because it has no kernel") {
  if (!triton_is_there()) return;
  const auto t = vector_task();
  const std::string torch_only = "import torch\n\ndef doubled(x, y, n):\n    y.copy_(torch.mul(x, 2))\n";
  const std::string launch = "# kevo: launch doubled[1](x, y, N)\n";
  CHECK(build(torch_only, t).failure.find("the program has no kernel") != std::string::npos);
  CHECK(build(launch + torch_only, t).failure == "'doubled' is not a kernel: @triton.jit is missing");
  // A kernel beside it that is never launched, a function of PyTorch's under the kernel's name, and one that
  // PyTorch compiles.
  const std::string unused =
      std::string(head) + "@triton.jit\ndef decoy(x):\n    tl.store(x, 1.0)\n" + launch;
  CHECK(build(unused + torch_only, t).failure == "'doubled' is not a kernel: @triton.jit is missing");
  CHECK(build(unused + "import torch\ndoubled = torch.mul\n", t).failure ==
        "'doubled' is not a kernel: @triton.jit is missing");
  CHECK(build(unused + "import torch\n@torch.compile\ndef doubled(x, y, n):\n    y.copy_(2 * x)\n", t)
            .failure == "'doubled' is not a kernel: @triton.jit is missing");
  // A kernel cannot call PyTorch either.
  const auto inside = build(
      std::string(head) + launch + "import torch\n@triton.jit\ndef doubled(x, y, n):\n    torch.mul(x, 2)\n",
      t);
  CHECK_MESSAGE(!inside.failure.empty(), inside.failure);
}

TEST_CASE("a program cannot disturb its compilation beyond its own failure") {
  if (!triton_is_there()) return;
  const auto t = vector_task();
  const std::string launch =
      "# kevo: launch f[1](x)\nimport os\n@triton.jit\ndef f(x):\n    tl.store(x, 1.0)\n";
  CHECK(build(head + launch + "print('{\"kernels\": []}')\n", t).failure.empty());
  CHECK(build(head + launch + "os.write(1, b'{}')\n", t).failure.empty());
  const auto forged = [&](const std::string& answer) {
    return build(head + launch + "for fd in range(3, 20):\n    try:\n        os.write(fd, b'" + answer +
                     "')\n    except OSError:\n        pass\nos._exit(0)\n",
                 t)
        .failure;
  };
  CHECK(forged("{}").starts_with("the program disturbed its compilation"));
  CHECK(forged("[1, 2").starts_with("the program disturbed its compilation"));
  // It is asked for Triton's language, not for machine code.
  CHECK(forged("{\"kernels\": [{\"cubin\": \"7f45\", \"kernel\": \"f\"}]}") != "");
  CHECK(forged("{\"kernels\": [{\"text\": \"module {}\", \"settings\": {}, \"arguments\": [], \"constants\": "
               "{}}]}") != "");
  CHECK(forged("{\"kernels\": [{\"text\": \"no such language\", \"settings\": {}, \"arguments\": [], "
               "\"constants\": {}}]}") != "");
}

TEST_CASE("a program that hangs, exits, crashes or takes all memory while it is executed fails by itself") {
  if (!triton_is_there()) return;
  cuda_compiler_settings settings;
  settings.compiler = "/bin/true";
  settings.python = triton_place();
  settings.sandbox = kevo::sandbox_mode::best;
  settings.limits.wall_s = 3;
  cuda_compiler impatient(settings);
  const auto reason = [&](const std::string& text) {
    const auto made = impatient.build({kevo::program_of("triton", text), {"f('*fp32')"}, "sm_90a", {}});
    CHECK_FALSE(made.ok);
    return made.reasons.empty() ? std::string() : made.reasons.front();
  };
  const auto start = std::chrono::steady_clock::now();
  CHECK(reason("while True:\n    pass\n") == "Triton timed out after 3 s");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(6));  // once only
  CHECK(reason("import ctypes\nctypes.string_at(0)\n").find("signal 11") != std::string::npos);
  CHECK(reason("import os\nos._exit(7)\n").find("exit code 7") != std::string::npos);
  CHECK(reason("x = bytearray(1 << 36)\n").starts_with("MemoryError"));
  CHECK(reason("import os\nwhile True:\n    os.write(2, b'x' * 65536)\n") != "");
  // Nothing of it is left: the next program compiles.
  const auto next =
      impatient.build({kevo::program_of("triton",
                                        "import triton\nimport triton.language as tl\n@triton.jit\n"
                                        "def f(x):\n    tl.store(x, 1.0)\n"),
                       {"f('*fp32')"},
                       "sm_90a",
                       {}});
  CHECK_MESSAGE(next.ok, next.diagnostics);
}

TEST_CASE("a program that sees the names of hidden variants while it is executed can tell nobody") {
  if (!triton_is_there()) return;
  const auto b =
      build(std::string(head) +
                "# kevo: launch f[1](x, y, N, B=BLOCK, SIZE=N)\n"
                "import gc, sys\n"
                "told = [str(o) for o in gc.get_objects() if isinstance(o, dict) and 'kernels' in o]\n"
                "frame = sys._getframe()\n"
                "while frame:\n"
                "    told.append(str(frame.f_locals.get('job')))\n"
                "    frame = frame.f_back\n"
                "if 'SIZE=' + str(7 * 11 * 13) in str(told) or 'SIZE=4096' in str(told):\n"
                "    raise ValueError(str(told))\n"
                "@triton.jit\n"
                "def f(x, y, n, B: tl.constexpr, SIZE: tl.constexpr):\n"
                "    pass\n",
            vector_task());
  CHECK(b.failure.find("4096") != std::string::npos);
  CHECK((b.failure + b.log).find("1001") == std::string::npos);
}

TEST_CASE("every program of tests/gpu/triton compiles, unless its verdict is that it does not") {
  if (!triton_is_there()) return;
  const fs::path folder = KEVO_SOURCE_DIR "/tests/gpu/triton";
  const auto t = kevo::load_task(KEVO_SOURCE_DIR "/tests/gpu/row_sum.yaml");
  int count = 0;
  for (const char* kind : {"attacks", "honest"}) {
    for (const auto& file : fs::directory_iterator(folder / kind)) {
      const auto program = gpu_program::read(folder, file.path());
      if (program.text.find("while True") != std::string::npos) continue;  // takes as long as it may
      const bool refused = program.accepts("build_failed") || program.accepts("launch_failed");
      const auto b = build(program.text, t);
      CHECK_MESSAGE(b.failure.empty() != refused, file.path().filename().string(), ": ", b.failure, b.log);
      CHECK_MESSAGE((program.twin.empty() || fs::exists(program.twin)), program.twin.string());
      const bool large = refuse_large_variables(b.module).has_value();
      CHECK_MESSAGE(large == file.path().filename().string().starts_with("zeros_in_"), program.file.string());
      ++count;
    }
  }
  CHECK(count >= 20);
}

TEST_CASE("llm_triton_softmax: every reply of its cassette compiles, but for the draft to be repaired") {
  if (!triton_is_there()) return;
  const auto t = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/triton_softmax/naive.yaml");
  REQUIRE(t.seeds.size() == 1);
  const kevo::cassette tape(KEVO_SOURCE_DIR "/configs/cassettes/llm_triton_softmax.yaml",
                            kevo::cassette_mode::replay);
  const auto built_from = [&](const std::string& op, std::uint64_t ordinal) {
    const auto one = tape.find({op, "hand", ordinal});
    REQUIRE(one);
    const auto code = kevo::code_of(one->reply.content, "triton");
    REQUIRE(code);
    CHECK(kevo::summary_of(one->reply.content).size() > 10);
    return build(*code, t);
  };
  CHECK(build(t.seeds.front().files.front().text, t).failure == "");
  CHECK(built_from("llm_rewrite", 0).failure == "");
  CHECK(built_from("llm_rewrite", 1).failure == "a kernel does not compile for a hidden workload");
  CHECK(built_from("llm_repair", 0).failure == "");
  CHECK(tape.size() == 3);
}

TEST_CASE("the shipped seeds and champions in Triton compile for every workload of their tasks") {
  if (!triton_is_there()) return;
  const auto compiles = [](const fs::path& file, const kevo::task& t) {
    const auto b = build(shell::read_file(file), t);
    CHECK_MESSAGE(b.failure.empty(), file.string(), ": ", b.failure, b.log);
  };
  // A champion is its seed with other settings, which stands for the seed.
  std::set<fs::path> tuned;
  for (const auto& one : champions::all()) {
    if (one.language() != "triton") continue;
    tuned.insert(fs::weakly_canonical(champions::folder + one.seed));
    compiles(champions::folder + one.file(), kevo::load_task(champions::folder + one.task));
  }
  CHECK(tuned.size() >= 6);
  int others = 0;
  for (const auto& file : fs::recursive_directory_iterator(KEVO_SOURCE_DIR "/configs/tasks")) {
    if (file.path().extension() != ".py" || tuned.contains(fs::weakly_canonical(file.path()))) continue;
    if (kevo::load_program(file.path().string(), "", {}).language != "triton") continue;
    const auto t = kevo::load_task((file.path().parent_path() / "task.yaml").string());
    // Programs of PyTorch launch their kernels themselves.
    if (t.reference && t.reference->language == "python") continue;
    compiles(file.path(), t);
    ++others;
  }
  CHECK(others >= 1);
}

TEST_CASE("the file of a Triton bundle is a candidate with the machine code of its program") {
  if (!triton_is_there()) return;
  const auto t = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/triton_rmsnorm/task.yaml");
  const auto& seed = t.seeds.front();
  const auto lines = read_launch_lines(seed);
  REQUIRE(std::holds_alternative<declared_launch>(lines));
  const auto text = kevo::bundle::triton_module({"rmsnorm", &t, &seed, &std::get<declared_launch>(lines)});
  const auto program = build(seed.files.front().text, t);
  const auto bundle = build(text, t);
  CHECK_MESSAGE(bundle.failure.empty(), bundle.failure, bundle.log);
  // But for the name of a temporary folder, which ptxas writes into the information for debuggers.
  REQUIRE(bundle.module.images.size() == program.module.images.size());
  for (std::size_t i = 0; i < bundle.module.images.size(); ++i) {
    const auto& one = program.module.images[i];
    const auto& other = bundle.module.images[i];
    REQUIRE(one.size() == other.size());
    std::size_t different = 0;
    for (std::size_t at = 0; at < one.size(); ++at) different += one[at] != other[at] ? 1 : 0;
    CHECK(different <= 8);
  }
}
