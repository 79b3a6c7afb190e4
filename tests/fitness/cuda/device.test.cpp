// The parts of the CUDA evaluator that need no GPU: messages, descriptors, what is said where there is no
// driver, and workers that die, hang or lie.
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

#include <kevo/error.hpp>

#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/device/contents.hpp"
#include "fitness/cuda/device/socket.hpp"
#include "fitness/cuda/device/trusted_kernels.hpp"
#include "fitness/cuda/device/type_code.hpp"
#include "fitness/cuda/device/worker_link.hpp"
#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/measure/cuda_fitness.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "fitness/cuda/measure/reading_plans.hpp"
#include "fitness/cuda/measure/two_clocks.hpp"
#include "fitness/worker/shared_memory.hpp"
#include "src/task/task_loader.hpp"

using namespace kevo;
using namespace kevo::cuda;
using std::chrono::milliseconds;

namespace {

plan some_plan() {
  plan p;
  p.inputs = p.outputs = 1;
  p.workspaces = {{"partial", "float32", 4096, 256}};
  kernel_launch launch;
  launch.arguments = {buffer_argument{0, 0}, buffer_argument{1, 64}, null_argument{}};
  p.steps = {launch, memory_set{2, 0, 255, 4096}};
  return p;
}

// The worker's side of a region, played by a forked child: `act` gets the page and never returns to the test.
template <class Act>
struct played_worker {
  explicit played_worker(const Act& act) : region("kevo-test-region", payload_offset + (1U << 20U)) {
    auto* page = new (region.data()) control_page{};
    child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it would spin for ever after a test that was aborted
      act(*page);
      ::_exit(0);
    }
    handle = detail::descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  }
  ~played_worker() {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  worker_link link() const {
    return {detail::descriptor(::dup(region.descriptor())), detail::descriptor(::dup(handle.get()))};
  }
  shared_memory region;
  pid_t child = -1;
  detail::descriptor handle;
};

void await(const std::atomic<std::uint64_t>& word, std::uint64_t value) {
  while (word.load() != value) std::this_thread::yield();
}

}  // namespace

TEST_CASE("messages come back as they were, and damaged ones are refused") {
  call_wanted wanted{3, 1, {0, varied_base + 2}, true, false, true, 5'000'000, some_plan()};
  const std::string bytes = encode(wanted);
  call_wanted read;
  decode(bytes, read);
  CHECK(read.contents == wanted.contents);
  CHECK(read.what == wanted.what);
  CHECK(read.limit_ns == wanted.limit_ns);
  for (std::size_t cut = 0; cut < bytes.size(); cut += 7) {
    CHECK_THROWS_AS(decode(std::string_view(bytes).substr(0, cut), read), error);
  }
  CHECK_THROWS_AS(decode(bytes + "x", read), error);

  call_result found;
  found.answer = {call_end::failed, 700, "illegal address"};
  found.event_ns = 12.5;
  found.findings = {{1, 2, 3, 4, 5, 6.0, 7.0, 8.0}};
  call_result again;
  decode(encode(found), again);
  CHECK(again.answer.end == call_end::failed);
  CHECK(again.answer.message == "illegal address");
  CHECK(again.findings.at(0).factor == 8.0);

  device_task task;
  task.reference.kernels.resize(2);
  task.workloads.push_back(
      {{{1, 7, "uniform", -1, 1}}, {{1, 7, 2, 0.5, 0.25, -1, 0, true, 0}}, {7}, some_plan(), true});
  task.workloads.at(0).outputs.at(0).summands = 99;
  device_task same;
  decode(encode(task), same);
  CHECK(same.workloads.at(0).inputs.at(0).kind == "uniform");
  CHECK(same.workloads.at(0).outputs.at(0).allow_negative_infinity);
  CHECK(same.workloads.at(0).outputs.at(0).summands == 99);
  CHECK(same.workloads.at(0).reference == some_plan());
}

