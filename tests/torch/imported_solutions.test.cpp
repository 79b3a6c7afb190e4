// labels: slow
// timeout: 600
// Solutions of FlashInfer-Bench, in its folders and written for this, from the import to the verdict.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <kevo/load_task.hpp>

#include "src/import/data_set_import.hpp"
#include "src/suite/suite_plan.hpp"
#include "tests/support/shell.hpp"
#include "tests/torch/corpus.hpp"

namespace json = boost::json;

namespace {

using torch_corpus::said;
using sources = std::vector<kevo::source_file>;

constexpr const char* definition = R"({"name": "scaled_rows", "op_type": "scale",
 "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 8}},
 "inputs": {"A": {"shape": ["M", "N"], "dtype": "float32"}, "s": {"shape": null, "dtype": "float32"},
            "bias": {"shape": ["N"], "dtype": "float32"}},
 "outputs": {"B": {"shape": ["M", "N"], "dtype": "float32"}},
 "reference": "import torch\n\ndef run(A, s, bias):\n    return A * s + bias\n"})";

constexpr const char* workloads =
    R"({"definition": "scaled_rows", "workload": {"uuid": "random", "axes": {"M": 37}, "inputs": {"A": {"type": "random"}, "s": {"type": "scalar", "value": 1.5}, "bias": {"type": "random"}}}, "solution": null, "evaluation": null}
{"definition": "scaled_rows", "workload": {"uuid": "stored", "axes": {"M": 5}, "inputs": {"A": {"type": "random"}, "s": {"type": "scalar", "value": -2.0}, "bias": {"type": "safetensors", "path": "blob/bias.safetensors", "tensor_key": "bias"}}}, "solution": null, "evaluation": null}
)";

/// A safetensors file with "bias": eight numbers.
std::string stored_bias() {
  std::string header = R"({"bias":{"dtype":"F32","shape":[8],"data_offsets":[0,32]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string text;
  for (unsigned i = 0; i < 8; ++i) text += static_cast<char>((header.size() >> (8U * i)) & 0xffU);
  text += header;
  for (int i = 0; i < 8; ++i) {
    const float value = 0.5F * static_cast<float>(i) - 3;
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text.append(bytes, sizeof value);
  }
  return text;
}

json::object spec(const std::string& language, const std::string& entry, bool destination,
                  const std::string& binding = {}) {
  json::object made{{"language", language},
                    {"target_hardware", json::array{"cpu"}},
                    {"entry_point", entry},
                    {"destination_passing_style", destination}};
  if (!binding.empty()) made["binding"] = binding;
  return made;
}

void write_solution(const shell::scratch& folder, const std::string& name, const json::object& how,
                    const sources& files) {
  json::array list;
  for (const auto& one : files) list.push_back(json::object{{"path", one.path}, {"content", one.text}});
  shell::write_file(folder / ("set/solutions/" + name + ".json"),
                    json::serialize(json::object{{"name", name},
                                                 {"definition", "scaled_rows"},
                                                 {"author", "me"},
                                                 {"spec", how},
                                                 {"sources", list}}));
}

/// What the import made of the solutions of its only task, by their names; a suite and PyTorch judge them.
std::map<std::string, kevo::evaluation> judged_in(const kevo::suite_import& report) {
  for (const auto& note : report.tasks.front().notes) MESSAGE(note);
  const auto suite = kevo::load_suite(report.suite_file);
  auto settings = torch_corpus::quick_settings();
  settings.limits.load_s = 120;  // compilers, beside whatever else this machine does
  std::map<std::string, kevo::evaluation> all;
  try {
    kevo::torch_fitness fitness(std::make_shared<const kevo::task>(kevo::load_task(suite.tasks.front().file)),
                                settings);
    for (const auto& one : suite.tasks.front().solutions) {
      const auto source = std::make_shared<const kevo::program>(kevo::load_program(one.file));
      all[one.name] =
          fitness.evaluate({.program = source, .wanted = kevo::evaluation_stage::checked, .fresh = true});
    }
  } catch (const kevo::error& missing) {
    if (missing.code() != kevo::error_code::environment ||
        missing.message().find("no Python with PyTorch") != 0)
      throw;
    kevo_test::skip(missing.message());
  }
  return all;
}

/// The same for the data set of this file with the solutions that are in the folder.
std::map<std::string, kevo::evaluation> judged(const shell::scratch& folder) {
  shell::write_file(folder / "set/definitions/scaled_rows.json", definition);
  shell::write_file(folder / "set/workloads/scaled_rows.jsonl", workloads);
  shell::write_file(folder / "set/blob/bias.safetensors", stored_bias());
  const auto report =
      kevo::import_flashinfer((folder / "set").string(), (folder / "tasks").string(), {.check = false});
  REQUIRE(report.imported() == 1);
  REQUIRE(report.tasks.front().workloads == 2);
  return judged_in(report);
}

