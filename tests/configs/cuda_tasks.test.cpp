// The shipped CUDA tasks compile, and their launch lines fit every workload, hidden ones included. No GPU is
// needed; where there is no NVRTC, the launch lines alone are read.
// labels: slow
// timeout: 300

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/error.hpp>
#include <kevo/load_task.hpp>
#include <kevo/task.hpp>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/launch/resolve.hpp"
#include "operators/llm/conversation.hpp"
#include "operators/tune/setting_space.hpp"
#include "src/base/process/find_program.hpp"
#include "src/lab/ablation.hpp"
#include "src/llm/cassette.hpp"
#include "src/suite/suite_plan.hpp"
#include "src/task/task_loader.hpp"
#include "tests/configs/champion_table.hpp"
#include "tests/support/skip.hpp"

namespace fs = std::filesystem;
using namespace kevo::cuda;

namespace {

std::vector<kevo::task> cuda_tasks() {
  std::vector<kevo::task> tasks;
  for (const auto& folder : fs::directory_iterator(KEVO_SOURCE_DIR "/configs/tasks")) {
    if (!folder.path().filename().string().starts_with("cuda_")) continue;
    for (const auto* name : {"task.yaml", "fp16.yaml"}) {
      if (fs::exists(folder.path() / name)) tasks.push_back(kevo::load_task((folder.path() / name).string()));
    }
  }
  return tasks;
}

/// NVRTC of this machine or of the build folder (scripts/setup.sh --tests); nothing: there is none.
std::optional<cuda_compiler> find_compiler() {
  for (const auto& place : {std::string(), std::string(KEVO_SOURCE_DIR) + "/build/nvrtc"}) {
    try {
      cuda_compiler_settings settings;
      settings.cuda = place;
      settings.sandbox = kevo::sandbox_mode::best;
      return cuda_compiler(settings);
    } catch (const kevo::error&) {
    }
  }
  kevo_test::skip("there is no NVRTC on this machine");
  return std::nullopt;
}

/// What a reference is launched with: its outputs are 64 bits wide, and it writes scale tensors besides.
launch_signature signature_of_reference(const kevo::task& t, const kevo::workload& w) {
  auto made = signature_of(t, w);
  for (auto& output : made.outputs) output.dtype = "float64";
  for (const auto& [output, tolerance] : t.tolerances) {
    if (tolerance.rule == "accumulation") {
      made.outputs.push_back({tolerance.scale, "float64", made.outputs.front().elements});
    }
  }
  return made;
}

void check_program(cuda_compiler* compiler, const kevo::task& t, const kevo::program& source,
                   launch_signature (*signature)(const kevo::task&, const kevo::workload&)) {
  CAPTURE(t.name);
  CAPTURE(source.text().substr(0, 80));
  const device_facts facts;
  const auto reading = read_launch_lines(source);
  if (const auto* failure = std::get_if<launch_failure>(&reading)) FAIL(failure->reason);
  const auto& lines = std::get<declared_launch>(reading);
  const auto names = kernel_names(lines, signature(t, t.workloads.front()), facts);
  if (const auto* failure = std::get_if<launch_failure>(&names)) FAIL(failure->reason);
  if (compiler == nullptr) return;
  cuda_build_request request;
  request.source = source;
  request.kernels = std::get<std::vector<std::string>>(names);
  const auto built = compiler->build(request);
  REQUIRE_MESSAGE(built.ok, built.diagnostics);
  for (const auto& w : t.workloads) {
    CAPTURE(w.uuid);
    auto visible = signature(t, w);
    visible.hidden = false;  // so that a failure says why
    const auto made = resolve(lines, visible, built.module, facts);
    if (const auto* failure = std::get_if<launch_failure>(&made)) FAIL(failure->reason);
    CHECK(!std::get<plan>(made).steps.empty());
  }
}

}  // namespace

TEST_CASE("every CUDA task: references and seeds compile and can be launched on every workload") {
  auto compiler = find_compiler();
  const auto tasks = cuda_tasks();
  CHECK(tasks.size() >= 13);
  for (const auto& t : tasks) {
    CHECK(t.seeds.size() >= 2);
    for (const auto& seed : t.seeds) check_program(compiler ? &*compiler : nullptr, t, seed, signature_of);
    check_program(compiler ? &*compiler : nullptr, t, t.reference->source, signature_of_reference);
  }
}