TEST_CASE("a socket carries large messages and descriptors, and says when the other side has gone") {
  auto ends = socket_pair();
  message_socket ours(std::move(ends.first));
  message_socket theirs(std::move(ends.second));
  const shared_memory memory("kevo-test", 4096);
  memory.data()[5] = std::byte{42};
  message sent{std::string(3'000'000, 'x'), {}};
  sent.descriptors.emplace_back(::dup(memory.descriptor()));
  std::thread sender([&] { CHECK(ours.send(sent)); });
  message got;
  CHECK(theirs.receive(got, std::chrono::seconds(20)));
  sender.join();
  CHECK(got.bytes == sent.bytes);
  REQUIRE(got.descriptors.size() == 1);
  char byte = 0;
  CHECK(::pread(got.descriptors[0].get(), &byte, 1, 5) == 1);
  CHECK(byte == 42);
  CHECK_THROWS_AS(theirs.receive(got, milliseconds(20)), error);
  ours = message_socket();
  CHECK_FALSE(theirs.receive(got, std::chrono::seconds(20)));
}

TEST_CASE("a worker that answers, one that dies, one that hangs and one that fails") {
  SUBCASE("answers") {
    played_worker worker([](control_page& page) {
      page.state.store(static_cast<std::uint32_t>(worker_state::ready));
      await(page.go, 1);
      page.armed.store(1);
      await(page.release, 1);
      page.answer.event_ns = 1000;
      page.done.store(1);
    });
    auto link = worker.link();
    CHECK(link.wait_ready(std::chrono::seconds(20)).end == call_end::done);
    const auto run = link.run(true, std::chrono::seconds(20));
    CHECK(run.answer.end == call_end::done);
    CHECK(run.event_ns == 1000);
    CHECK(run.outside_ns > 0);
  }
  SUBCASE("cannot start, with a message that is not printable") {
    played_worker worker([](control_page& page) {
      std::strcpy(page.answer.message, "no \x1b[31mdriver");
      page.state.store(static_cast<std::uint32_t>(worker_state::unusable));
      ::pause();
    });
    auto link = worker.link();
    const auto answer = link.wait_ready(std::chrono::seconds(20));
    CHECK(answer.end == call_end::refused);
    CHECK(answer.message == "no ?[31mdriver");
  }
  SUBCASE("dies in a call: a value, and for every later request too") {
    played_worker worker([](control_page& page) {
      page.state.store(static_cast<std::uint32_t>(worker_state::ready));
      await(page.go, 1);
      page.armed.store(1);
      await(page.release, 1);
    });
    auto link = worker.link();
    CHECK(link.wait_ready(std::chrono::seconds(20)).end == call_end::done);
    CHECK(link.run(true, std::chrono::seconds(20)).answer.end == call_end::died);
    CHECK_FALSE(link.usable());
    CHECK(link.prepare(0, "", {}, {}, false, std::chrono::seconds(1)).end == call_end::died);
  }
  SUBCASE("hangs") {
    played_worker worker([](control_page& page) {
      page.state.store(static_cast<std::uint32_t>(worker_state::ready));
      await(page.go, 1);
      page.armed.store(1);
      for (;;) ::pause();
    });
    auto link = worker.link();
    CHECK(link.wait_ready(std::chrono::seconds(20)).end == call_end::done);
    CHECK(link.run(true, milliseconds(50)).answer.end == call_end::timed_out);
    CHECK_FALSE(link.usable());
  }
  SUBCASE("says that its context is dead") {
    played_worker worker([](control_page& page) {
      page.state.store(static_cast<std::uint32_t>(worker_state::ready));
      await(page.go, 1);
      page.answer.status = worker_status::failed;
      page.answer.code = error_illegal_address;
      std::memset(page.answer.message, 'y', sizeof page.answer.message);  // no end
      page.armed.store(1);
      page.done.store(1);
      for (;;) ::pause();
    });
    auto link = worker.link();
    CHECK(link.wait_ready(std::chrono::seconds(20)).end == call_end::done);
    const auto run = link.run(true, std::chrono::seconds(20));
    CHECK(run.answer.end == call_end::failed);
    CHECK(run.answer.code == error_illegal_address);
    CHECK(run.answer.message.size() == sizeof(control_page{}.answer.message));
    CHECK_FALSE(link.usable());
  }
}

