// labels: slow
// one processor
// timeout: 300
// What an evaluation of a program of PyTorch says: parameters, float64, types, exceptions, rules.
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "fitness/torch/check_by_programs.hpp"
#include "fitness/torch/check_torch_task.hpp"
#include "tests/support/has_pytorch.hpp"
#include "tests/torch/corpus.hpp"

namespace fs = std::filesystem;

namespace {

using torch_corpus::said;

const std::string head = "import torch\nimport torch.nn as nn\n\n";

kevo::task task_of(const std::string& reference, const std::string& out = "float32") {
  kevo::task t;
  t.name = "made";
  t.axes = {{"n", std::nullopt, ""}};
  t.inputs = {{"x", {"n"}, false, "float32", {}, ""}};
  t.outputs = {{"y", {"n"}, false, out, {}, ""}};
  t.reference =
      kevo::reference_source{"python", kevo::program_of("python", head + reference), "module", "Model"};
  kevo::workload usual;
  usual.uuid = "usual";
  usual.axes = {{"n", 1000}};
  t.workloads = {usual};
  t.tolerances[""] = {};
  t.tolerances[""].max_rtol = 1e-4;
  return t;
}

// Of one candidate after the other; nothing where this machine has no PyTorch.
std::optional<std::vector<kevo::evaluation>> judged(
    const kevo::task& t, const std::vector<std::string>& candidates,
    const std::optional<kevo::torch_settings>& settings = {}) {
  try {
    kevo::torch_fitness fitness(std::make_shared<const kevo::task>(t),
                                settings ? *settings : torch_corpus::warm_settings());
    std::vector<kevo::evaluation> all;
    for (const auto& one : candidates)
      all.push_back(torch_corpus::evaluate(fitness, head + one, kevo::evaluation_stage::checked));
    return all;
  } catch (const kevo::error& missing) {
    if (missing.code() != kevo::error_code::environment ||
        missing.message().find("no Python with PyTorch") != 0)
      throw;
    kevo_test::skip(missing.message());
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("the reference as a candidate is the baseline, and is as fast as itself") {
  auto settings = torch_corpus::quick_settings();
  settings.timing = {};
  auto fitness = torch_corpus::fitness_for("layer", settings);
  if (!fitness) return;
  const auto text = fitness->subject().reference->source.text();
  const auto e = torch_corpus::evaluate(*fitness, std::string(text), kevo::evaluation_stage::confirmed);
  REQUIRE_MESSAGE(e.valid(), said(e));
  CHECK(e.context.at("identical_to") == "eager");
  CHECK(e.backend == "torch");
  // A turn of one call of the one against a turn of many of the other made this 1.4 to 1.9.
  CHECK_MESSAGE(e.speedup_interval.low < 1.1, e.speedup);
  CHECK_MESSAGE(e.speedup_interval.high > 0.9, e.speedup);
  CHECK(e.measures.at("triton_kernels") == 0);
  CHECK(e.context.at("kernelbench_rule").find("accepts") == 0);
}

TEST_CASE("parameters are drawn from a secret seed, and candidates are given them") {
  // Of another process the same candidate has other parameters; both times they are the reference's.
  const std::string model =
      "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
      "        self.scale = nn.Parameter(torch.rand(1))\n        self.register_buffer('shift', "
      "torch.rand(1))\n"
      "    def forward(self, x):\n        return x * self.scale + self.shift\n";
  const auto t = task_of(model);
  const auto all =
      judged(t, {// Its constructor draws them in another order.
                 "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                 "        self.register_buffer('shift', torch.rand(1))\n"
                 "        self.scale = nn.Parameter(torch.rand(1))\n"
                 "    def forward(self, x):\n        return torch.addcmul(self.shift, x, self.scale)\n",
                 // It knows them in advance.
                 "class ModelNew(nn.Module):\n    def forward(self, x):\n        return x * 0.5 + 0.5\n"});
  if (!all) return;
  CHECK_MESSAGE((*all)[0].valid(), said((*all)[0]));
  CHECK((*all)[0].context.at("parameters").find("the reference's") == 0);
  CHECK((*all)[1].outcome == kevo::outcome::incorrect);
  CHECK(!(*all)[1].context.contains("parameters"));
}

TEST_CASE("a module may change the parameters that its constructor drew") {
  const auto t = task_of(
      "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
      "        self.weight = nn.Parameter(torch.rand(1) + 1)\n"
      "    def forward(self, x):\n        return x * self.weight * 2\n");
  const std::string drawn =
      "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
      "        self.weight = nn.Parameter(torch.rand(1) + 1)\n";
  const std::string folded = drawn + "        self.weight.data *= 2\n";
  const auto all = judged(t, {folded + "    def forward(self, x):\n        return x * self.weight\n",
                              drawn + "    def forward(self, x):\n        return 2 * (x * self.weight)\n",
                              // Neither with its own nor with the reference's.
                              folded + "    def forward(self, x):\n        return x * self.weight * 3\n"});
  if (!all) return;
  CHECK_MESSAGE((*all)[0].valid(), said((*all)[0]));
  CHECK((*all)[0].context.at("parameters").find("the program's own") == 0);
  CHECK_MESSAGE((*all)[1].valid(), said((*all)[1]));
  CHECK(!(*all)[1].context.contains("parameters"));
  CHECK((*all)[2].outcome == kevo::outcome::incorrect);
  CHECK_MESSAGE((*all)[2].feedback.find("made the program is wrong, too") != std::string::npos,
                said((*all)[2]));
}

TEST_CASE("a reference that cannot compute in float64 computes in its own type, and the evaluation says so") {
  const std::string narrow =
      "class Model(nn.Module):\n    def forward(self, x):\n"
      "        return torch.dot(x, torch.ones(x.shape, dtype=torch.float32)) + x\n";
  const auto e =
      judged(task_of(narrow),
             {"class ModelNew(nn.Module):\n    def forward(self, x):\n        return x.sum() + x\n"});
  if (!e) return;
  CHECK(e->front().context.at("reference").find("does not compute in float64") != std::string::npos);
}

// 0x5f3759df: in float64 the same bits would be other numbers, without an error where the shape is the same.
TEST_CASE("a reference that reads the bits of its input computes in its own type") {
  const std::string head = "class NAME(nn.Module):\n    def forward(self, x):\n        x = x.abs() + 0.5\n";
  const auto named = [&](const std::string& name, const std::string& body) {
    auto text = head + body;
    return text.replace(text.find("NAME"), 4, name);
  };
  const std::string bits = "        return (0x5f3759df - (x.view(torch.int32) >> 1)).view(torch.float32)\n";
  const auto all =
      judged(task_of(named("Model", bits)),
             {named("ModelNew", bits), named("ModelNew", "        return torch.rsqrt(x) * 1.1\n")});
  if (!all) return;
  CHECK_MESSAGE((*all)[0].valid(), said((*all)[0]));
  CHECK((*all)[0].context.at("reference").find("it reads the bits of its elements") != std::string::npos);
  CHECK((*all)[1].outcome == kevo::outcome::incorrect);
}

// What fails in every type is the reference's fault, and is said as it failed there.
TEST_CASE("a reference that fails in its own type, too, is an error of the task") {
  const std::string failing =
      "class Model(nn.Module):\n    def forward(self, x):\n"
      "        raise RuntimeError('no ' + str(x.dtype))\n";
  const std::vector<std::string> any = {
      "class ModelNew(nn.Module):\n    def forward(self, x):\n        return x\n"};
  try {
    static_cast<void>(judged(task_of(failing), any));
  } catch (const kevo::error& failure) {
    CHECK_MESSAGE(failure.message().find("no torch.float32") != std::string::npos, failure.message());
    return;
  }
  CHECK_FALSE(kevo_test::has_pytorch());
}

// Otherwise the heap's layout, or a setting that a program changes, decides which results get used pages.
TEST_CASE("large tensors get pages that were used before, after the first calls") {
  const std::string model = "class Model(nn.Module):\n    def forward(self, x):\n        return x + 1\n";
  const std::string watching =
      "import resource\n"
      "def faults():\n    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
      "class ModelNew(nn.Module):\n"
      "    def __init__(self):\n        super().__init__()\n        self.calls = 0\n"
      "    def forward(self, x):\n"
      "        self.calls += 1\n"
      "        for size in [1 << 15, 1 << 18, 1 << 20, 1 << 20, 1 << 18, 1 << 20, 1 << 15]:\n"
      "            before = faults()\n"
      "            large = torch.ones(size)\n"
      "            if self.calls > 4 and faults() - before > 8:\n"
      "                raise RuntimeError('new pages')\n"
      "            del large\n"
      "        return x + 1\n";
  const auto e = judged(task_of(model), {watching});
  if (!e) return;
  CHECK_MESSAGE(e->front().valid(), said(e->front()));
}

TEST_CASE(
    "an exception of a candidate is told with its line, and what KernelBench would say of its results") {
  const auto t = task_of("class Model(nn.Module):\n    def forward(self, x):\n        return x + 1\n");
  const auto all =
      judged(t, {"class ModelNew(nn.Module):\n    def forward(self, x):\n        return x + undefined_name\n",
                 "class ModelNew(nn.Module:\n", "x = 1\n",
                 // Wrong by less than KernelBench minds, and by more.
                 "class ModelNew(nn.Module):\n    def forward(self, x):\n        return x + 1.00009\n",
                 "class ModelNew(nn.Module):\n    def forward(self, x):\n        return x + 1.5\n"});
  if (!all) return;
  const auto& crashed = (*all)[0];
  CHECK(crashed.outcome == kevo::outcome::crashed);
  CHECK_MESSAGE(crashed.feedback.find("name 'undefined_name' is not defined (line 6 of kernel.py)") !=
                    std::string::npos,
                crashed.feedback);
  CHECK((*all)[1].outcome == kevo::outcome::launch_failed);
  CHECK_MESSAGE((*all)[1].feedback.find("SyntaxError") != std::string::npos, said((*all)[1]));
  CHECK_MESSAGE((*all)[2].feedback.find("does not define ModelNew") != std::string::npos, said((*all)[2]));
  CHECK((*all)[3].outcome == kevo::outcome::incorrect);
  CHECK((*all)[3].context.at("kernelbench_rule").find("accepts") == 0);
  CHECK((*all)[4].outcome == kevo::outcome::incorrect);
  CHECK((*all)[4].context.at("kernelbench_rule").find("refuses") == 0);
}

TEST_CASE("KernelBench's rule is applied to the reference in the types of the task, as KernelBench does") {
  auto t = task_of("class Model(nn.Module):\n    def forward(self, x):\n        return x + 3e4 - 3e4\n");
  t.tolerances[""].max_atol = 1e-2;
  const auto all =
      judged(t, {"class ModelNew(nn.Module):\n    def forward(self, x):\n        return 3e4 + x - 3e4\n",
                 "class ModelNew(nn.Module):\n    def forward(self, x):\n        return x + 0\n"});
  if (!all) return;
  // It rounds as the reference does, by ten times what the rule allows.
  CHECK_MESSAGE((*all)[0].valid(), said((*all)[0]));
  CHECK((*all)[0].context.at("kernelbench_rule").find("accepts") == 0);
  // It does not round at all.
  CHECK_MESSAGE((*all)[1].valid(), said((*all)[1]));
  CHECK((*all)[1].context.at("kernelbench_rule").find("refuses") == 0);
}

TEST_CASE(
    "the reference in the place of a candidate is refused with the workload on which float32 is not enough") {
  auto t = task_of(
      "class Model(nn.Module):\n    def forward(self, x):\n"
      "        return x + 1e5 - 1e5 if len(x) % 2 else x + 0\n");
  kevo::workload odd = t.workloads.front();
  odd.uuid = "odd";
  odd.axes["n"] = 77;
  odd.hidden = true;
  const auto refused = [&] {
    return kevo::torch::refusal_of_reference(std::make_shared<const kevo::task>(t),
                                             torch_corpus::warm_settings());
  };
  if (!judged(t, {})) return;
  CHECK(refused().empty());
  t.workloads.push_back(odd);
  CHECK_MESSAGE(refused().find("workload 'odd'") != std::string::npos, refused());
}

TEST_CASE("a rule refuses programs without a kernel of their own") {
  auto settings = torch_corpus::quick_settings();
  settings.own_kernel = true;
  const auto e =
      judged(task_of("class Model(nn.Module):\n    def forward(self, x):\n        return x + 1\n"),
             {"class ModelNew(nn.Module):\n    def forward(self, x):\n        return x + 1\n"}, settings);
  if (!e) return;
  CHECK(e->front().outcome == kevo::outcome::build_failed);
  CHECK(e->front().feedback.find("no kernel of its own") != std::string::npos);
}

TEST_CASE("the share of own kernels is measured on a GPU alone, and a CPU says so") {
  auto settings = torch_corpus::quick_settings();
  settings.own_kernel_share = 0.5;
  const auto t = std::make_shared<const kevo::task>(
      task_of("class Model(nn.Module):\n    def forward(self, x):\n        return x + 1\n"));
  try {
    const kevo::torch_fitness fitness(t, settings);
    FAIL("accepted");
  } catch (const kevo::error& wrong) {
    CHECK(wrong.code() == kevo::error_code::input);
    CHECK(wrong.place().key == "fitness.own_kernel_share");
  }
}

TEST_CASE("host times are the score on a GPU alone, and a CPU says so") {
  auto settings = torch_corpus::quick_settings();
  const auto t = std::make_shared<const kevo::task>(
      task_of("class Model(nn.Module):\n    def forward(self, x):\n        return x + 1\n"));
  for (const std::string time : {"host", "both"}) {
    settings.time = time;
    try {
      const kevo::torch_fitness fitness(t, settings);
      FAIL("accepted");
    } catch (const kevo::error& wrong) {
      CHECK(wrong.code() == kevo::error_code::input);
      CHECK(wrong.place().key == "fitness.time");
    }
  }
}

TEST_CASE("a Definition of FlashInfer-Bench whose reference is Python's text is judged as its file says") {
  const fs::path folder = fs::temp_directory_path() / ("kevo-definition-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "scaled.json") << R"({"name": "scaled", "op_type": "scale", "description": "d",
 "axes": {"rows": {"type": "var"}, "width": {"type": "const", "value": 32}},
 "inputs": {"x": {"shape": ["rows", "width"], "dtype": "float32"}, "factor": {"shape": null, "dtype": "float32"}},
 "outputs": {"y": {"shape": ["rows", "width"], "dtype": "float32"}},
 "reference": "import torch\n\ndef run(x, factor):\n    return torch.softmax(x * factor, dim=-1)\n"})";
  std::ofstream(folder / "scaled.jsonl")
      << R"({"definition": "scaled", "workload": {"uuid": "a", "axes": {"rows": 9}, )"
         R"("inputs": {"x": {"type": "random"}, "factor": {"type": "scalar", "value": 0.5}}}})"
      << '\n';
  const auto t = kevo::load_task((folder / "scaled.json").string());
  fs::remove_all(folder);
  REQUIRE(t.reference->language == "python");
  const auto all = judged(
      t, {"def run(x, factor):\n    e = torch.exp(x * factor)\n    return e / e.sum(-1, keepdim=True)\n",
          "def run(x, factor):\n    return torch.softmax(x, dim=-1)\n"});
  if (!all) return;
  CHECK_MESSAGE((*all)[0].valid(), said((*all)[0]));
  CHECK_MESSAGE((*all)[1].outcome == kevo::outcome::incorrect, said((*all)[1]));
}

TEST_CASE("boolean and integer results are compared exactly") {
  auto t = task_of("class Model(nn.Module):\n    def forward(self, x):\n        return x > 0.25\n", "bool");
  t.tolerances[""].rule = "exact";
  const auto all =
      judged(t, {"class ModelNew(nn.Module):\n    def forward(self, x):\n        return ~(x <= 0.25)\n",
                 "class ModelNew(nn.Module):\n    def forward(self, x):\n        return x > 0.5\n"});
  if (!all) return;
  CHECK_MESSAGE((*all)[0].valid(), said((*all)[0]));
  CHECK((*all)[1].outcome == kevo::outcome::incorrect);
}

TEST_CASE("controls find a tolerance that accepts wrong outputs") {
  // No result is larger than 1.
  auto t =
      task_of("class Model(nn.Module):\n    def forward(self, x):\n        return torch.softmax(x, dim=0)\n");
  t.tolerances[""].max_atol = 2;
  try {
    const auto report =
        kevo::torch::check_torch_task(std::make_shared<const kevo::task>(t), torch_corpus::quick_settings());
    CHECK_FALSE(report.ok());
    const auto zeros = std::find_if(report.controls.begin(), report.controls.end(),
                                    [](const auto& one) { return one.name == "zeros"; });
    REQUIRE(zeros != report.controls.end());
    CHECK_FALSE(zeros->ok);
  } catch (const kevo::error& missing) {
    if (missing.code() != kevo::error_code::environment ||
        missing.message().find("no Python with PyTorch") != 0)
      throw;
    kevo_test::skip(missing.message());
  }
}
