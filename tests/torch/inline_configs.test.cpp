// timed
// labels: slow
// timeout: 900
// configs/llm_torch_cpp.yaml runs offline on the CPU; the replies for configs/llm_torch_cuda.yaml are built
// as on a machine with a GPU, and their kernels are run on the CPU. tests/gpu/llm_softmax.test.cpp runs the
// latter on a device.

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "fitness/torch/python_server.hpp"
#include "fitness/torch/source_facts.hpp"
#include "operators/llm/conversation.hpp"
#include "src/base/process/find_program.hpp"
#include "src/llm/cassette.hpp"
#include "src/task/source_file.hpp"
#include "tests/support/has_pytorch.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace json = boost::json;

namespace {

/// The program of a reply, as the operator takes it from the text.
std::string program_in_reply(const kevo::cassette& tape, const std::string& op, std::uint64_t ordinal) {
  const auto one = tape.find({op, "hand", ordinal});
  REQUIRE(one);
  CHECK(kevo::summary_of(one->reply.content).size() > 10);
  const auto code = kevo::code_of(one->reply.content, "python");
  REQUIRE(code);
  return *code;
}

const kevo::cassette& cuda_replies() {
  static const kevo::cassette tape(KEVO_SOURCE_DIR "/configs/cassettes/llm_torch_cuda.yaml",
                                   kevo::cassette_mode::replay);
  return tape;
}

// Executes programs up to their extensions with kevo's own load_inline, and builds those with kevo's own
// builder, which prepares PyTorch's headers once.
constexpr const char* builds = R"py(
import os, sys, types
folder, nvcc, packages, here, *sources = sys.argv[1:]
sys.path[:0] = [here]
from kevo_torch_extension import extension_requests, provide_torch_extensions
import kevo_torch_build

class Asked(Exception):
    pass

class requests(extension_requests):
    def built(self, request):
        raise Asked(request)

torch = types.ModuleType("torch")
torch.nn = types.ModuleType("torch.nn")
torch.utils = types.ModuleType("torch.utils")
sys.modules.update({"torch": torch, "torch.nn": torch.nn, "torch.utils": torch.utils})
provide_torch_extensions(torch, requests(None, []), None)
kevo_torch_build.BUILD_SECONDS = 400  # whatever else this machine does
builder = kevo_torch_build.extension_builder(packages, "", nvcc, "90")
for number, source in enumerate(sources):
    try:
        exec(compile(open(source).read(), source, "exec"), {})
        sys.exit("the program builds no extension")
    except Asked as asked:
        [request] = asked.args
    made = f"{folder}/{number}"
    os.makedirs(made)
    try:
        print("built", len(builder.build(made, request, lambda: True)) > 0, end="\0")
    except kevo_torch_build.Unfit as failure:
        print("refused", failure, end="\0")
)py";

/// Of each program "built True", or "refused" with the messages of the compilers.
std::vector<std::string> built_for_gpu(const std::vector<std::string>& texts, const std::string& nvcc) {
  const auto tools = kevo::torch::find_torch({}, false);
  const shell::scratch folder;
  shell::write_file(folder / "build.py", builds);
  std::vector<std::string> words = {tools.python,
                                    "-I",
                                    "-B",
                                    (folder / "build.py").string(),
                                    (folder / "out").string(),
                                    nvcc,
                                    tools.packages,
                                    KEVO_SOURCE_DIR "/fitness/torch"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    words.push_back((folder / ("kernel" + std::to_string(i) + ".py")).string());
    shell::write_file(words.back(), texts[i]);
  }
  const auto done = shell::run(words);
  std::vector<std::string> said;
  for (std::size_t at = 0; at < done.out.size();) {
    const auto end = std::min(done.out.find('\0', at), done.out.size());
    said.push_back(done.out.substr(at, end - at));
    at = end + 1;
  }
  REQUIRE_MESSAGE(said.size() == texts.size(), done.err);
  return said;
}

// What follows a reply's kernels: one launch as its host code makes it, compared with plain loops.
constexpr const char* compares = R"cpp(
  int main() {
    using namespace host_cuda;
    const int rows = 3, n = 4096;
    std::vector<float> x(rows * n), r(rows * n), w(n), y(rows * n, NAN);
    for (int i = 0; i < rows * n; ++i) x[i] = std::sin(0.37 * i), r[i] = std::cos(1.3 * i) / (1 + i / n);
    for (int j = 0; j < n; ++j) w[j] = 0.5 + (j * 31 % n) / double(n);
    run(x.data(), r.data(), w.data(), y.data(), rows, n);
    for (int i = 0; i < rows; ++i) {
      double squares = 0;
      for (int j = 0; j < n; ++j) squares += std::pow(double(x[i * n + j]) + r[i * n + j], 2);
      for (int j = 0; j < n; ++j) {
        const double want = w[j] * (double(x[i * n + j]) + r[i * n + j]) / std::sqrt(squares / n + 1e-6);
        if (!(std::abs(y[i * n + j] - want) <= 1e-6 + 2e-5 * std::abs(want)))
          return std::printf("row %d, element %d: %g, not %g\n", i, j, y[i * n + j], want), 0;
      }
    }
    std::printf("right\n");
  }
)cpp";

