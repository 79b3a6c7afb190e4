// What prompts say of the machine and of the rules, in each language, and how long each prompt is.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "operators/llm/operators.hpp"
#include "operators/llm/prompt.hpp"
#include "operators/llm/sections.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/operators/llm/replies.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

const std::map<std::string, std::string> facts_of_a_cpu = {
    {"processor", "L1d 32 KiB, L2 1 MiB, L3 32 MiB, 3.25 GHz"},
    {"instruction_sets",
     "AVX2, FMA, AVX-512F, AVX-512BW, AVX-512DQ, AVX-512VL, AVX-512VBMI, AVX-512VNNI, AVX-512BF16"},
    {"compiler", "g++"},
    {"compiler_version", "g++ (Debian 14.2.0-19) 14.2.0"},
    {"flags", "-O3 -march=native -fopenmp"},
    {"peaks",
     "a core: 152 GFLOP/s in float32; copies: 180 GB/s in 24 KiB, 75.5 GB/s in 512 KiB, 45.1 GB/s in "
     "4 MiB, 11.2 GB/s in 64 MiB"},
    {"bounds", "small 12.3 us by operations, large 1.2 ms by bytes"},
    {"threads", "4"}};

const std::map<std::string, std::string> facts_of_a_gpu = {
    {"architecture", "sm_90a"},
    {"processor",
     "132 multiprocessors at 1.98 GHz, each with 65536 registers, 228 KiB of shared memory (227 KiB "
     "a block), 2048 threads; L2 50 MiB"},
    {"compiler", "nvrtc 13.0"},
    {"flags", "-O3 --std=c++20"},
    {"peaks",
     "60.1 TFLOP/s in float32 without tensor cores and 4.02 TB/s of copies, measured; tensor cores by "
     "datasheet, TOP/s: TF32 535, float16 1.07e+03, int8 2.14e+03"},
    {"bounds", "small 12.3 us by operations, large 1.2 ms by bytes"}};

variation_request request_on(const variation_request& like, const std::string& language,
                             const std::string& text, const std::map<std::string, std::string>& facts) {
  variation_request made = like;
  candidate_snapshot parent = *like.parents.front();
  evaluation e = *parent.evaluation;
  e.device = facts.contains("architecture") ? "NVIDIA H200" : "AMD EPYC 9355 (32 processors)";
  e.context = facts;
  parent.evaluation = std::make_shared<const evaluation>(e);
  parent.program = std::make_shared<const program>(single_file_program(language, "kernel", text));
  made.parents = {std::make_shared<const candidate_snapshot>(parent)};
  auto t = *like.task;
  t.cost.min_flops = expression::parse("N");
  t.baselines = {{.name = "naive"}};
  made.task = std::make_shared<const task>(std::move(t));
  return made;
}

}  // namespace

