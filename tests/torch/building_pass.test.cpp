// labels: slow
// timeout: 300
// The building pass: extensions of programs for a GPU are built before the device is asked for. Here a script
// stands in for nvcc, and PyTorch sees no device.
#include "fitness/torch/building_pass.hpp"

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "fitness/torch/compile_server.hpp"
#include "fitness/torch/job.hpp"
#include "tests/support/has_pytorch.hpp"
#include "tests/support/shell.hpp"

namespace {

using namespace kevo;

// Writes what it is asked for beside itself, and compiles a function that nobody calls. A source with "never"
// does not compile; one with "together" only while another such source is compiled, too.
constexpr const char* compiler = R"sh(#!/bin/bash
folder=$(dirname "$(dirname "$0")")/told
source=; made=
for ((i = 1; i <= $#; ++i)); do
  [ "${!i}" = -c ] && { j=$((i + 1)); source=${!j}; }
  [ "${!i}" = -o ] && { j=$((i + 1)); made=${!j}; }
done
echo "$*" >> "$folder/log"
grep -q never "$source" && { echo "k.cu(1): error: never"; exit 1; }
if grep -q together "$source"; then
  touch "$folder/together.$$"
  for ((i = 0; i < 300; ++i)); do
    [ "$(ls "$folder" | grep -c together)" -ge 2 ] && break
    sleep 0.1
  done
  [ "$(ls "$folder" | grep -c together)" -ge 2 ] || { echo "k.cu(1): error: alone"; exit 1; }
fi
echo 'extern "C" void nothing() {}' | g++ -x c++ -fPIC -c - -o "$made"
)sh";

struct pass_bench {
  pass_bench() {
    shell::write_file(folder / "bin/nvcc", compiler);
    std::filesystem::create_directories(folder / "told");
    for (const char* one : {"bin/nvcc", "told"})
      std::filesystem::permissions(folder / one, std::filesystem::perms::all);
    std::filesystem::permissions(folder.string(), std::filesystem::perms(0755));
    torch::compile_settings wanted;
    wanted.modules = server.modules();
    wanted.nvcc = (folder / "bin/nvcc").string();
    for (const bool writable : {false, true}) {
      const auto one = (folder / (writable ? "told" : "bin")).string();
      wanted.toolkit.push_back({one, one, writable});
    }
    compilers = std::make_unique<torch::compile_server>(tools, sandbox_mode::best, wanted);
  }

  static program program_of(const std::string& text, const std::string& source) {
    return {"python",
            {{"kernel.py", "import torch\nfrom torch.utils.cpp_extension import load\n" + text},
             {"k.cu", source}}};
  }
  static boost::json::object job_for(const program& whole) {
    boost::json::object job = {{"inputs", boost::json::array()},
                               {"outputs", boost::json::array()},
                               {"form", "module"},
                               {"seed", 0},
                               {"init", {{"args", {4}}}},
                               {"models", false},
                               {"calls", boost::json::array()},
                               {"narrow", false},
                               {"files", torch::files_of(whole)},
                               {"entries", {"ModelNew"}},
                               {"triton", false},
                               {"words", boost::json::array()}};
    return job;
  }
  std::string build(detail::descriptor socket, boost::json::object job) {
    torch::building_pass pass;
    pass.sandbox = sandbox_mode::best;
    pass.facts = {{"name", "a device"}, {"major", 9}, {"minor", 0}, {"multi_processor_count", 132}};
    return torch::build_ahead(server, std::move(socket), std::move(job), pass);
  }
  std::string build(detail::descriptor socket, const std::string& text, const std::string& source) {
    return build(std::move(socket), job_for(program_of(text, source)));
  }
  std::string build(const std::string& text, const std::string& source) {
    return build(compilers->connect(), text, source);
  }
  /// How often the compiler was started.
  long builds() const {
    const auto log = shell::read_file(folder / "told/log");
    return std::count(log.begin(), log.end(), '\n');
  }

  shell::scratch folder;
  python_tools tools = torch::find_torch({}, contains(sandbox_mode::best));
  torch::python_server server{tools, sandbox_mode::best, "", torch::pretended_device()};
  std::unique_ptr<torch::compile_server> compilers;
};

const std::string at_the_top = R"py(
major, minor = torch.cuda.get_device_capability()
properties = torch.cuda.get_device_properties(0)
flags = [f"-DARCH={major}{minor}", f"-DSM={properties.multi_processor_count}"]
scale = torch.ones(4, device="cuda") if torch.cuda.is_available() else None
k = load(name="k", sources=["k.cu"], extra_cuda_cflags=flags)
run = k.run


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.k = k
)py";

const std::string in_the_constructor = R"py(
class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layer = torch.nn.Linear(features, 1 << 40).cuda()
        self.k = load(name="k", sources=["k.cu"])
)py";

}  // namespace

