// Programs of PyTorch on a GPU, as far as they need none: what a call is told, which baselines there are, and
// the process that compiles for Triton. tests/gpu/torch.test.cpp runs them on a device.
#include "fitness/cuda/python/python_programs.hpp"

#include <cstring>
#include <string>
#include <unistd.h>
#include <utility>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/fitness/torch.hpp>

#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/compile_server.hpp"
#include "fitness/torch/compiled_baseline.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/skip.hpp"

using namespace kevo;

namespace {

const std::string folder = KEVO_SOURCE_DIR "/tests/gpu/torch/";

std::vector<std::int64_t> words_of(const cuda::plan& p) {
  std::vector<std::int64_t> words;
  for (const auto& one : std::get<cuda::kernel_launch>(p.steps.front()).arguments) {
    if (const auto* scalar = std::get_if<cuda::scalar_argument>(&one)) {
      std::int64_t word = 0;
      std::memcpy(&word, scalar->bytes.data(), sizeof word);
      words.push_back(word);
    }
  }
  return words;
}

// What the process that compiles answers to a request.
std::pair<bool, std::string> ask(int socket, const boost::json::object& options, const std::string& text) {
  const auto head = boost::json::serialize(options);
  const std::uint32_t lengths[2] = {static_cast<std::uint32_t>(head.size()),
                                    static_cast<std::uint32_t>(text.size())};
  const std::string request =
      std::string(reinterpret_cast<const char*>(lengths), sizeof lengths) + head + text;
  REQUIRE(::write(socket, request.data(), request.size()) == static_cast<ssize_t>(request.size()));
  const auto receive = [&](std::size_t count) {
    std::string got(count, '\0');
    for (std::size_t at = 0; at < count;) {
      const auto part = ::read(socket, got.data() + at, count - at);
      REQUIRE(part > 0);
      at += static_cast<std::size_t>(part);
    }
    return got;
  };
  const auto start = receive(5);
  std::uint32_t length = 0;
  std::memcpy(&length, start.data(), sizeof length);
  return {start[4] == 1, receive(length)};
}

}  // namespace

TEST_CASE("a call of a program in Python has the buffers and the extents of every tensor") {
  const auto t = load_task(folder + "softmax.yaml");
  const auto p = cuda::python_plan(t, t.workloads.front());
  CHECK(p.inputs == 1);
  CHECK(p.outputs == 1);
  CHECK(words_of(p) == std::vector<std::int64_t>{4096, 4096, 4096, 4096});
  CHECK(words_of(cuda::python_plan(t, t.workloads.back())) == std::vector<std::int64_t>{77, 1021, 77, 1021});
  const auto described = cuda::describe_python_task(t, {p, p});
  CHECK(described.workloads.front().outputs.front().count == 4096U * 4096U);
  CHECK(described.workloads.front().reference == p);
  CHECK(described.reference.images.empty());
}

TEST_CASE("a baseline may be the reference as torch.compile compiles it") {
  const auto t = load_task(folder + "layer.yaml");
  REQUIRE(t.baselines.size() == 2);
  CHECK(t.baselines[0].source == t.reference->source);
  CHECK(t.baselines[1].source == t.reference->source);
  CHECK_FALSE(torch::is_compiled(t.baselines[0].link));
  CHECK(torch::is_compiled(t.baselines[1].link));
  // On a CPU it is left out where it may be, and an error otherwise.
  auto needed = t;
  needed.baselines[1].optional = false;
  try {
    const torch_fitness fitness(std::make_shared<const task>(needed));
    FAIL("a compiled baseline on a CPU");
  } catch (const error& refused) {
    CHECK(refused.message().find("needs fitness.device: cuda") != std::string::npos);
  }
}

TEST_CASE("tasks share the warm processes of a device, and other devices and settings have others") {
  cuda::device_description device;
  device.uuid = "GPU-1";
  device.major = 9;
  cuda::python_settings settings;
  settings.sandbox = sandbox_mode::best;
  cuda::shared_pythons shared;
  std::shared_ptr<cuda::warm_pythons> first;
  try {
    first = shared.of(settings, device);
  } catch (const error& missing) {
    kevo_test::skip(missing.message());
    return;
  }
  CHECK(shared.of(settings, device) == first);
  auto other_device = device;
  other_device.uuid = "GPU-2";
  CHECK(shared.of(settings, other_device) != first);
  auto other_settings = settings;
  other_settings.sandbox = sandbox_mode::off;
  CHECK(shared.of(other_settings, device) != first);
  CHECK(first->connect_compiler().get() >= 0);
}