TEST_CASE("what a worker names belongs to the call at hand, and it is asked for bytes of it") {
  played_worker worker([](control_page& page) {
    auto& named = *reinterpret_cast<named_results*>(reinterpret_cast<std::byte*>(&page) + results_offset);
    page.state.store(static_cast<std::uint32_t>(worker_state::ready));
    await(page.go, 1);
    named.count = 2;
    named.results[1].offset = 77;
    named.request.store(1);
    page.armed.store(1);
    page.done.store(1);
    await(page.go, 2);  // a call that names nothing
    page.done.store(2);
    await(page.go, 3);
    if (page.request.kind == worker_request::show && named.asked_result == 1)
      named.shown.fill(static_cast<unsigned char>(named.asked_offset));
    page.done.store(3);
    for (;;) ::pause();
  });
  auto link = worker.link();
  CHECK(link.wait_ready(std::chrono::seconds(20)).end == call_end::done);
  CHECK(link.step(0, {}, std::chrono::seconds(20)).end == call_end::done);
  REQUIRE(link.claims(2).size() == 2);
  CHECK(link.claims(2)[1].offset == 77);
  CHECK(link.claims(1).empty());
  CHECK(link.step(0, {}, std::chrono::seconds(20)).end == call_end::done);
  CHECK(link.claims(2).empty());
  std::array<unsigned char, shown_bytes> shown{};
  CHECK(link.show(1, 5, shown).end == call_end::done);
  CHECK(shown[15] == 5);
}

TEST_CASE("where there is no driver, kevo-device says so and what to do") {
  const auto& loaded = load_driver();
  if (loaded.functions != nullptr) {
    MESSAGE("there is a driver here: its facts are asked for instead");
    const device_client client(0);
    CHECK(client.facts().multiprocessors > 0);
    return;
  }
  CHECK_FALSE(loaded.missing.empty());
  try {
    const device_client client(0);
    FAIL("kevo-device found a device that is not there");
  } catch (const error& failure) {
    CHECK(failure.code() == error_code::environment);
    CHECK(failure.message() == loaded.missing);
    CHECK(failure.hint().find("NVIDIA") != std::string::npos);
  }
}

TEST_CASE("a task becomes what the device draws, computes and compares") {
  const auto t = load_task(KEVO_SOURCE_DIR "/tests/gpu/row_sum.yaml");
  const auto signature = reference_signature(t, t.workloads.front());
  REQUIRE(signature.outputs.size() == 2);
  CHECK(signature.outputs[0].dtype == "float64");
  CHECK(signature.outputs[1].name == "y_abs");
  CHECK(signature.outputs[1].elements == 4096);

  compiled_module module;
  module.kernels.resize(1);
  module.kernels[0].name = module.kernels[0].mangled = "reference";
  for (std::uint32_t i = 0; i < 4; ++i) module.kernels[0].parameters.push_back({8 * i, 8});
  const auto lines = read_launch_lines(t.reference->source);
  REQUIRE(std::holds_alternative<declared_launch>(lines));
  const auto made = describe_task(t, module, std::get<declared_launch>(lines), device_facts{});
  REQUIRE(made.workloads.size() == t.workloads.size());
  const auto& w = made.workloads[3];  // 33 x 1001
  CHECK(w.inputs.at(0).count == 33 * 1001);
  CHECK(w.scales == std::vector<std::uint64_t>{33});
  CHECK(w.outputs.at(0).rule == 2);
  CHECK(w.outputs.at(0).scale == 0);
  CHECK(w.outputs.at(0).p == doctest::Approx(4 * 0x1p-24 * std::sqrt(1001.0)));
  CHECK(w.reference.outputs == 2);
  CHECK(content_bytes(w) == 4 * 33 * 1001 + 8 * 33 + 8 * 33);  // float32, then 64 bits each
  CHECK_FALSE(w.mild);
}

