// Definitions of FlashInfer-Bench with their workload traces.

#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "src/task/task_loader.hpp"
#include "tests/task/sample_task.hpp"

using namespace sample_task;

TEST_CASE("a FlashInfer-Bench definition with its workload traces") {
  const folder dir;
  const std::string definition =
      R"json({"name": "rmsnorm_h128", "op_type": "rmsnorm", "tags": ["status:verified"], "description": "d",
 "axes": {"batch_size": {"type": "var", "description": "b"}, "hidden": {"type": "const", "value": 128}},
 "constraints": ["batch_size >= 1", "len_x == indptr[-1].item()"],
 "inputs": {"x": {"shape": ["batch_size", "hidden"], "dtype": "bfloat16"}, "eps": {"shape": null, "dtype": "float32"}},
 "outputs": {"y": {"shape": ["batch_size", "hidden"], "dtype": "bfloat16"}},
 "reference": "import torch\n\ndef run(x, eps):\n    return x\n"
})json";
  const std::string traces =
      R"json({"definition": "rmsnorm_h128", "workload": {"uuid": "a", "axes": {"batch_size": 7}, "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 1e-6}}}, "solution": null, "evaluation": null})json"
      "\n\n"
      R"json({"definition": "other", "workload": {"uuid": "b", "axes": {}, "inputs": {}}})json"
      "\n";
  const auto path = dir.write("definitions/rmsnorm/rmsnorm_h128.json", definition);
  const auto beside = dir.write("workloads/rmsnorm/rmsnorm_h128.jsonl", traces);
  const auto flat = dir.write("example/definitions/rmsnorm_h128.json", definition);
  dir.write("example/workloads/rmsnorm_h128.jsonl", traces);
  for (const auto& t : {kevo::load_task(path), kevo::load_task(path, beside), kevo::load_task(flat)}) {
    CHECK(t.reference->language == "python");
    REQUIRE(t.baselines.size() == 1);  // so that every backend has something to compare with
    CHECK(t.baselines.front().name == "eager");
    REQUIRE(t.workloads.size() == 1);
    CHECK(t.workloads[0].axes.at("batch_size") == 7);
    CHECK(t.workloads[0].inputs.at("eps").value == 1e-6);
    CHECK(t.extra.at("constraints") == "len_x == indptr[-1].item()");
    CHECK(t.constraints.size() == 1);
    CHECK(tolerance_for(t, t.workloads[0], "y").max_rtol == 1e-2);
  }
  const auto fails = [](const std::string& file) {
    try {
      kevo::load_task(file);
    } catch (const kevo::error& e) {
      return e;
    }
    FAIL("accepted");
    return kevo::error(kevo::error_code::internal, "");
  };
  auto broken = definition;
  broken.replace(broken.find("\"bfloat16\"}, \"eps\""), 10, "\"bfloat61\"");
  auto e = fails(dir.write("x/broken.json", broken));
  CHECK(e.place().key == "/inputs/x/dtype");
  CHECK(e.place().line == 4);
  CHECK(e.hint() == "did you mean 'bfloat16'?");
  e = fails(dir.write("x/alone.json", definition));
  CHECK(e.hint().find("alone.jsonl") != std::string::npos);
  dir.write("x/alone.jsonl",
            "\n{\"definition\": \"rmsnorm_h128\", \"workload\": {\"uuid\": \"a\", \"axes\": {}}}\n");
  e = fails((dir.path / "x/alone.json").string());
  CHECK(e.place().file == (dir.path / "x/alone.jsonl").string());
  CHECK(e.place().line == 2);
  CHECK(e.place().key == "/workload/axes");
}