TEST_CASE("settings of the tunable seeds that reach furthest compile and can be launched, too") {
  struct reach {
    std::string task;
    std::map<std::string, std::string> setting;
  };
  const std::vector<reach> all = {
      {"cuda_hgemm_bf16",
       {{"CONSUMERS", "2"},
        {"BN", "256"},
        {"STAGES", "4"},
        {"CLUSTER", "2"},
        {"IN_FLIGHT", "1"},
        {"STORE", "2"},
        {"SPARE", "4"}}},
      {"cuda_hgemm_bf16",
       {{"CONSUMERS", "2"},
        {"BN", "256"},
        {"STAGES", "4"},
        {"CLUSTER", "2"},
        {"STORE", "1"},
        {"SPARE", "4"},
        {"DEFER", "16"}}},
      {"cuda_sgemm",
       {{"BM", "128"},
        {"BN", "256"},
        {"BK", "16"},
        {"TM", "8"},
        {"TN", "16"},
        {"LANES_M", "8"},
        {"STAGES", "4"},
        {"RUN", "2"},
        {"MEET", "0"},
        {"ORDER", "1"}}},
      {"cuda_softmax", {{"MODE", "2"}, {"THREADS", "512"}, {"VECTORS", "4"}, {"STAGES", "3"}}},
      {"cuda_rmsnorm", {{"MODE", "2"}, {"THREADS", "512"}, {"VECTORS", "4"}, {"HELD_WEIGHT", "1"}}},
      {"cuda_im2win",
       {{"BM", "96"},
        {"BN", "128"},
        {"TM", "12"},
        {"TN", "8"},
        {"VECTOR", "4"},
        {"STAGES", "4"},
        {"STORE", "1"}}},
      {"cuda_im2win",
       {{"WINDOW", "1"}, {"CHANNELS", "1"}, {"SPLIT", "4"}, {"STAGES", "1"}, {"PREFETCH", "0"}}},
      {"cuda_im2win",
       {{"SHARED", "0"}, {"BM", "32"}, {"BN", "32"}, {"TM", "1"}, {"TN", "1"}, {"VECTOR", "1"}}},
      {"cuda_dualkv_forward", {{"BN", "176"}, {"SCHEDULE", "2"}, {"SECTION", "8"}, {"TURNS", "0"}}},
      {"cuda_dualkv_backward", {{"BN", "64"}, {"STAGES", "3"}, {"PACK", "0"}, {"QUERY_STAGES", "3"}}}};
  auto compiler = find_compiler();
  for (const auto& t : cuda_tasks()) {
    for (const auto& one : all) {
      if (one.task != t.name) continue;
      check_program(compiler ? &*compiler : nullptr, t, kevo::set_tunables(t.seeds.front(), one.setting),
                    signature_of);
    }
  }
}

TEST_CASE("the shipped champions compile and can be launched on every workload") {
  auto compiler = find_compiler();
  for (const auto& one : champions::all()) {
    if (one.language() != "cuda") continue;  // tests/fitness/cuda/compile/triton.test.cpp has them
    if (!one.build.empty() && kevo::find_program("nvcc").empty()) {
      MESSAGE("not compiled, because nvcc is not installed: ", one.name);
      continue;
    }
    const auto t = kevo::load_task(champions::folder + one.task);
    const auto text = shell::read_file(champions::folder + one.file());
    check_program(compiler ? &*compiler : nullptr, t, kevo::single_file_program("cuda", one.file(), text),
                  signature_of);
  }
}

