// labels: slow
// one processor
// A program in Triton as a bundle: one file of Python, whose function gives what PyTorch's own operations
// give on Triton's interpreter, also for launch lines with every part.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "fitness/torch/python_server.hpp"
#include "src/export/bundle/bundle.hpp"
#include "src/export/bundle/python_text.hpp"
#include "tests/export/bundle/run_of.hpp"
#include "tests/support/has_pytorch.hpp"
#include "tests/support/shell.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

// Runs Python with PyTorch and Triton's interpreter in a folder.
shell::result python(const std::string& folder, const std::string& text) {
  const auto tools = kevo::torch::find_torch({}, false);
  // Numbers of a kernel as bounds of a loop, which Triton 3.6 and NumPy 2.4 together do not take.
  const std::string mended =
      "import sys\nsys.path.insert(0, '" KEVO_SOURCE_DIR
      "/fitness/torch')\nimport kevo_torch_program\nkevo_torch_program.mend_interpreter()\n";
  shell::write_file(folder + "/checks.py", mended + text);
  return shell::run({"/usr/bin/env", "TRITON_INTERPRET=1", "PYTHONDONTWRITEBYTECODE=1",
                     "PYTHONPATH=" + tools.packages, "OMP_NUM_THREADS=1", tools.python, "checks.py"},
                    folder);
}

std::string export_of(const run_of& run, const std::string& name = "") {
  const auto folder = run.folder / "bundle";
  const auto made = kevo::export_bundle(run.record, run.task, folder, {.candidate = 0, .name = name});
  CHECK(made.remarks.size() == 1);  // no test in the folder
  CHECK_FALSE(made.as_measured);
  return folder;
}

/// Python that calls the bundle of a task's seed as `program`.
struct seed_check {
  std::string task;
  std::string checks;
};

// The shipped seeds, all in one process of Python. In float16 instead of bfloat16, because Triton's
// interpreter multiplies the bits of bfloat16.
void check_seeds(const std::vector<seed_check>& all) {
  const scratch_folder folder;
  std::filesystem::copy(KEVO_SOURCE_DIR "/configs/tasks", folder / "tasks",
                        std::filesystem::copy_options::recursive);
  std::string text = "import sys\nimport torch\n";
  for (const auto& [task, checks] : all) {
    const auto file = folder / ("tasks/" + task + "/task.yaml");
    for (const auto& changed : {file, folder / ("tasks/" + task + "/tunable.py")}) {
      auto half = shell::read_file(changed);
      for (std::size_t at; (at = half.find("bfloat16")) != std::string::npos;)
        half.erase(at, 1).replace(at, 7, "float16");
      shell::write_file(changed, half);
    }
    const run_of run({kevo::load_task(file).seeds.front()}, file);
    std::filesystem::copy(export_of(run), folder / task, std::filesystem::copy_options::recursive);
    text += "sys.path.insert(0, '" + (folder / task) + "')\nfrom " + task + " import " + task +
            " as program\ntorch.manual_seed(1)\n" + checks;
  }
  const auto ran = python(folder / ".", text);
  CHECK_MESSAGE(ran.code == 0, ran.err);
}

}  // namespace

TEST_CASE("the shipped seeds in Triton become functions that agree with PyTorch") {
  if (!has_pytorch()) return;
  check_seeds(
      {{"triton_softmax",
        "for shape in [(3, 7), (2, 1500)]:\n"
        "    x = 8 * torch.randn(shape)\n"
        "    torch.testing.assert_close(program(x), torch.softmax(x, 1))\n"},
       {"triton_rmsnorm",
        "for shape in [(3, 7), (2, 1500)]:\n"
        "    x, weight = torch.randn(shape), torch.rand(shape[1])\n"
        "    expected = x * weight / (x.square().mean(1, keepdim=True) + 1e-6).sqrt()\n"
        "    torch.testing.assert_close(program(x, weight), expected)\n"},
       {"triton_attention",
        "q, k, v = (torch.randn(2, 70, 64).half() for _ in range(3))\n"
        "expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double())\n"
        "torch.testing.assert_close(program(q, k, v).double(), expected, atol=0.01, rtol=0.02)\n"},
       {"triton_matmul_bf16",
        "A, B = torch.randn(70, 45).half(), torch.randn(33, 45).half()\n"
        "expected = A.double() @ B.double().T\n"
        "torch.testing.assert_close(program(A, B).double(), expected, atol=0.05, rtol=0.005)\n"},
       {"triton_matmul_int8",
        "A, B = (torch.randint(-127, 128, (n, 45), dtype=torch.int8) for n in (70, 33))\n"
        "a, b = torch.rand(70) / 10, torch.rand(33) / 10\n"
        "expected = (A.double() @ B.double().T) * a.double()[:, None] * b.double()\n"
        "torch.testing.assert_close(program(A, B, a, b).double(), expected, atol=0.5, rtol=0.005)\n"},
       {"triton_grouped_conv",
        "x, w = torch.randn(2, 5, 4, 3, 32).half(), torch.randn(3, 32, 3, 3, 32).half()\n"
        "images = x.double().permute(0, 3, 4, 1, 2).reshape(2, 96, 5, 4)\n"
        "filters = w.double().permute(0, 1, 4, 2, 3).reshape(96, 32, 3, 3)\n"
        "expected = torch.nn.functional.conv2d(images, filters, padding=1, groups=3)\n"
        "expected = expected.reshape(2, 3, 32, 5, 4).permute(0, 3, 4, 1, 2)\n"
        "torch.testing.assert_close(program(x, w).double(), expected, atol=0.05, rtol=0.005)\n"}});
}