TEST_CASE("extensions are built ahead, as the device that is pretended has them, and remembered") {
  if (!kevo_test::has_pytorch()) return;
  pass_bench bench;
  CHECK(bench.build(at_the_top, "int first;\n") == "");
  CHECK(bench.builds() == 1);
  const auto log = shell::read_file(bench.folder / "told/log");
  CHECK_MESSAGE(log.find("-DARCH=90 -DSM=132") != std::string::npos, log);
  // Another process of the same program, or of another one with the same extension.
  CHECK(bench.build("# another\n" + at_the_top, "int first;\n") == "");
  CHECK(bench.builds() == 1);
  CHECK(bench.build(at_the_top, "int second;\n") == "");
  CHECK(bench.builds() == 2);
  // In the first call.
  auto job = pass_bench::job_for(
      pass_bench::program_of("class ModelNew(torch.nn.Module):\n    def __init__(self, features):\n        "
                             "super().__init__()\n    def forward(self):\n        return load(name='k', "
                             "sources=['k.cu'])\n",
                             "int of_a_call;\n"));
  job["words"] = {boost::json::array()};
  CHECK(bench.build(bench.compilers->connect(), std::move(job)) == "");
  CHECK(bench.builds() == 3);
  // Its parameters would need terabytes.
  CHECK(bench.build(in_the_constructor, "int third;\n") == "");
  CHECK(bench.builds() == 4);
}

TEST_CASE("what does not compile is said before the device is asked for, and nothing else is") {
  if (!kevo_test::has_pytorch()) return;
  pass_bench bench;
  for (const auto& text : {at_the_top, in_the_constructor}) {
    const auto why = bench.build(text, "never\n");
    CHECK_MESSAGE(why.find("k.cu(1): error: never") != std::string::npos, why);
  }
  // A refused option is the compiler's word, too.
  auto odd = at_the_top;
  odd.replace(odd.find("flags = ["), 9, "flags = ['-fplugin=x', ");
  const auto refused = bench.build(odd, "int x;\n");
  CHECK_MESSAGE(refused.find("-fplugin=x") != std::string::npos, refused);
  const auto before = bench.builds();
  // In the program's own words, and a program that goes on without.
  const auto said = bench.build(
      "try:\n    load(name='k', sources=['k.cu'])\nexcept Exception as error:\n    raise ValueError('no k') "
      "from error\n",
      "never\n");
  CHECK_MESSAGE(said.find("no k") != std::string::npos, said);
  CHECK(bench.build("try:\n    load(name='k', sources=['k.cu'])\nexcept Exception:\n    k = None\n"
                    "class ModelNew:\n    def __init__(self, features): pass\n",
                    "never\n") == "");
  CHECK(bench.builds() == before);
  // What may come of the device that is missing here is found out on the device.
  CHECK(bench.build("raise RuntimeError('the extension does not compile')\n", "int x;\n") == "");
  CHECK(bench.build("torch.cuda.no_such_function()\n", "int x;\n") == "");
  CHECK(bench.build("k = load(name='k', sources=['k.cu'])\nk.run(1)\n", "int x;\n") == "");
  CHECK(bench.build("import os\nos._exit(0)\n", "int x;\n") == "");
}

TEST_CASE("several programs are built at a time") {
  if (!kevo_test::has_pytorch()) return;
  pass_bench bench;
  static_cast<void>(bench.server.facts());
  auto first_socket = bench.compilers->connect();
  auto second_socket = bench.compilers->connect();
  auto other = std::async(std::launch::async, [&] {
    return bench.build(std::move(first_socket), at_the_top, "int first;  // together\n");
  });
  const auto second = bench.build(std::move(second_socket), at_the_top, "int second;  // together\n");
  CHECK_MESSAGE(second == "", second);
  const auto first = other.get();
  CHECK_MESSAGE(first == "", first);
}

// The option of an extension that cannot be built says how many kernels there are.
TEST_CASE("kernels of Triton are compiled ahead for the arguments of a call, and not launched") {
  if (!kevo_test::has_pytorch()) return;
  pass_bench bench;
  const std::string text = R"py(
import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def scaled(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, NUMBER * tl.load(x + i, mask=i < n), mask=i < n)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(features))

    def forward(self, x, factor):
        assert x.is_cuda and x.device.type == "cuda" and factor == 3
        y = torch.empty(x.shape, device=x.device)
        scaled[(triton.cdiv(x.numel(), 128),)](x * self.weight, y, x.numel())
        COMPILED
        return y
)py";
  const auto pass = [&](int number, const std::string& then) {
    auto own = text;
    own.replace(own.find("NUMBER"), 6, std::to_string(number) + ".0");
    own.replace(own.find("COMPILED"), 8, then);
    auto job = pass_bench::job_for({"python", {{"kernel.py", own}}});
    job["inputs"] = {{{"name", "x"}, {"dtype", "float32"}, {"rank", 2}, {"scalar", false}},
                     {{"name", "factor"}, {"dtype", "int64"}, {"rank", 0}, {"scalar", true}}};
    job["triton"] = true;
    job["words"] = {{3, 64, 4, 64, 4}};
    return bench.build(bench.compilers->connect(), std::move(job));
  };
  const std::string tells =
      "from torch.utils.cpp_extension import load_inline; "
      "load_inline(name='k', cpp_sources='', extra_cflags=[f'-f{scaled.fn.device_caches[0][0].__len__()}'])";
  const auto said = pass(1, tells);
  CHECK_MESSAGE(said.find("'-f2'") != std::string::npos, said);
  CHECK(pass(1, "raise ValueError('one')") == "");
}