void check_valid(const std::map<std::string, kevo::evaluation>& all, const std::string& name) {
  const auto found = all.find(name);
  REQUIRE_MESSAGE(found != all.end(), name);
  CHECK_MESSAGE(found->second.valid(), name << ": " << said(found->second));
}
void check_incorrect(const std::map<std::string, kevo::evaluation>& all, const std::string& name) {
  const auto found = all.find(name);
  REQUIRE_MESSAGE(found != all.end(), name);
  CHECK_MESSAGE(found->second.outcome == kevo::outcome::incorrect, name << ": " << said(found->second));
}

const std::string kernel = R"py(
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(a, s, bias, b, n: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, n)
    tl.store(b + row * n + at, tl.load(a + row * n + at) * s + tl.load(bias + at))
)py";

// Two sources and a header, as a solution with a kernel and its binding has them. `rows` is what it computes.
sources of_torch(const std::string& rows) {
  return {{"src/rows.h",
           "#pragma once\nvoid rows(const float* a, float s, const float* bias, float* b, long m);\n"},
          {"src/rows.cpp",
           "#include \"rows.h\"\nvoid rows(const float* a, float s, const float* bias, float* b, long m) {\n"
           "  for (long i = 0; i < " +
               rows + " * 8; ++i) b[i] = a[i] * s + bias[i % 8];\n}\n"},
          {"main.cpp",
           "#include <torch/extension.h>\n#include \"src/rows.h\"\n"
           "void scale_to(torch::Tensor a, double s, torch::Tensor bias, torch::Tensor b) {\n"
           "  rows(a.data_ptr<float>(), s, bias.data_ptr<float>(), b.data_ptr<float>(), a.size(0));\n}\n"
           "torch::Tensor scaled(torch::Tensor a, double s, torch::Tensor bias) {\n"
           "  auto b = torch::empty_like(a);\n  scale_to(a, s, bias, b);\n  return b;\n}\n"
           "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n  m.def(\"scale_to\", &scale_to);\n"
           "  m.def(\"scaled\", &scaled);\n}\n"}};
}

sources of_ffi(const std::string& rows) {
  return {
      {"main.cpp",
       "#include <tvm/ffi/container/array.h>\n#include <tvm/ffi/container/tensor.h>\n"
       "#include <tvm/ffi/extra/c_env_api.h>\n#include <tvm/ffi/function.h>\n"
       "namespace ffi = tvm::ffi;\n"
       "void scale_to(ffi::TensorView a, double s, ffi::TensorView bias, ffi::TensorView b) {\n"
       "  const float* from = static_cast<float*>(a.data_ptr());\n"
       "  const float* add = static_cast<float*>(bias.data_ptr());\n"
       "  float* to = static_cast<float*>(b.data_ptr());\n"
       "  const int64_t m = a.size(0);\n"
       "  for (int64_t i = 0; i < " +
           rows +
           " * 8; ++i) to[i] = from[i] * s + add[i % 8];\n}\n"
           "ffi::Tensor scaled(ffi::TensorView a, double s, ffi::TensorView bias) {\n"
           "  auto b = ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, a.shape(), a.dtype(), a.device());\n"
           "  scale_to(a, s, bias, b);\n  return b;\n}\n"
           "ffi::Array<ffi::Tensor> listed(ffi::TensorView a, double s, ffi::TensorView bias) {\n"
           "  return {scaled(a, s, bias)};\n}\n"
           "TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale_to, scale_to);\n"
           "TVM_FFI_DLL_EXPORT_TYPED_FUNC(scaled, scaled);\n"
           "TVM_FFI_DLL_EXPORT_TYPED_FUNC(listed, listed);\n"}};
}

}  // namespace

TEST_CASE("imported solutions in C++ with the binding torch are built and judged") {
  const shell::scratch folder;
  write_solution(folder, "writes", spec("cpp", "main.cpp::scale_to", true, "torch"), of_torch("m"));
  write_solution(folder, "returns", spec("cpp", "main.cpp::scaled", false, "torch"), of_torch("m"));
  write_solution(folder, "wrong", spec("cpp", "main.cpp::scale_to", true, "torch"), of_torch("(m - 1)"));
  // Declared for CUDA, without a CUDA source: it is built for the device that there is.
  write_solution(folder, "lacking", spec("cuda", "main.cpp::missing", false, "torch"), of_torch("m"));
  const auto all = judged(folder);
  if (all.empty()) return;
  check_valid(all, "writes");
  check_valid(all, "returns");
  check_incorrect(all, "wrong");
  const auto& lacking = all.at("lacking");
  CHECK(!lacking.valid());
  CHECK_MESSAGE(said(lacking).find("missing") != std::string::npos, said(lacking));
}

