// kevo-worker-cuda: the context in which a candidate's device code runs, in the sandbox. It shares a region
// of host memory and an arena of device memory with the trusted process and nothing else; what it says is
// believed by nobody. Usage: kevo-worker-cuda DEVICE ARENA_BYTES, descriptors 3 and 4.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/wire/module.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "fitness/cuda/worker/main/admitted_run.hpp"
#include "fitness/cuda/worker/main/held_run.hpp"
#include "fitness/cuda/worker/main/prepared_calls.hpp"
#include "fitness/cuda/worker/main/serve_requests.hpp"
#include "fitness/cuda/worker/main/worker_startup.hpp"

namespace {

using namespace kevo::cuda;

struct slot_call {
  prepared_plan plan;
  std::vector<masked_buffer> masked;
  bool uses_shared = false;   // memory of a multiprocessor
  graph_exec exec = nullptr;  // of the call alone, where it is to be made alone
};

// Everything that lives as long as the process.
class worker {
 public:
  worker(const driver& d, const shared_region& shared) : d_(d), shared_(shared), page_(shared.page()) {}

  driver_failure start(const char* id, std::size_t arena_bytes);
  [[noreturn]] void serve();

 private:
  driver_failure load();
  driver_failure prepare();
  driver_failure join();
  driver_failure run(std::uint64_t number);
  driver_failure step();
  driver_failure capture(std::size_t from, std::size_t count, bool admitted, graph_exec& to);
  driver_failure enqueue_admitted(std::size_t count);
  void drop();