TEST_CASE("a function refuses tensors that do not fit the task") {
  if (!has_pytorch()) return;
  check_seeds(
      {{"triton_rmsnorm",
        "x, weight = torch.randn(3, 7), torch.rand(7)\n"
        "for wrong in [(x, torch.rand(8)), (x.double(), weight), (x.T, torch.rand(3)), (x[0], weight)]:\n"
        "    try:\n"
        "        program(*wrong)\n"
        "    except ValueError as refused:\n"
        "        assert 'must be' in str(refused), refused\n"
        "    else:\n"
        "        raise AssertionError(wrong)\n"}});
}

TEST_CASE("every part of launch lines is in the function") {
  if (!has_pytorch()) return;
  const scratch_folder folder;
  shell::write_file(folder / "task.yaml",
                    "name: parts\nop_type: parts\ndescription: 'Says \"so\".'\n"
                    "axes: {N: {type: var}, HALF: {type: var}, TWO: {type: const, value: 2}}\nconstraints: "
                    "['HALF == N / 2']\n"
                    "inputs: {lambda: {shape: [N], dtype: float32}, device: {shape: null, dtype: float32}}\n"
                    "outputs: {y: {shape: [HALF + 1], dtype: float32}, count: {shape: [TWO], dtype: int32}}\n"
                    "reference: {language: cuda, file: r.cu}\nworkloads: [{uuid: a, axes: {N: 8, HALF: 4}, "
                    "inputs: {device: {type: scalar, value: 3.0}}}]\n"
                    "seeds: [seed.py]\n");
  shell::write_file(folder / "r.cu", "__global__ void reference() {}\n");
  shell::write_file(folder / "seed.py", R"(import triton
import triton.language as tl

BLOCK = 4  # kevo: {4, 8}
SHIFT = 0.5  # kevo: {0.5, 1.5}
CHOICE = 1  # kevo: {0, 1}
# kevo: workspace sums float32 [ceildiv(N, BLOCK), 2]
# kevo: memset sums 0
# kevo: memset count 255 4
# kevo: for i in 0..HALF / BLOCK + 1: launch part[1](lambda, sums + i, device, SKIP=1, N=N, FIRST=BLOCK) warps 4
# kevo: when N % 2 == 0 && N > 4 || N == 2: launch made[ceildiv(HALF + 1, made.SIZE)](sums, y, HALF + 1, count + 1, float32(1 / HALF + 0.5e-1)) config CHOICE
# kevo: when !(N % 2 == 0 && N > 4 || N == 2): launch made[1](sums, y, HALF + 1, count + 1, float32(0), SIZE=pow2_ceil(HALF + 1)) warps (N > 100 ? 8 : 4)


@triton.jit
def part(x, SKIP: tl.constexpr, sums, factor, N: tl.constexpr, FIRST: tl.constexpr):
    place = tl.arange(0, FIRST)
    tl.store(sums, factor * tl.sum(tl.load(x + place, mask=place < N, other=0.0), 0) + SKIP)


@triton.autotune(configs=[triton.Config({"SIZE": 2}, num_warps=1), triton.Config({"SIZE": 4}, num_warps=2)], key=[])
@triton.jit
def made(sums, y, n, count, extra, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(y + place, tl.load(sums) + tl.load(sums + 1) + extra, mask=place < n)
    tl.store(count, SIZE)
)");
  const auto file = folder / "task.yaml";
  const run_of run({kevo::load_task(file).seeds.front()}, file);
  const auto bundle = export_of(run, "made");
  const auto ran = python(bundle,
                          "import torch\nfrom made import made\nimport made as module\n"
                          "assert module.run is made\n"
                          "def check(n, size, extra, parts):\n"
                          "    x = torch.arange(1.0, n + 1)\n"
                          "    y, count = made(x, 3.0)\n"
                          "    one = 3 * x[:4].sum().item() + 1\n"
                          "    expected = one * parts + extra\n"
                          "    torch.testing.assert_close(y, torch.full((n // 2 + 1,), expected))\n"
                          "    assert count.tolist() == [-1, size], count\n"
                          "check(8, 4, 0.3, 2)\n"  // two rounds; configuration 1
                          "check(7, 4, 0.0, 1)\n"  // one round; its own constant
                          "check(2, 4, 1.05, 1)\n"
                          "assert 'so' in made.__doc__\n");
  CHECK_MESSAGE(ran.code == 0, ran.err << shell::read_file(bundle + "/made.py"));
  const auto page = shell::read_file(bundle + "/README.md");
  CHECK(page.find("from made import made") != std::string::npos);
  CHECK(page.find("cmake") == std::string::npos);
}

TEST_CASE("a function refuses sizes for which no launch line holds") {
  if (!has_pytorch()) return;
  const run_of run({kevo::single_file_program("triton", "seed.py",
                                              "import triton\n# kevo: when N > 4: launch f[1](x)\n"
                                              "@triton.jit\ndef f(x):\n    pass\n")},
                   KEVO_SOURCE_DIR "/configs/tasks/triton_softmax/task.yaml");
  const auto ran =
      python(export_of(run, "made"),
             "import torch\nfrom made import made\nmade(torch.ones(1, 5))\nmade(torch.ones(1, 4))\n");
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.err.find("line 8, in <module>") != std::string::npos, ran.err);
  CHECK_MESSAGE(ran.err.find("ValueError: no launch line applies to these sizes") != std::string::npos,
                ran.err);
}