TEST_CASE("machine code for Triton is made by a process that takes no options of which it does not know") {
  python_tools tools;
  try {
    tools = torch::find_torch({}, contains(sandbox_mode::best));
  } catch (const error& missing) {
    kevo_test::skip(missing.message());
    return;
  }
  torch::compile_server server(tools, sandbox_mode::best, {});
  const std::string empty =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  const boost::json::object usual = {
      {"kind", "ptx"}, {"arch", "sm_80"}, {"options", boost::json::array{"-lineinfo"}}};
  const auto first = server.connect();
  const auto second = server.connect();
  const auto [done, printed] = ask(first.get(), usual, empty);
  const std::string code = printed;
  CHECK_MESSAGE(done, code);
  CHECK(code.substr(1, 3) == "ELF");
  CHECK(ask(second.get(), usual, empty).second == code);
  const auto [wrong, complaint] = ask(second.get(), usual, "nonsense\n");
  CHECK_FALSE(wrong);
  CHECK(complaint.find("ptxas") != std::string::npos);
  auto options = usual;
  options["options"] = boost::json::array{"--options-file=/etc/passwd"};
  CHECK(ask(first.get(), options, empty).second.find("not allowed") != std::string::npos);
}

// From the text of a kernel alone: what one process of a program has had compiled tells a later one nothing
// but that kernel.
TEST_CASE("kernels of Triton are compiled from their text, and a text on which Triton fails harms no other") {
  python_tools tools;
  try {
    tools = torch::find_torch({}, contains(sandbox_mode::best));
  } catch (const error& missing) {
    kevo_test::skip(missing.message());
    return;
  }
  torch::compile_settings settings;
  settings.architecture = "90";
  torch::compile_server server(tools, sandbox_mode::best, settings);
  const std::string kernel = R"(module {
  tt.func public @add_one(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) attributes {noinline = false} {
    %one = arith.constant dense<1.000000e+00> : tensor<128xf32>
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %to = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %written = tt.addptr %to, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %from = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %read = tt.addptr %from, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %value = tt.load %read : tensor<128x!tt.ptr<f32>>
    %sum = arith.addf %value, %one : tensor<128xf32>
    tt.store %written, %sum : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
)";
  boost::json::object usual = {{"kind", "triton"},
                               {"capability", 90},
                               {"arch", "sm_90a"},
                               {"options", {{"num_warps", 4}}},
                               {"ptxas", boost::json::array{"-lineinfo"}}};
  const auto first = server.connect();
  const auto second = server.connect();
  const auto [done, printed] = ask(first.get(), usual, kernel);
  const std::string text = printed;
  REQUIRE_MESSAGE(done, text);
  const auto made = boost::json::parse(text).as_object();
  CHECK(std::string(made.at("texts").at("ptx").as_string()).find(".entry add_one") != std::string::npos);
  CHECK(made.at("metadata").at("name") == "add_one");
  CHECK(made.at("cubin").as_string().starts_with("f0VMR"));  // ELF in base64
  CHECK(ask(second.get(), usual, kernel).second == text);
  CHECK_FALSE(ask(second.get(), usual, "module {garbage").first);
  const auto failed = ask(second.get(), usual, "module {}");  // an assertion of a pass
  CHECK_FALSE(failed.first);
  const std::string& why = failed.second;
  CHECK_MESSAGE(why.find("ended") != std::string::npos, why);
  usual["options"] = {{"extern_libs", "/etc/passwd"}};
  CHECK(ask(second.get(), usual, kernel).second.find("not allowed") != std::string::npos);
  usual["options"] = {{"num_warps", 8}};
  const auto again = ask(second.get(), usual, kernel);
  const std::string& other = again.second;
  CHECK_MESSAGE(again.first, other);
  CHECK(other != text);
}