  const driver& d_;
  shared_region shared_;
  control_page& page_;
  address arena_ = 0;
  stream stream_ = nullptr;
  held_run held_;
  admitted_run admitted_;
  prepared_calls ready_;
  loaded_module trusted_kernels_;
  loaded_module candidate_;
  bool static_shared_ = false;  // some kernel of the candidate has shared memory of its own
  std::vector<slot_call> slots_;
  graph_exec joined_ = nullptr;
  std::size_t joined_calls_ = 0;
};

driver_failure worker::start(const char* id, std::size_t arena_bytes) {
  worker_context made;
  if (auto failure = open_context(d_, id, arena_bytes, made)) return failure;
  arena_ = made.arena;
  stream_ = made.stream;
  if (auto failure = held_.open(d_, stream_)) return failure;
  if (auto failure = admitted_.open(d_, stream_)) return failure;
  return ready_.open(d_, made.device, stream_);
}

driver_failure worker::load() {
  const auto image = decode_module(shared_.payload());
  if (page_.request.slot == 0) {
    if (auto failure = trusted_kernels_.load(d_, image)) return failure;
    held_.hold_with(trusted_kernels_.find(image, "kevo_block"));
    admitted_.hold_with(trusted_kernels_.find(image, "kevo_barrier"));
    return ready_.ready_with(trusted_kernels_.find(image, "kevo_ready"));
  }
  drop();
  candidate_ = loaded_module();
  static_shared_ = std::any_of(image.kernels.begin(), image.kernels.end(),
                               [](const auto& kernel) { return kernel.static_shared_bytes > 0; });
  if (auto failure = candidate_.load(d_, image)) return failure;
  return ready_.keep_globals(candidate_);
}

void worker::drop() {
  if (joined_ != nullptr) d_.graph_exec_destroy(joined_);
  joined_ = nullptr;
  for (auto& one : slots_) {
    if (one.exec != nullptr) d_.graph_exec_destroy(one.exec);
  }
  slots_.clear();
}

// What is restored, a barrier, what unmasks the inputs, event, call, event, and a barrier that holds nothing
// back but says that the call has ended.
driver_failure worker::enqueue_admitted(std::size_t count) {
  driver_failure failure;
  for (std::size_t k = 0; k < count && !failure; ++k) {
    failure = ready_.enqueue_restore();
    if (!failure) failure = admitted_.enqueue_barrier(false);
    if (!failure) failure = ready_.enqueue_unmask(k, admitted_.key());
    if (!failure) failure = admitted_.record(2 * k);
    if (!failure) failure = slots_[k].plan.enqueue(d_, stream_);
    if (!failure) failure = admitted_.record(2 * k + 1);
    if (!failure) failure = admitted_.enqueue_barrier(true);
  }
  return failure;
}

// One graph of the calls of several slots, one after the other.
driver_failure worker::capture(std::size_t from, std::size_t count, bool admitted, graph_exec& to) {
  graph captured = nullptr;
  if (const auto code = d_.capture_begin(stream_, capture_relaxed)) return {code, "capturing"};
  driver_failure failure;
  if (admitted) failure = enqueue_admitted(count);
  if (!admitted) failure = admitted_.record(0);
  for (std::size_t i = from; i < from + count && !admitted && !failure; ++i)
    failure = slots_[i].plan.enqueue(d_, stream_);
  if (!admitted && !failure) failure = admitted_.record(1);
  const driver_code ended = d_.capture_end(stream_, &captured);
  if (failure) {
    if (captured != nullptr) d_.graph_destroy(captured);
    return failure;
  }
  if (ended != success) return {ended, "capturing the plan"};
  const auto made = d_.graph_instantiate(&to, captured, 0);
  d_.graph_destroy(captured);
  if (made != success) return {made, "making the graph of the plan"};
  if (const auto code = d_.graph_upload(to, stream_)) return {code, "uploading the graph"};
  return {d_.stream_synchronize(stream_), "uploading the graph"};
}

driver_failure worker::prepare() {
  const auto p = decode_plan(shared_.payload());
  const auto& request = page_.request;
  if (request.slot >= most_slots || request.buffers > most_buffers)
    return {error_invalid_value, "a slot out of range"};
  std::vector<address> buffers;
  for (std::uint32_t i = 0; i < request.buffers; ++i) buffers.push_back(arena_ + request.offsets[i]);
  if (slots_.size() <= request.slot) slots_.resize(request.slot + 1);
  auto& slot = slots_[request.slot];
  if (slot.exec != nullptr) d_.graph_exec_destroy(slot.exec);
  slot.exec = nullptr;
  slot.masked.clear();
  for (std::uint32_t i = 0; i < request.buffers; ++i) {
    if (request.masked_bytes[i] > 0) slot.masked.push_back({buffers[i], request.masked_bytes[i], i + 1});
  }
  slot.uses_shared = static_shared_ || std::any_of(p.steps.begin(), p.steps.end(), [](const plan_step& step) {
                       const auto* launch = std::get_if<kernel_launch>(&step);
                       return launch != nullptr && launch->dynamic_shared_bytes > 0;
                     });
  if (auto failure = slot.plan.prepare(d_, candidate_, p, buffers)) return failure;
  return request.alone != 0 ? capture(request.slot, 1, false, slot.exec) : driver_failure{};
}

// All calls of a run in one graph: launching short kernels one by one would take longer than they do. Before
// the contents come, for the first launch right after a graph is made takes some ten microseconds more.
driver_failure worker::join() {
  const std::size_t count = page_.request.count;
  if (count == 0 || count > slots_.size()) return {error_invalid_value, "a graph of unknown slots"};
  if (joined_ != nullptr) d_.graph_exec_destroy(joined_);
  joined_ = nullptr;
  joined_calls_ = count;
  std::vector<std::vector<masked_buffer>> masked;
  for (std::size_t k = 0; k < count; ++k) masked.push_back(slots_[k].masked);
  if (auto failure = ready_.plan(masked, slots_.front().uses_shared)) return failure;
  return capture(0, count, page_.request.behind_barriers != 0, joined_);
}

driver_failure worker::run(std::uint64_t number) {
  if (joined_ == nullptr) return {error_invalid_value, "a run without a graph"};
  d_.reset_persisting_l2();
  if (page_.request.behind_barriers != 0) return admitted_(page_, number, joined_, joined_calls_);
  // Nothing of the candidate runs between here and its call.
  if (auto failure = ready_.enqueue_restore()) return failure;
  if (auto failure = held_(page_, number, [this] {
        return driver_failure{d_.graph_launch(joined_, stream_), "launching"};
      }))
    return failure;
  // By the events of the graph, which take what those of admitted calls take.
  return admitted_.elapsed(0, page_.answer.event_ns);
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
      case worker_request::join:
        return {join()};
      case worker_request::run: {
        request_end end{run(number), true};
        publish(page_.armed, number);  // also where it failed before
        if (end.failure) publish(page_.ended, barrier_word(number, 0xffff));
        return end;
      }
      case worker_request::step:
        return {step(), true};
      case worker_request::touch:
        return {{not_the_driver, "only programs in Python are asked for that"}};
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
    std::fputs("usage: kevo-worker-cuda DEVICE ARENA_BYTES (internal; started by kevo)\n", stderr);
    return 2;
  }
  const auto shared = map_shared_region("kevo-worker-cuda");
  if (shared.data == nullptr) return 2;
  rest_until_begin(shared.page());
  const auto& d = require_driver(shared.page(), "EAGER");
  worker process(d, shared);
  say_ready(d, shared.page(), process.start(argv[1], std::strtoull(argv[2], nullptr, 10)));
  process.serve();
}