TEST_CASE("imported solutions in C++ with the binding tvm-ffi are built and judged") {
  const shell::scratch folder;
  write_solution(folder, "writes", spec("cpp", "main.cpp::scale_to", true), of_ffi("m"));
  write_solution(folder, "returns", spec("cuda", "main.cpp::scaled", false), of_ffi("m"));
  write_solution(folder, "lists", spec("cpp", "main.cpp::listed", false, "tvm-ffi"), of_ffi("m"));
  write_solution(folder, "wrong", spec("cpp", "main.cpp::scaled", false, "tvm-ffi"), of_ffi("(m - 1)"));
  write_solution(folder, "lacking", spec("cpp", "main.cpp::missing", true), of_ffi("m"));
  const auto all = judged(folder);
  if (all.empty()) return;
  if (said(all.at("writes")).find("apache-tvm-ffi") != std::string::npos) {
    CHECK(said(all.at("writes")).find("scripts/setup.sh --torch") != std::string::npos);
    kevo_test::skip("the Python package apache-tvm-ffi is not beside PyTorch");
    return;
  }
  check_valid(all, "writes");
  check_valid(all, "returns");
  check_valid(all, "lists");
  check_incorrect(all, "wrong");
  CHECK(!all.at("lacking").valid());
  CHECK_MESSAGE(said(all.at("lacking")).find("missing") != std::string::npos, said(all.at("lacking")));
}

TEST_CASE(
    "imported solutions in Triton and Python are judged, with and without outputs that they are given") {
  const shell::scratch folder;
  const std::string writes = "\n\ndef go(A, s, bias, B):\n    kernel[(A.shape[0],)](A, s, bias, B, 8)\n";
  const std::string returns =
      "\n\ndef go(A, s, bias):\n    B = torch.empty_like(A)\n    kernel[(A.shape[0],)](A, s, bias, B, 8)\n"
      "    return B\n";
  write_solution(folder, "triton_writes", spec("triton", "k.py::go", true), {{"k.py", kernel + writes}});
  write_solution(folder, "triton_returns", spec("triton", "k.py::go", false), {{"k.py", kernel + returns}});
  write_solution(folder, "triton_wrong", spec("triton", "k.py::go", false),
                 {{"k.py", kernel + "\n\ndef go(A, s, bias):\n    B = torch.zeros_like(A)\n"
                                    "    kernel[(A.shape[0] - 1,)](A, s, bias, B, 8)\n    return B\n"}});
  write_solution(folder, "triton_parts", spec("triton", "main.py::go", true),
                 {{"main.py", "from .ops.rows import kernel\n" + writes}, {"ops/rows.py", kernel}});
  write_solution(folder, "python_writes", spec("python", "k.py::go", true),
                 {{"k.py", "def go(A, s, bias, B):\n    B.copy_(A * s + bias)\n"}});
  write_solution(folder, "python_returns", spec("python", "k.py::run", false),
                 {{"k.py", "def run(A, s, bias):\n    return A * s + bias\n"}});
  write_solution(folder, "python_wrong", spec("python", "k.py::run", false),
                 {{"k.py", "def run(A, s, bias):\n    return A * s\n"}});
  write_solution(folder, "python_parts", spec("python", "k.py::go", false),
                 {{"k.py",
                   "import parts.sums\nfrom helper import scaled\n\n\ndef go(A, s, bias):\n"
                   "    return parts.sums.added(scaled(A, s), bias)\n"},
                  {"helper.py", "def scaled(A, s):\n    return A * s\n"},
                  {"parts/__init__.py", "one = 1\n"},
                  {"parts/sums.py", "from . import one\n\n\ndef added(A, b):\n    return A * one + b\n"}});
  const auto all = judged(folder);
  if (all.empty()) return;
  for (const char* name :
       {"triton_writes", "triton_returns", "triton_parts", "python_writes", "python_returns", "python_parts"})
    check_valid(all, name);
  check_incorrect(all, "triton_wrong");
  check_incorrect(all, "python_wrong");
}

