// kevo-worker-cuda: the context in which a candidate's device code runs, in the sandbox. It shares a region
// of host memory and an arena of device memory with the trusted process and nothing else; what it says is
// believed by nobody. Usage: kevo-worker-cuda DEVICE, descriptors 3 and 4.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "fitness/cuda/compile/module.hpp"
#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/worker/main/served.hpp"
#include "fitness/cuda/worker/protocol.hpp"

namespace {

using namespace kevo::cuda;

struct slot_graph {
  prepared_plan plan;
  graph_exec exec = nullptr;
};

// Everything that lives as long as the process.
class worker {
 public:
  worker(const driver& d, control_page& page, const std::byte* payload)
      : d_(d), page_(page), payload_(payload) {}

  driver_failure start(const char* id, std::size_t arena_bytes);
  [[noreturn]] void serve();

 private:
  driver_failure load();
  driver_failure prepare();
  driver_failure run(std::uint64_t number);
  driver_failure step();
  void drop();
  std::string_view payload() const {
    return {reinterpret_cast<const char*>(payload_), std::min(page_.request.payload_bytes, most_payload)};
  }

  const driver& d_;
  control_page& page_;
  const std::byte* payload_;
  address arena_ = 0;
  stream stream_ = nullptr;
  event begin_ = nullptr;
  event end_ = nullptr;
  volatile std::uint64_t* gate_ = nullptr;  // pinned; the blocking kernel reads it
  address gate_on_device_ = 0;
  loaded_module kit_;
  function block_ = nullptr;
  loaded_module candidate_;
  std::vector<slot_graph> slots_;
  std::size_t ready_slots_ = 0;
};

driver_failure worker::start(const char* id, std::size_t arena_bytes) {
  worker_context made;
  if (auto failure = open_context(d_, id, arena_bytes, made)) return failure;
  arena_ = made.arena;
  stream_ = made.stream;
  if (const auto code = d_.event_create(&begin_, event_default)) return {code, "making an event"};
  if (const auto code = d_.event_create(&end_, event_default)) return {code, "making an event"};
  void* pinned = nullptr;
  if (const auto code = d_.host_allocate(&pinned, 4096, 0)) return {code, "pinning a page"};
  gate_ = static_cast<volatile std::uint64_t*>(pinned);
  for (int i = 0; i < 3; ++i) gate_[i] = 0;
  if (const auto code = d_.host_device_pointer(&gate_on_device_, pinned, 0)) return {code, "mapping a page"};
  return {};
}

driver_failure worker::load() {
  const auto image = decode_module(payload());
  if (page_.request.slot == 0) {
    if (auto failure = kit_.load(d_, image)) return failure;
    block_ = kit_.find(image, "kevo_block");
    return {};
  }
  drop();
  candidate_ = loaded_module();
  return candidate_.load(d_, image);
}

void worker::drop() {
  for (auto& one : slots_) {
    if (one.exec != nullptr) d_.graph_exec_destroy(one.exec);
  }
  slots_.clear();
  ready_slots_ = 0;
}

driver_failure worker::prepare() {
  const auto p = decode_plan(payload());
  const auto& request = page_.request;
  if (request.slot >= most_slots || request.buffers > most_buffers)
    return {error_invalid_value, "a slot out of range"};
  std::vector<address> buffers;
  for (std::uint32_t i = 0; i < request.buffers; ++i) buffers.push_back(arena_ + request.offsets[i]);
  if (slots_.size() <= request.slot) slots_.resize(request.slot + 1);
  auto& slot = slots_[request.slot];
  if (slot.exec != nullptr) d_.graph_exec_destroy(slot.exec);
  slot.exec = nullptr;
  if (auto failure = slot.plan.prepare(d_, candidate_, p, buffers)) return failure;
  graph captured = nullptr;
  if (const auto code = d_.capture_begin(stream_, capture_relaxed)) return {code, "capturing"};
  const auto failure = slot.plan.enqueue(d_, stream_);
  const driver_code ended = d_.capture_end(stream_, &captured);
  if (failure) {
    if (captured != nullptr) d_.graph_destroy(captured);
    return failure;
  }
  if (ended != success) return {ended, "capturing the plan"};
  const auto made = d_.graph_instantiate(&slot.exec, captured, 0);
  d_.graph_destroy(captured);
  if (made != success) return {made, "making the graph of the plan"};
  if (const auto code = d_.graph_upload(slot.exec, stream_)) return {code, "uploading the graph"};
  return {d_.stream_synchronize(stream_), "uploading the graph"};
}

driver_failure worker::run(std::uint64_t number) {
  const auto& request = page_.request;
  const std::uint32_t count = request.count;
  if (count == 0 || count > slots_.size()) return {error_invalid_value, "a run of unknown slots"};
  d_.reset_persisting_l2();
  const bool blocked = request.blocked != 0 && block_ != nullptr;
  if (blocked) {
    std::uint64_t limit_ns = request.block_limit_ns;
    std::uint64_t wanted = number;
    void* arguments[] = {&gate_on_device_, &wanted, &limit_ns};
    launch_configuration how;
    how.stream = stream_;
    if (const auto code = d_.launch(&how, block_, arguments, nullptr)) return {code, "the blocking kernel"};
  }
  if (const auto code = d_.event_record(begin_, stream_)) return {code, "recording an event"};
  driver_failure failure;
  for (std::uint32_t i = 0; i < count && !failure; ++i)
    failure = {d_.graph_launch(slots_[i].exec, stream_), "launching"};
  if (!failure) failure = {d_.event_record(end_, stream_), "recording an event"};
  // The kernel that holds the calls back must be seen to run, or the switch of contexts would be in the time.
  if (blocked && !failure) {
    while (gate_[1] != number && d_.stream_query(stream_) == error_not_ready) spin_pause();
  }
  page_.armed.store(number, std::memory_order_release);
  while (page_.release.load(std::memory_order_acquire) != number) spin_pause();
  gate_[0] = number;
  if (failure) {
    d_.stream_synchronize(stream_);
    return failure;
  }
  driver_code code = error_not_ready;
  while (code == error_not_ready) code = d_.event_query(end_);
  if (code != success) return {code, ""};
  float milliseconds = 0;
  if (const auto elapsed = d_.event_elapsed(&milliseconds, begin_, end_))
    return {elapsed, "reading the events"};
  page_.answer.unblocked = blocked && gate_[2] == number ? 1 : 0;
  page_.answer.event_ns = 1e6 * static_cast<double>(milliseconds);
  return {};
}

// One call by itself: on its way at once, "done" when the stream is empty.
driver_failure worker::step() {
  const auto slot = page_.request.slot;
  if (slot >= slots_.size() || slots_[slot].exec == nullptr)
    return {error_invalid_value, "a step of an unknown slot"};
  if (const auto code = d_.graph_launch(slots_[slot].exec, stream_)) return {code, "launching"};
  return {drained(d_, stream_), ""};
}

[[noreturn]] void worker::serve() {
  kevo::cuda::serve(d_, page_, [this](worker_request kind, std::uint64_t number) -> request_end {
    switch (kind) {
      case worker_request::load:
        return {load()};
      case worker_request::prepare:
        return {prepare()};
      case worker_request::run: {
        request_end end{run(number), true};
        page_.armed.store(number, std::memory_order_release);  // also where it failed before
        return end;
      }
      case worker_request::step:
        return {step(), true};
      case worker_request::drop:
        drop();
        return {};
      case worker_request::none:
        return {};
    }
    return {};
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: kevo-worker-cuda DEVICE ARENA_BYTES (started by kevo, never by hand)\n", stderr);
    return 2;
  }
  const region control = map_descriptor(control_descriptor);
  if (control.size <= payload_offset) {
    std::fputs("kevo-worker-cuda: the shared region cannot be mapped\n", stderr);
    return 2;
  }
  ::close(control_descriptor);
  auto& page = *reinterpret_cast<control_page*>(control.data);
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  const auto& loaded = load_driver();
  if (loaded.functions == nullptr) give_up(page, loaded.missing);
  worker process(*loaded.functions, page, control.data + payload_offset);
  if (const auto failure = process.start(argv[1], std::strtoull(argv[2], nullptr, 10))) {
    give_up(page, failure.what + ": " + text_of(*loaded.functions, failure.code));
  }
  ::close(arena_descriptor);
  page.state.store(static_cast<std::uint32_t>(worker_state::ready), std::memory_order_release);
  process.serve();
}
