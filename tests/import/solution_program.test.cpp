// Solutions of FlashInfer-Bench and SOL-ExecBench as programs, as texts:
// tests/torch/imported_solutions.test.cpp executes such programs.

#include "src/import/solution_program.hpp"

#include <string>

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>

using namespace kevo;

namespace {

namespace json = boost::json;

const json::object halves =
    json::parse(R"({"name": "halves", "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 4}},
      "inputs": {"A": {"shape": ["M", "N"], "dtype": "float32"}, "s": {"shape": null, "dtype": "float32"}},
      "outputs": {"B": {"shape": ["M", "N / 2 + M"], "dtype": "bfloat16"}}})")
        .as_object();

json::object solution_of(const std::string& spec, const std::string& sources) {
  return json::parse(R"({"name": "one", "spec": )" + spec + R"(, "sources": )" + sources + "}").as_object();
}

std::vector<source_file> files_for(const std::string& spec, const std::string& sources) {
  return importing::solution_program(halves, solution_of(spec, sources));
}

const std::string one_source = R"([{"path": "a.cpp", "content": "x"}])";

bool contains_text(const source_file& file, const std::string& text) {
  return file.text.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a solution in one Python file gets lines at its end, one with an entry point run gets none") {
  const std::string sources = R"([{"path": "k.py", "content": "def go(A, s):\n    return A\n"}])";
  const auto given = files_for(R"({"language": "triton", "entry_point": "k.py::go"})", sources);
  REQUIRE(given.size() == 1);
  CHECK_MESSAGE(contains_text(given[0], "_kevo_solution = go\n\n\ndef run(A, s):\n    import torch\n"),
                given[0].text);
  CHECK(contains_text(
      given[0],
      "    B = torch.empty((A.shape[0], 4 // 2 + A.shape[0], ), dtype=torch.bfloat16, device=A.device)\n"
      "    _kevo_solution(A, s, B)\n    return B\n"));
  const std::string returns = R"("language": "python", "destination_passing_style": false)";
  CHECK(contains_text(files_for("{" + returns + R"(, "entry_point": "k.py::go"})", sources)[0],
                      "\nrun = go\n"));
  const auto plain = files_for("{" + returns + R"(, "entry_point": "k.py::run"})",
                               R"([{"path": "k.py", "content": "def run(A, s):\n    return A\n"}])");
  CHECK(plain[0].text == "def run(A, s):\n    return A\n");
}

TEST_CASE("several Python files become a folder whose main file imports the entry point") {
  const auto files =
      files_for(R"({"language": "python", "entry_point": "ops/k.py::go"})",
                R"([{"path": "ops/k.py", "content": "x"}, {"path": "main.py", "content": "y"}])");
  REQUIRE(files.size() == 3);
  CHECK(files[0].path == "main.py");
  CHECK(contains_text(files[0], "from sources.ops.k import go as _kevo_solution\n"));
  CHECK(contains_text(files[0], "_kevo_solution(A, s, B)"));
  CHECK(files[1] == source_file{"sources/ops/k.py", "x"});
  CHECK(files[2] == source_file{"sources/main.py", "y"});
}

TEST_CASE(
    "sources in C++ and CUDA are built under the binding that the solution names, or its suite's usual one") {
  const auto torch = files_for(
      R"({"languages": ["cuda_cpp"], "entry_point": "main.cpp::go", "destination_passing_style": false,
               "compile_options": {"cflags": ["-O3"], "cuda_cflags": ["--use_fast_math"], "ld_flags": ["-lcuda"]}})",
      R"([{"path": "main.cpp", "content": "cublasCreate(&h);"}, {"path": "k.h", "content": "y"},
               {"path": "k.cu", "content": "z"}])");
  REQUIRE(torch.size() == 4);
  for (const char* text :
       {"from torch.utils.cpp_extension import load\n", R"(for one in ["main.cpp","k.cu"]])",
        R"(extra_cflags=["-O3"])", R"(extra_cuda_cflags=["--use_fast_math"])",
        R"(extra_ldflags=["-lcuda","-lcublas"])", "with_cuda=True",
        "_kevo_solution = _built.go\nrun = _kevo_solution\n"})
    CHECK_MESSAGE(contains_text(torch[0], text), text << "\n" << torch[0].text);
  CHECK(torch[2] == source_file{"sources/k.h", "y"});

  const auto ffi = files_for(R"({"language": "cuda", "entry_point": "a.cu::go"})",
                             R"([{"path": "a.cu", "content": "cuLaunchKernel (f);"}])");
  for (const char* text : {"from tvm_ffi.cpp import load\n", R"(extra_ldflags=["-lcuda"])",
                           "backend=\"cuda\"", "_kevo_solution(A, s, B)"})
    CHECK_MESSAGE(contains_text(ffi[0], text), text << "\n" << ffi[0].text);

  const auto cpp =
      files_for(R"({"language": "cpp", "binding": "torch", "entry_point": "a.cpp::go"})", one_source);
  CHECK(contains_text(cpp[0], "from torch.utils.cpp_extension import load\n"));
  CHECK(!contains_text(cpp[0], "with_cuda"));
}

TEST_CASE("what cannot be imported is refused with the reason") {
  const auto refused = [](const std::string& spec, const std::string& sources, const std::string& why) {
    CHECK_THROWS_WITH_AS(files_for(spec, sources), doctest::Contains(why.c_str()), error);
  };
  refused(R"({"language": "tilelang", "entry_point": "a.py::run"})", one_source, "written in 'tilelang'");
  refused(R"({"languages": ["cutlass"], "entry_point": "a.cpp::run"})", one_source, "headers of CUTLASS");
  refused(R"({"language": "cuda", "dependencies": ["cutlass"], "entry_point": "a.cpp::run"})", one_source,
          "headers of CUTLASS");
  refused(R"({"languages": ["cuda_cpp", "triton"], "entry_point": "a.cpp::run"})", one_source, "mixes");
  refused(R"({"language": "cpp", "binding": "pybind", "entry_point": "a.cpp::run"})", one_source, "'pybind'");
  refused(R"({"entry_point": "a.cpp::run"})", one_source, "no language");
  refused(R"({"language": "cpp", "entry_point": "run"})", one_source, "FILE::FUNCTION");
  refused(R"({"language": "cpp", "entry_point": "a.cpp::a-b"})", one_source, "'a-b'");
  refused(R"({"language": "cpp", "entry_point": "b.cpp::run"})", one_source, "'b.cpp'");
  refused(R"({"language": "cpp", "entry_point": "a.h::run"})", R"([{"path": "a.h", "content": "x"}])",
          "no source in C++ or CUDA");
  for (const char* path : {"../a.cpp", "/a.cpp", "b/../a.cpp", ".a.cpp", "a b.cpp", ""})
    refused(R"({"language": "cpp", "entry_point": "a.cpp::run"})",
            R"([{"path": ")" + std::string(path) + R"(", "content": "x"}])", "is not allowed");
  refused(R"({"language": "cpp", "entry_point": "a.cpp::run"})",
          R"([{"path": "a.cpp", "content": "x"}, {"path": "a.cpp", "content": "y"}])", "two sources");
  refused(R"({"language": "cpp", "entry_point": "a.cpp::run"})", R"([{"path": "a.cpp", "content": ""}])",
          "empty");
}