TEST_CASE("cuda_dualkv: fp16.yaml is task.yaml in float16, from the same sources") {
  for (const std::string name : {"cuda_dualkv_forward", "cuda_dualkv_backward"}) {
    CAPTURE(name);
    const std::string folder = KEVO_SOURCE_DIR "/configs/tasks/" + name;
    const kevo::task whole = kevo::load_task(folder + "/task.yaml");
    const kevo::task half = kevo::load_task(folder + "/fp16.yaml");
    CHECK(half.name == name + "_fp16");
    const auto same_source = [](const kevo::program& a, const kevo::program& b) {
      const std::string macro = "#define FLOAT16 ";
      std::string text(a.text());
      const auto at = text.find(macro + "0");
      REQUIRE(at != std::string::npos);
      text[at + macro.size()] = '1';
      return text == b.text();
    };
    CHECK(same_source(whole.reference->source, half.reference->source));
    CHECK(std::ranges::equal(whole.seeds, half.seeds, same_source));
    CHECK(std::ranges::equal(whole.baselines, half.baselines,
                             [&](const kevo::baseline& a, const kevo::baseline& b) {
                               return a.name == b.name && a.link == b.link && same_source(a.source, b.source);
                             }));
    const auto same_tensor = [](const kevo::tensor& a, const kevo::tensor& b) {
      const auto dtype = a.dtype == "bfloat16" ? "float16" : a.dtype;
      return a.name == b.name && a.shape == b.shape && dtype == b.dtype;
    };
    CHECK(std::ranges::equal(whole.inputs, half.inputs, same_tensor));
    CHECK(std::ranges::equal(whole.outputs, half.outputs, same_tensor));
    CHECK(std::ranges::equal(whole.workloads, half.workloads, [](const auto& a, const auto& b) {
      return a.uuid == b.uuid && a.axes == b.axes && a.hidden == b.hidden && a.cache == b.cache;
    }));
    for (const auto& [output, tolerance] : whole.tolerances) {
      CHECK(half.tolerances.at(output).rule == tolerance.rule);
      CHECK(half.tolerances.at(output).factor == tolerance.factor);
    }
  }
}

TEST_CASE("cuda_im2win: layer.yaml is task.yaml with one of its layers") {
  const std::string folder = KEVO_SOURCE_DIR "/configs/tasks/cuda_im2win/";
  const kevo::task whole = kevo::load_task(folder + "task.yaml");
  const kevo::task one = kevo::load_task(folder + "layer.yaml");
  CHECK(one.name == whole.name);
  CHECK(one.description == whole.description);
  CHECK(one.reference->source == whole.reference->source);
  CHECK(one.tolerances.at("").factor == whole.tolerances.at("").factor);
  // The portfolio is what a search over one layer is to be compared with, so it does not begin there.
  REQUIRE(whole.seeds.size() == one.seeds.size() + 1);
  CHECK(std::ranges::equal(one.seeds, std::vector(whole.seeds.begin(), whole.seeds.end() - 1)));
  CHECK(one.baselines.size() == whole.baselines.size());
  CHECK(whole.workloads.size() == one.workloads.size() + 11);
  std::size_t visible = 0;
  for (const auto& w : one.workloads) {
    const auto same = std::ranges::find(whole.workloads, w.uuid, &kevo::workload::uuid);
    REQUIRE(same != whole.workloads.end());
    CHECK(same->axes == w.axes);
    CHECK(same->hidden == w.hidden);
    visible += w.hidden ? 0 : 1;
  }
  CHECK(visible == 1);
}

TEST_CASE("the portfolio of im2win needs no more memory than windows that are written out, in any layer") {
  auto compiler = find_compiler();
  if (!compiler) return;
  const kevo::task t = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/cuda_im2win/task.yaml");
  const auto& portfolio = t.seeds.back();
  const device_facts facts;
  const auto lines = std::get<declared_launch>(read_launch_lines(portfolio));
  cuda_build_request request;
  request.source = portfolio;
  request.kernels =
      std::get<std::vector<std::string>>(kernel_names(lines, signature_of(t, t.workloads.front()), facts));
  const auto built = compiler->build(request);
  REQUIRE_MESSAGE(built.ok, built.diagnostics);
  std::size_t layers = 0;
  for (const auto& w : t.workloads) {
    if (w.hidden) continue;
    CAPTURE(w.uuid);
    const auto made = std::get<plan>(resolve(lines, signature_of(t, w), built.module, facts));
    std::uint64_t bytes = 0;
    for (const auto& space : made.workspaces) bytes += space.bytes;
    const auto axis = [&](const char* name) { return static_cast<std::uint64_t>(w.axes.at(name)); };
    CHECK(bytes <= 4 * axis("N") * axis("C") * axis("P") * axis("W") * axis("R"));
    ++layers;
  }
  CHECK(layers == 12);
}