TEST_CASE("without a device an evaluation is a fault of the environment, and a CPU task one of the input") {
  const auto t = std::make_shared<const task>(load_task(KEVO_SOURCE_DIR "/tests/gpu/row_sum.yaml"));
  cuda_fitness fitness(t, {});
  if (load_driver().functions == nullptr) {
    const auto source = std::make_shared<const program>(t->seeds.front());
    try {
      fitness.evaluate({.program = source});
      FAIL("a program was evaluated without a device");
    } catch (const error& failure) {
      CHECK(failure.code() == error_code::environment);
      CHECK(failure.message() == load_driver().missing);
    }
  }
  const auto cpu = std::make_shared<const task>(load_task(KEVO_SOURCE_DIR "/configs/tasks/matmul/task.yaml"));
  try {
    const cuda_fitness wrong(cpu, {});
    FAIL("a task without a CUDA reference was taken");
  } catch (const error& failure) {
    CHECK(failure.code() == error_code::input);
    CHECK(failure.place().key == "reference");
  }
}

TEST_CASE("short warm calls are measured together, cold ones alone; events never beat the trusted clock") {
  CHECK(plan_readings(10e6, 5e6, false, false, 24, 512).calls == 1);
  CHECK(plan_readings(5e3, 5e3, false, false, 400, 512).calls == 30);
  CHECK(plan_readings(5e3, 5e3, false, true, 400, 512).calls == 1);
  CHECK(plan_readings(5e3, 5e3, false, false, 10, 512).calls == 5);
  CHECK(plan_readings(5e3, 5e3, false, false, 400, 3).calls == 3);  // the arenas have no room for more
  CHECK(most_calls_of_reading(5e3) == 30);
  CHECK(most_calls_of_reading(0) == 32);
  CHECK(most_calls_of_reading(1e9) == 1);
  const auto cold = plan_readings(5e3, 9e3, true, false, 400, 512);
  CHECK(cold.calls == 1);
  CHECK(cold.repeats == 5);
  CHECK(reconcile(100e3, 108e3, 8e3, 3e3).agree);
  CHECK(reconcile(100e3, 108e3, 8e3, 3e3).ns == 100e3);
  const auto forged = reconcile(10e3, 108e3, 8e3, 3e3);  // the events say a tenth
  CHECK_FALSE(forged.agree);
  CHECK(forged.ns == 100e3);
  CHECK_FALSE(reconcile(100e3, 20e3, 8e3, 3e3).agree);  // began before it was released
  CHECK(reconcile(100e3, 20e3, 8e3, 3e3).ns == 100e3);
}

TEST_CASE("what the trusted clock shows above events is known for a call, and what all readings hide shows") {
  CHECK(clock_excess(108e3, 100e3, 4, {}, {}) == 2e3);
  // Of ten admitted calls the longest does not count: its thread was held up.
  const std::vector<double> outside = {15, 15, 15, 15, 90, 15, 15, 15, 15, 15};
  const std::vector<double> events(10, 5);
  CHECK(clock_excess(0, 0, 10, outside, events) == doctest::Approx(10));

  const std::vector<double> honest = {1000, 1010, 990, 1005, 995, 1000};
  std::vector<double> forged = honest;
  for (auto& one : forged) one += 400;
  CHECK(hidden_time(honest, honest, 150) == 0);
  CHECK(hidden_time(forged, honest, 150) > 200);
  CHECK(hidden_time(forged, honest, 150) < 250);
  CHECK(hidden_time({1400, 1400}, honest, 150) == 0);  // too few to tell
}