TEST_CASE("every model is told the machine, the limits and the rules in fewer than 300 tokens each") {
  const scripted::server server([](const scripted::request&) { return scripted::says(good); });
  const bench b(server);
  std::map<std::string, std::string> torch_cpu = facts_of_a_cpu;
  for (const char* key : {"instruction_sets", "compiler", "compiler_version", "flags"}) torch_cpu.erase(key);
  torch_cpu.insert({{"vector_instructions", "AVX512"}, {"pytorch", "2.11.0"}});
  std::map<std::string, std::string> torch_gpu = facts_of_a_gpu;
  torch_gpu.insert({{"pytorch", "2.11.0"}});
  struct language {
    std::string name;
    std::string text;
    const std::map<std::string, std::string>& facts;
    std::vector<std::string> words;
  };
  const language all[] = {
      {"cpp",
       "void run();",
       facts_of_a_cpu,
       {"immintrin.h", "At most 4 threads", "Memory may be kept", "// kevo: {16, 32, 64}", "-fopenmp"}},
      {"cuda", "// kevo: launch f<<<1, 1>>>(X)\n", facts_of_a_gpu, {"kevo: workspace", "Nothing is kept"}},
      {"cuda", "int run(float* x, cudaStream_t s);", facts_of_a_gpu, {"may be kept between", "`stream`"}},
      {"triton", "# kevo: launch f[1](X)\n", facts_of_a_gpu, {"@triton.jit", "# kevo: workspace"}},
      {"python", "class ModelNew: pass", torch_cpu, {"load_inline", "At most 4 threads", "torch.compile"}},
      {"python", "class ModelNew: pass", torch_gpu, {"Triton kernels", "TILE = 64  # kevo: {16"}}};
  for (const auto& one : all) {
    CAPTURE(one.name);
    const auto request = request_on(b.request, one.name, one.text, one.facts);
    const std::string machine = machine_section(request);
    const std::string rules = rules_section(request, true);
    MESSAGE(one.name << ", " << estimated_tokens(machine.size()) << " and " << estimated_tokens(rules.size())
                     << " tokens:\n"
                     << machine << rules);
    CHECK(estimated_tokens(machine.size()) < 300);
    CHECK(estimated_tokens(rules.size()) < 300);
    for (const std::string word : {"peaks: ", "large 1.2 ms by bytes", "fewer operations than: N",
                                   "caches: warm", "geometric mean of the speedups over naive", "constant"})
      CHECK_MESSAGE(has(machine, word), word);
    for (const std::string& word : one.words) CHECK_MESSAGE(has(rules, word), word);
    CHECK(has(rules, "Correct for every size"));
    CHECK(!has(rules_section(request, false), "Tunables"));
    CHECK(!has(machine + rules, "secret-shape"));
  }
  const auto cpp = request_on(b.request, "cpp", "void run();", facts_of_a_cpu);
  CHECK(has(machine_section(cpp), "AVX-512F"));
  CHECK(has(machine_section(cpp), "g++ (Debian 14.2.0-19) 14.2.0, flags -O3 -march=native"));
}

TEST_CASE("what limits a measurement is told as the task has it") {
  const scripted::server server([](const scripted::request&) { return scripted::says(good); });
  const bench b(server);
  auto request = request_on(b.request, "cpp", "void run();", {});
  task t = *request.task;
  t.workloads.push_back({.uuid = "big", .axes = {{"N", 1000}}, .cache = "cold", .weight = 3});
  request.task = std::make_shared<const task>(t);
  CHECK(has(machine_section(request), "flushed before each timed call of big, else warm"));
  CHECK(has(machine_section(request), "with the weights big 3"));
  CHECK(has(rules_section(request), "- One thread."));
  t.outputs.clear();  // judged by a program of the user's, whose rules kevo does not know
  request.task = std::make_shared<const task>(t);
  CHECK(rules_section(request).empty());
  CHECK(!has(machine_section(request), "score"));
}

TEST_CASE("tunables are explained where the run tries their values") {
  scripted::server server([](const scripted::request&) { return scripted::says(good); });
  const bench b(server);
  const auto prompt = [&](bool tunes) {
    b.models->set_tunes(tunes);
    rng random(1);
    llm_rewrite{b.settings()}.vary(b.request, random);
    return server.seen().back().body;
  };
  CHECK(!has(prompt(false), "Tunables"));
  CHECK(has(prompt(true), "constexpr int TILE = 64;  // kevo: {16, 32, 64}"));
}

TEST_CASE("each prompt with its tokens by part") {
  const scripted::server server([](const scripted::request&) { return scripted::says(good); });
  const bench b(server);
  const auto request = request_on(b.request, "cpp", parent_text, facts_of_a_cpu);
  auto sections = sections_of(request);
  set_section(sections, "rules", rules_section(request, true));
  std::string table;
  for (const auto& name : shipped_prompts()) {
    const std::string file(shipped_prompt(name));
    std::size_t fixed = file.size();
    std::string parts;
    for (const auto& one : sections) {
      const std::string place = "{{" + one.name + "}}";
      if (!has(file, place)) continue;
      fixed -= place.size();
      if (!one.text.empty()) parts += fmt::format(" {} {}", one.name, estimated_tokens(one.text.size()));
    }
    const auto made = assemble(name, file, sections, 100000);
    std::size_t whole = 0;
    for (const auto& m : made.messages) whole += m.content.size();
    table += fmt::format("{}: {} tokens, of the file {},{}\n", name, estimated_tokens(whole),
                         estimated_tokens(fixed), parts);
    CAPTURE(name);
    CHECK(estimated_tokens(fixed) < 400);
    // Who writes a program knows the rules.
    if (has(file, "fenced code block") || has(file, "SEARCH")) CHECK(has(file, "{{rules}}"));
  }
  MESSAGE(table);
}