TEST_CASE("references and solutions of FlashInfer-Bench's older form are called by name and judged") {
  const shell::scratch folder;
  shell::write_file(
      folder / "set/definitions/rows/rows.json",
      R"({"name": "rows", "type": "rows", "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 8}},
 "inputs": {"A": {"shape": ["M", "N"], "dtype": "float32"}, "s": {"shape": [], "dtype": "float32"}},
 "outputs": {"B": {"shape": ["M", "N"], "dtype": "float32"}, "total": {"shape": ["M"], "dtype": "float32"}},
 "reference": "import torch\n\ndef run(s, A):\n    return {\"total\": A.sum(1), \"B\": A * s}"})");
  shell::write_file(
      folder / "set/traces/workloads/rows/rows.workload.jsonl",
      R"({"definition": "rows", "solution": "", "workload": {"uuid": "one", "axes": {"M": 37}, "inputs": {"A": {"type": "random"}, "s": {"type": "random"}}}, "evaluation": {}})"
      "\n");
  const auto put = [&](const std::string& name, const std::string& spec, const sources& files) {
    json::array list;
    for (const auto& one : files) list.push_back(json::object{{"path", one.path}, {"content", one.text}});
    shell::write_file(folder / ("set/solutions/rows/rows/" + name + ".json"),
                      R"({"name": ")" + name + R"(", "definition": "rows", "author": "me", "spec": {)" +
                          spec + R"(}, "sources": )" + json::serialize(list) + "}");
  };
  const std::string right = "    return {\"total\": A.sum(1), \"B\": A * s}\n";
  put("named", R"("language": "Python", "entry_point": "main.py::run", "build_commands": [])",
      {{"main.py", "def run(s, A):\n" + right}});
  put("bare", R"("language": "Python", "entry_point": "go")", {{"k.py", "def go(s, A):\n" + right}});
  put("tuples", R"("language": "Python", "entry_point": "go")",
      {{"k.py", "def go(A, s):\n    return A * s, A.sum(1)\n"}});
  put("parts", R"("language": "Python", "entry_point": "k.py::go")",
      {{"k.py", "from helper import total\n\n\ndef go(s, A):\n    return {'total': total(A), 'B': A * s}\n"},
       {"helper.py", "def total(A):\n    return A.sum(1)\n"}});
  put("exchanged", R"("language": "Python", "entry_point": "main.py::run")",
      {{"main.py", "def run(s, A):\n    return {'B': A.sum(1), 'total': A * s}\n"}});
  const auto report =
      kevo::import_flashinfer((folder / "set").string(), (folder / "tasks").string(), {.check = false});
  REQUIRE(report.imported() == 1);
  const auto all = judged_in(report);
  if (all.empty()) return;
  for (const char* name : {"named", "bare", "tuples", "parts"}) check_valid(all, name);
  CHECK(!all.at("exchanged").valid());
}

// The builder itself, where there is neither PyTorch nor the package: it says what is missing. And the names
// of libraries in folders of a toolkit, of PyTorch's packages and of a driver.
TEST_CASE(
    "a build under tvm-ffi says which package is missing, and libraries are found under their versions") {
  const shell::scratch folder;
  for (const char* one : {"toolkit/libcublas.so", "toolkit/libcublas.so.13", "packages/libcudnn.so.9",
                          "driver/libcuda.so.1", "toolkit/libcudart_static.a"})
    shell::write_file(folder / one, "x");
  const std::string at = folder.string();
  shell::write_file(
      folder / "ask.py",
      "import sys\nsys.path.insert(0, '" KEVO_SOURCE_DIR
      "/fitness/torch')\n"
      "from kevo_torch_build import Unfit, extension_builder, names_to_link\n"
      "try:\n"
      "    asked = dict(name='one', units=[['cpp', 'x']], headers=[], folders=[], functions=None, "
      "binding='tvm-ffi',\n"
      "                 with_cuda=False, cflags=[], cuda_cflags=[], ldflags=[])\n"
      "    extension_builder('" +
          at + "', '', 'none', '90').build('" + at +
          "', asked, lambda: True)\n"
          "except Unfit as error:\n    print(error)\n"
          "print(names_to_link(['-lcublas', '-lcudnn', '-lcuda', '-lcudart_static', '-lm', '-fopenmp'],\n"
          "                    ['" +
          at + "/toolkit', '" + at + "/packages', '" + at + "/driver']))\n");
  const auto got = shell::run({"/usr/bin/env", "python3", (folder / "ask.py").string()});
  CHECK_MESSAGE(got.out ==
                    "the binding tvm-ffi needs the Python package apache-tvm-ffi beside PyTorch: "
                    "scripts/setup.sh --torch fetches it\n"
                    "['-lcublas', '-l:libcudnn.so.9', '-l:libcuda.so.1', '-lcudart_static', '-lm', "
                    "'-fopenmp']\n",
                got.out, got.err);
}