TEST_CASE("what a function of PyTorch cannot do is refused with its line") {
  const scratch_folder folder;
  const auto refusal = [&](const std::string& lines, const std::string& rest = "") {
    const auto source = "import triton\n" + lines + "\n@triton.jit\ndef f(x):\n    pass\n" + rest;
    const run_of run({kevo::single_file_program("triton", "seed.py", source)},
                     KEVO_SOURCE_DIR "/configs/tasks/triton_softmax/task.yaml");
    try {
      kevo::export_bundle(run.record, run.task, run.folder / "bundle", {.candidate = 0});
    } catch (const kevo::error& refused) {
      CHECK_FALSE(std::filesystem::exists(run.folder / "bundle"));
      return std::to_string(refused.place().line) + ": " + refused.message();
    }
    return std::string("made");
  };
  CHECK(refusal("# kevo: launch f[M](x)") == "made");
  CHECK(refusal("# kevo: launch f[M](x, int64(N))").find("2: a number of type int64") == 0);
  CHECK(refusal("# kevo: launch f[M](x, null)").find("2: the argument null") == 0);
  CHECK(refusal("# kevo: launch f[occupancy(f)](x)").find("2: occupancy(kernel)") == 0);
  // The function is not called as a kernel that others use.
  CHECK(refusal("# kevo: launch f[M](x)", "def triton_softmax():\n    pass\n") == "made");
  CHECK(refusal("# kevo: launch f[M](x)", "a = triton_softmax\n").find("uses the name 'triton_softmax'") !=
        std::string::npos);
}

TEST_CASE("an expression in Python has the value that kevo computes") {
  if (!has_pytorch()) return;
  const scratch_folder folder;
  const std::vector<std::string> operators = {
      "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
  kevo::rng random(5);
  // As many parentheses as operators, so that precedence is seen, too.
  const auto operand = [&] {
    const std::vector<std::string> all = {"a",
                                          "b",
                                          "7",
                                          "0x10",
                                          "!b",
                                          "-a",
                                          "(a + b)",
                                          "max(a, 3, b)",
                                          "ceildiv(a, 3)",
                                          "align_up(b, 4)",
                                          "pow2_ceil(a + 9)",
                                          "log2_ceil(9)",
                                          "(a > b ? a : 5)",
                                          "sizeof(float16)",
                                          "min(a)"};
    return all[random.below(all.size())];
  };
  std::string checks =
      "import m as module\n"
      "for name in dir(module):\n    globals()[name] = getattr(module, name)\n";
  std::size_t compared = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = operand();
    for (auto more = random.below(5); more > 0; --more)
      text += " " + operators[random.below(operators.size())] + " " + operand();
    if (random.chance(0.2)) text = text + " ? " + operand() + " : " + operand() + " - 1";
    const auto e = kevo::expression::parse(text);
    const std::int64_t a = random.integer(-5, 40);
    const std::int64_t b = random.integer(-3, 9);
    std::int64_t value = 0;
    try {
      value = e.evaluate([&](std::string_view name) { return std::optional(name == "a" ? a : b); });
    } catch (const kevo::error&) {
      continue;  // a division by zero
    }
    ++compared;
    const auto python_text =
        kevo::bundle::python_text(e, [](std::string_view name) { return "v_" + std::string(name); });
    checks += "v_a, v_b = " + std::to_string(a) + ", " + std::to_string(b) + "\nassert " + python_text +
              " == " + std::to_string(value) + ", '" + text + "'\n";
  }
  CHECK(compared > 1500);
  const run_of run({kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/triton_softmax/task.yaml").seeds.front()},
                   KEVO_SOURCE_DIR "/configs/tasks/triton_softmax/task.yaml");
  const auto bundle = export_of(run, "m");
  const auto ran = python(bundle, checks);
  CHECK_MESSAGE(ran.code == 0, ran.err);
}