TEST_CASE("the room for contents is shared by those that are timed and those of other distributions") {
  const auto room = [](std::uint64_t bytes, std::uint32_t varied) {
    const auto found = contents_in(bytes, 10, varied);
    return std::pair(found.timed, found.varied);
  };
  CHECK(room(10'000, 4) == std::pair(996U, 4U));
  CHECK(room(100, 4) == std::pair(7U, 3U));
  CHECK(room(60, 4) == std::pair(4U, 2U));
  CHECK(room(60, 1) == std::pair(5U, 1U));
  CHECK(room(30, 4) == std::pair(2U, 2U));  // two of either kind, whatever they need
  CHECK(room(0, 4) == std::pair(2U, 2U));
  CHECK(contents_in(1000, 0, 4).timed == 996);
}

TEST_CASE("every trusted kernel that is asked for is in the source") {
  for (const auto& name : trusted_kernel_names())
    CHECK(trusted_kernels_source().find(" " + name + "(") != std::string::npos);
}

TEST_CASE("the number of a dtype leads back to it, and no other number leads anywhere") {
  CHECK(type_code("bfloat16") == 3);
  CHECK(type_code("float8_e4m3") == -1);
  CHECK(element_of(3).name == "bfloat16");
  CHECK(element_of(type_code("bool")).size == 1);
  CHECK_THROWS_AS(element_of(-1), error);
  CHECK_THROWS_AS(element_of(12), error);
}

#ifdef CUDA_VERSION
TEST_CASE("what is declared here has the layout of cuda.h") {
  static_assert(sizeof(CUmemAllocationProp) == sizeof(allocation_properties));
  static_assert(offsetof(CUmemAllocationProp, location) == offsetof(allocation_properties, where));
  static_assert(offsetof(CUmemAllocationProp, allocFlags) == offsetof(allocation_properties, flags));
  static_assert(sizeof(CUmemAccessDesc) == sizeof(access_description));
  static_assert(sizeof(CUlaunchAttribute) == sizeof(launch_attribute));
  static_assert(offsetof(CUlaunchAttribute, value) == offsetof(launch_attribute, value));
  static_assert(sizeof(CUlaunchConfig) == sizeof(launch_configuration));
  static_assert(offsetof(CUlaunchConfig, hStream) == offsetof(launch_configuration, stream));
  static_assert(offsetof(CUlaunchConfig, attrs) == offsetof(launch_configuration, attributes));
  static_assert(sizeof(CUtensorMap) == sizeof(tensor_map_bytes));
  static_assert(CU_LAUNCH_ATTRIBUTE_COOPERATIVE == launch_cooperative);
  static_assert(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == launch_cluster);
  static_assert(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION == launch_programmatic);
  static_assert(CU_LIMIT_PERSISTING_L2_CACHE_SIZE == static_cast<int>(limit::persisting_l2));
  static_assert(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED ==
                static_cast<int>(function_attribute::non_portable_cluster));
  static_assert(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR == handle_posix_fd);
  static_assert(sizeof(CUipcMemHandle) == sizeof(ipc_handle));
  static_assert(sizeof(CUDA_MEMCPY2D) == sizeof(copy_of_rows));
  static_assert(offsetof(CUDA_MEMCPY2D, srcDevice) == offsetof(copy_of_rows, source));
  static_assert(offsetof(CUDA_MEMCPY2D, dstDevice) == offsetof(copy_of_rows, target));
  static_assert(offsetof(CUDA_MEMCPY2D, dstPitch) == offsetof(copy_of_rows, target_pitch));
  static_assert(offsetof(CUDA_MEMCPY2D, Height) == offsetof(copy_of_rows, rows));
  static_assert(CU_MEMORYTYPE_DEVICE == memory_of_device);
  static_assert(CU_POINTER_ATTRIBUTE_BUFFER_ID == pointer_block);
  static_assert(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS == ipc_lazy_peer_access);
  CHECK(CUDA_ERROR_ILLEGAL_ADDRESS == error_illegal_address);
}
#endif

TEST_CASE("the usual elements of a spiked content are spread as on the CPU, so that honest sums are right") {
  rng random(5);
  const auto spiked = [&](const char* kind) {
    return numbers_for({.kind = kind, .a = -8, .b = 8}, variety::spiked, true, random);
  };
  for (int i = 0; i < 100; ++i) {
    // A softmax in float32 is wrong by more than 2e-5 in 8 of 400 such contents if they lie in a 64th.
    const auto uniform = spiked("uniform");
    CHECK(uniform.scale == spread_of_usual);
    CHECK(uniform.shift >= 0);
    CHECK(uniform.shift + uniform.scale <= 1);
    CHECK(uniform.constant == 0);
    const auto normal = spiked("normal");
    CHECK(normal.scale == jitter_of_usual);
    CHECK(std::abs(normal.shift) == 1);
    CHECK(spiked("integers").constant == 1);
  }
}