TEST_CASE("the ablation of im2win: every setting is allowed, compiles and can be launched on its layers") {
  const auto plan = kevo::load_suite(KEVO_SOURCE_DIR "/configs/suites/im2win_ablation.yaml");
  CHECK(plan.tasks.size() == 8);
  auto compiler = find_compiler();
  const kevo::task whole = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/cuda_im2win/task.yaml");
  for (const auto& entry : plan.tasks) {
    CAPTURE(entry.name);
    const kevo::task t = kevo::load_task(entry.file);
    CHECK(t.description == whole.description);
    CHECK(t.reference->source == whole.reference->source);
    for (const auto& w : t.workloads) {
      const auto same = std::ranges::find(whole.workloads, w.uuid, &kevo::workload::uuid);
      REQUIRE(same != whole.workloads.end());
      CHECK(same->axes == w.axes);
    }
    REQUIRE(entry.solutions.size() == 1);
    const auto tuned = kevo::set_tunables(kevo::load_program(entry.solutions.front().file), entry.tunables);
    const kevo::setting_space space(kevo::parse_annotations(tuned));
    CHECK(space.valid(space.current()));
    check_program(compiler ? &*compiler : nullptr, t, tuned, signature_of);
  }
}

TEST_CASE("the ablation of im2win as a lab: every variant compiles and can be launched on its layers") {
  const auto plan =
      kevo::plan_ablation(kevo::read_config(KEVO_SOURCE_DIR "/configs/lab/im2win_ablation.yaml", {}));
  CHECK(plan.variants.size() == 14);  // all parts, without each of seven, five alone, none of these
  auto compiler = find_compiler();
  for (const auto& one : plan.variants) {
    CAPTURE(one.name);
    check_program(compiler ? &*compiler : nullptr, *plan.subject, *one.source, signature_of);
  }
}

TEST_CASE(
    "llm_cuda_softmax: every reply of its cassette is a candidate that compiles, but for the draft to be "
    "repaired") {
  const kevo::task whole = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/cuda_softmax/task.yaml");
  const kevo::task t = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/cuda_softmax/naive.yaml");
  // The same task but for where it begins.
  CHECK(t.description == whole.description);
  CHECK(t.tolerances.at("").max_rtol == whole.tolerances.at("").max_rtol);
  CHECK(t.reference->source == whole.reference->source);
  REQUIRE(t.workloads.size() == whole.workloads.size());
  for (std::size_t i = 0; i < t.workloads.size(); ++i) {
    CHECK(t.workloads[i].axes == whole.workloads[i].axes);
    CHECK(t.workloads[i].hidden == whole.workloads[i].hidden);
  }
  REQUIRE(t.seeds.size() == 1);

  const kevo::cassette tape(KEVO_SOURCE_DIR "/configs/cassettes/llm_cuda_softmax.yaml",
                            kevo::cassette_mode::replay);
  auto compiler = find_compiler();
  std::size_t replies = 0;
  for (const std::string op : {"llm_rewrite", "llm_repair"}) {
    for (std::uint64_t n = 0;; ++n, ++replies) {
      const auto one = tape.find({op, "hand", n});
      if (!one) break;
      CAPTURE(op);
      CAPTURE(n);
      const auto code = kevo::code_of(one->reply.content, "cuda");
      REQUIRE(code);
      CHECK(kevo::summary_of(one->reply.content).size() > 10);
      const auto made = kevo::with_main_file(t.seeds.front(), *code);
      if (code->find("FLT_MAX") == std::string::npos) {
        check_program(compiler ? &*compiler : nullptr, t, made, signature_of);
      } else if (compiler) {
        cuda_build_request request;
        request.source = made;
        request.kernels = {"softmax_held", "softmax_any"};
        const auto built = compiler->build(request);
        CHECK(!built.ok);
        CHECK_MESSAGE(built.diagnostics.find("FLT_MAX") != std::string::npos, built.diagnostics);
      }
    }
  }
  CHECK(replies == tape.size());
  CHECK(replies == 5);
}