/// "right", or what is wrong with the results of the kernels in a program.
std::string run_on_host(const std::string& text, const std::string& launch, const std::string& define) {
  static const std::regex kernels(R"re(#include <torch/extension.h>\n([^]*?)\ntorch::Tensor add_rmsnorm)re");
  std::smatch found;
  REQUIRE(std::regex_search(text, found, kernels));
  const shell::scratch folder;
  shell::write_file(
      folder / "k.cpp",
      "#include \"tests/support/cuda_on_host.hpp\"\n#define __shared__ static\n" + define +
          "\nstatic float rsqrtf(float v) { return 1 / std::sqrt(v); }\n" + found.str(1) +
          "\nvoid run(const float* x, const float* r, const float* w, float* y, int rows, int n) {\n"
          "  using namespace host_cuda;\n  " +
          launch + "\n}\n" + compares);
  const auto built =
      shell::run({kevo::find_program("g++"), "-std=c++20", "-O1", "-U_FORTIFY_SOURCE", "-w", "-I",
                  KEVO_SOURCE_DIR, (folder / "k.cpp").string(), "-o", (folder / "k").string()});
  if (built.code != 0) return "does not compile\n" + built.err;
  return shell::run({(folder / "k").string()}).out;
}

const std::string launch_of_four =
    "const auto at = [](const float* p) { return reinterpret_cast<const float4*>(p); };\n"
    "  launch({unsigned(rows)}, THREADS, [&] { add_rmsnorm_rows<4096 / (4 * THREADS)>(at(x), at(r), at(w), "
    "reinterpret_cast<float4*>(y), n); });";

}  // namespace

TEST_CASE(
    "llm_torch_cpp: a model's inline C++ is built and judged offline, the draft that fails is repaired") {
  if (!kevo_test::has_pytorch()) return;
  const shell::scratch folder;
  const auto ended =
      shell::run(shell::kevo({"run", KEVO_SOURCE_DIR "/configs/llm_torch_cpp.yaml", "--replay-models",
                              "--json", "--set", "run.output=run", "--set", "fitness.sandbox=best", "--set",
                              "fitness.timing={short: 0.1, full: 0.2, sustained: 0.05}"}),
                 folder.string());
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  const json::object all = json::parse(ended.out).as_object();
  // The seed and both proposals; the draft is not a candidate.
  CHECK_MESSAGE(all.at("valid").to_number<int>() == 3, ended.out);
  CHECK(all.at("ledger").at("tokens_in").to_number<int>() == 1300 + 1500 + 1900);  // all three replies
  std::string prompts;
  for (const char* id : {"1", "2"}) {
    const auto shown = shell::run(shell::kevo({"show", "run", id, "--prompt"}), folder.string());
    REQUIRE_MESSAGE(shown.code == 0, shown.err);
    CHECK(shown.out.find("load_inline") != std::string::npos);
    prompts += shown.out;
  }
  // The model is told for which device it writes, and what the compiler said of its draft.
  CHECK(prompts.find("for the CPU") != std::string::npos);
  CHECK_MESSAGE(prompts.find("was not declared in this scope") != std::string::npos, prompts);
}

TEST_CASE("llm_torch_cuda: every reply is a module with a kernel of its own, whose results are right") {
  const auto first = program_in_reply(cuda_replies(), "llm_rewrite", 0);
  const auto draft = program_in_reply(cuda_replies(), "llm_repair", 0);
  const auto repaired = program_in_reply(cuda_replies(), "llm_repair", 1);
  CHECK(cuda_replies().size() == 3);
  for (const auto& text : {first, draft, repaired}) {
    CHECK(kevo::torch::facts_of(kevo::program_of("python", text)).cuda_kernels == 1);
    CHECK(text.find("class ModelNew(nn.Module)") != std::string::npos);
  }
  const std::string whole = "launch({unsigned(rows)}, 256, [&] { add_rmsnorm_rows(x, r, w, y, n); });";
  CHECK(run_on_host(first, whole, "") == "right\n");
  for (const char* threads : {"128", "256", "1024"})
    CHECK(run_on_host(repaired, launch_of_four, std::string("#define THREADS ") + threads) == "right\n");
  // The comparison finds what is wrong: the last element of each row is left out.
  auto wrong = first;
  wrong.replace(wrong.rfind("j < n; j += 256"), 5, "j<n-1");
  CHECK(run_on_host(wrong, whole, "").starts_with("row 0, element 4095: nan"));
}

TEST_CASE("llm_torch_cuda: nvcc builds the extensions of the replies, but for the draft to be repaired") {
  if (!kevo_test::has_pytorch()) return;
  std::string nvcc = kevo::find_program("nvcc");
  if (nvcc.empty()) nvcc = kevo::find_program("/usr/local/cuda/bin/nvcc");
  if (nvcc.empty()) {
    kevo_test::skip("there is no nvcc");
    return;
  }
  const auto said = built_for_gpu(
      {program_in_reply(cuda_replies(), "llm_rewrite", 0), program_in_reply(cuda_replies(), "llm_repair", 0),
       program_in_reply(cuda_replies(), "llm_repair", 1)},
      nvcc);
  CHECK(said[0] == "built True");
  CHECK_MESSAGE(said[1].starts_with("refused"), said[1]);
  CHECK_MESSAGE(said[1].find("was not declared in this scope") != std::string::npos, said[1]);
  CHECK(said[2] == "built True");
}
