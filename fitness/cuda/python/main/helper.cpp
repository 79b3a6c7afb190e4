// The part of kevo-worker-torch.so for processes that compute on a GPU: the context with the arena in it, the
// requests of the trusted process on the device, and giving up rights beside a driver. kevo_torch_device.py
// calls it by ctypes, after its fork.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/wire/module.hpp"
#include "fitness/cuda/wire/plan.hpp"
#include "fitness/cuda/wire/result_place.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "fitness/cuda/worker/main/serve_requests.hpp"
#include "fitness/cuda/worker/main/worker_startup.hpp"
#include "fitness/sandbox/limit_memory.hpp"
#include "fitness/sandbox/lock_down.hpp"

/// Of helper.cpp: maps the parameters of the reference.
extern "C" const char* kevo_worker_parameters(int descriptor);

namespace {

using namespace kevo::cuda;

constexpr std::size_t most_words = 512;
constexpr std::size_t touched_bytes = 1024;

/// As kevo_torch_device.py declares it.
struct python_request {
  std::uint32_t kind = 0;
  std::uint32_t buffers = 0;
  std::uint64_t pointers[most_buffers] = {};
  std::int64_t words[most_words] = {};
  const void* payload = nullptr;
  std::uint64_t payload_bytes = 0;
  std::uint32_t idle = 0;
};

// The state of a process on the device: one for each process, made by kevo_device_open.
shared_region shared;
worker_context context_here;
const driver* driver_here = nullptr;
function nothing_here = nullptr;
std::vector<std::uint32_t> buffers_of_call;
python_request current;
std::uint64_t next_request = 1;
bool marked = false;  // the end of the work of the held call at hand is in the stream

// Smaller allocations share memory of the driver with others, and opening one concerns all of them.
constexpr std::size_t least_exported = std::size_t{2} << 20U;

// Memory that the program's results lie in, by the driver's numbers.
struct exported_memory {
  address begin = 0;
  std::size_t bytes = 0;
  ipc_handle handle;
  bool exports = false;  // false: no other process can open it
};
std::unordered_map<std::uint64_t, exported_memory> exported;
// Of each result of the call at hand.
struct named_memory {
  std::uint64_t number = 0;
  const exported_memory* block = nullptr;
};
named_memory named_here[most_buffers];
// Memory that another process can open, for results that lie elsewhere, or in no rows.
struct ordinary_memory {
  address begin = 0;
  std::size_t bytes = 0;
};
ordinary_memory ordinary[most_buffers];

named_results& results_page() {
  return *reinterpret_cast<named_results*>(shared.data + results_offset);
}

// The memory around an address; nothing where the driver knows of none.
named_memory memory_at(address at) {
  std::uint64_t number = 0;
  if (driver_here->pointer_attribute(&number, pointer_block, at) != success) return {};
  const auto [known, is_new] = exported.try_emplace(number);
  auto& block = known->second;
  if (is_new) {
    block.exports = driver_here->range_of(&block.begin, &block.bytes, at) == success &&
                    block.bytes >= least_exported &&
                    driver_here->ipc_export(&block.handle, block.begin) == success;
  }
  return {number, &block};
}

void finish(worker_status status, driver_code code, const std::string& text) {
  auto& page = shared.page();
  page.answer.code = code;
  page.answer.status = status;
  say(page, text);
  publish(page.done, next_request++);
}

// What the trusted process asks for, to see that this one can read what it has named.
void show() {
  auto& page = results_page();
  const auto* block = named_here[std::min<std::size_t>(page.asked_result, most_buffers - 1)].block;
  const auto& d = *driver_here;
  if (block == nullptr || page.asked_offset >= block->bytes)
    return finish(worker_status::refused, not_the_driver, "bytes of a result that was not named");
  const auto bytes = std::min<std::size_t>(shown_bytes, block->bytes - page.asked_offset);
  auto code = d.copy_out(page.shown.data(), block->begin + page.asked_offset, bytes, context_here.stream);
  if (code == success) code = d.stream_synchronize(context_here.stream);
  finish(code == success ? worker_status::ok : worker_status::failed, code,
         code == success ? "" : text_of(d, code));
}

std::string read_plan() {
  const auto p = decode_plan(shared.payload());
  if (p.steps.size() != 1 || !std::holds_alternative<kernel_launch>(p.steps.front()))
    return "a plan that is no call of a program in Python";
  buffers_of_call.clear();
  std::size_t words = 0;
  for (const auto& argument : std::get<kernel_launch>(p.steps.front()).arguments) {
    if (const auto* buffer = std::get_if<buffer_argument>(&argument)) {
      buffers_of_call.push_back(buffer->buffer);
    } else if (const auto* scalar = std::get_if<scalar_argument>(&argument)) {
      if (words == most_words) return "a plan of too many numbers";
      std::memcpy(&current.words[words++], scalar->bytes.data(), sizeof(std::int64_t));
    }
  }
  return {};
}

// Waits as the other workers do: without pause at first, for whoever waits here is measured.
void await_request() {
  using std::chrono::microseconds;
  if (few_processors()) return await_value(shared.page().go, next_request);
  const auto awake = microseconds(5000);
  const auto start = std::chrono::steady_clock::now();
  const auto& go = shared.page().go;
  for (int round = 1; go.load(std::memory_order_acquire) != next_request; ++round) {
    spin_pause();
    if (round % 64 != 0) continue;
    const auto quiet = std::chrono::steady_clock::now() - start;
    if (quiet > awake)
      std::this_thread::sleep_for(microseconds(quiet > std::chrono::milliseconds(200) ? 1000 : 50));
  }
}

// The kernel that does nothing, of the trusted ones: the others are for programs with launch lines. Where it
// cannot be loaded, a little memory is filled instead.
void load_nothing() {
  const auto kernels = decode_module(shared.payload());
  module_handle module = nullptr;
  if (kernels.images.empty() ||
      driver_here->module_load(&module, kernels.images.front().data(), 0, nullptr, nullptr) != success ||
      driver_here->module_function(&nothing_here, module, "kevo_nothing") != success)
    nothing_here = nullptr;
}

// Work on PyTorch's usual stream, so that the device is in this context afterwards.
driver_code touch_device() {
  launch_configuration how;
  how.stream = nullptr;
  if (nothing_here != nullptr) return driver_here->launch(&how, nothing_here, nullptr, nullptr);
  return driver_here->set_bytes(context_here.arena + 2 * held_end, 0, touched_bytes, nullptr);
}

// Answers what needs no Python; true if the request is for Python.
bool is_for_python() {
  const auto& request = shared.page().request;
  current.kind = static_cast<std::uint32_t>(request.kind);
  switch (request.kind) {
    case worker_request::load:
      current.payload = shared.payload().data();
      current.payload_bytes = shared.payload().size();
      if (request.slot != 0) return true;
      load_nothing();
      break;
    case worker_request::prepare: {
      const auto wrong = read_plan();
      if (wrong.empty()) return true;
      finish(worker_status::refused, not_the_driver, wrong);
      return false;
    }
    case worker_request::show:
      show();
      return false;
    case worker_request::step:
      marked = false;
      current.buffers = static_cast<std::uint32_t>(buffers_of_call.size());
      current.idle = request.step == step_kind::idle ? 1 : 0;
      if (request.step == step_kind::touched) touch_device();
      for (std::size_t i = 0; i < buffers_of_call.size(); ++i) {
        const auto place = std::min<std::size_t>(buffers_of_call[i], most_buffers - 1);
        current.pointers[i] = context_here.arena + request.offsets[place];
      }
      if (request.blocked != 0) {
        // PyTorch's usual stream, and with it whatever waits for that.
        const auto code =
            driver_here->stream_wait_value(nullptr, context_here.arena, held_word(next_request), wait_equal);
        if (code != success) {
          finish(worker_status::failed, code, text_of(*driver_here, code));
          return false;
        }
        // A call of nothing still has a kernel.
        if (request.step == step_kind::idle) touch_device();
      }
      return true;
    case worker_request::run:
    case worker_request::join:
      finish(worker_status::refused, not_the_driver, "a program in Python is called one by one");
      return false;
    case worker_request::touch: {
      auto code = touch_device();
      if (code == success) code = drained(*driver_here, nullptr);
      finish(code == success ? worker_status::ok : worker_status::failed, code, "");
      return false;
    }
    case worker_request::drop:
    case worker_request::none:
      break;
  }
  finish(worker_status::ok, success, "");
  return false;
}

}  // namespace

#define KEVO_WORKER extern "C" __attribute__((visibility("default")))

/// Makes the context and maps the arena in it; descriptors 3 and 4 are the region and the arena. Ends the
/// process where that fails, after it has said why in the region.
/// @param parameters descriptor of the parameters of the reference; -1: there are none
KEVO_WORKER void kevo_device_open(const char* device, std::uint64_t arena_bytes, int parameters) {
  shared = map_shared_region("kevo-worker-torch");
  if (shared.data == nullptr) ::_exit(2);
  const char* wrong = parameters < 0 ? nullptr : kevo_worker_parameters(parameters);
  if (wrong != nullptr) give_up(shared.page(), wrong);
  driver_here = &require_driver(shared.page(), "LAZY");
  if (const auto failure = open_context(*driver_here, device, arena_bytes, context_here))
    give_up(shared.page(), failure.what + ": " + text_of(*driver_here, failure.code));
}

/// Requests may come.
KEVO_WORKER void kevo_device_ready() {
  say_ready(*driver_here, shared.page(), {});
}

/// The next request that Python is to answer, by kevo_device_end. Valid until the next call.
KEVO_WORKER const python_request* kevo_device_next() {
  for (;;) {
    await_request();
    try {
      if (is_for_python()) return &current;
    } catch (const std::exception& problem) {
      finish(worker_status::refused, not_the_driver, problem.what());
    }
  }
}

/// @param code 0: it was done; else what the program says of itself (worker_protocol.hpp)
KEVO_WORKER void kevo_device_end(int code, const char* text) {
  finish(code == 0 ? worker_status::ok : worker_status::refused, code, text);
}

/// Whether another process can open the memory at an address, so that a result may stay there.
KEVO_WORKER int kevo_device_exports(std::uint64_t at) {
  const auto found = memory_at(at);
  return found.block != nullptr && found.block->exports ? 1 : 0;
}

/// Memory that another process can open, for the result of this number. The same one from call to call.
/// @return 0: there is no memory
KEVO_WORKER std::uint64_t kevo_device_ordinary(std::uint32_t number, std::uint64_t bytes) {
  auto& memory = ordinary[std::min<std::size_t>(number, most_buffers - 1)];
  if (memory.bytes >= bytes && memory.begin != 0) return memory.begin;
  if (memory.begin != 0) driver_here->memory_free(memory.begin);
  memory = {};
  bytes = std::max<std::uint64_t>(bytes, least_exported);
  if (driver_here->memory_allocate(&memory.begin, bytes) != success) return 0;
  memory.bytes = bytes;
  return memory.begin;
}

/// Names the place of a result: the address of its first element, its shape, and strides in elements.
/// @return 0 if it can be judged there
KEVO_WORKER int kevo_device_name(std::uint32_t number, std::uint64_t at, std::uint64_t element_bytes,
                                 std::uint32_t rank, const std::int64_t* extents,
                                 const std::int64_t* strides) {
  if (number >= most_buffers || rank > most_rank) return 1;
  auto& claim = results_page().results[number];
  claim.rank = rank;
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < rank; ++i) {
    claim.extents[i] = static_cast<std::uint64_t>(extents[i]);
    claim.strides[i] = strides[i];
    count *= claim.extents[i];
  }
  named_here[number] = count == 0 ? named_memory{} : memory_at(at);
  const auto& [block_number, block] = named_here[number];
  if (count != 0) {
    if (block == nullptr || !block->exports) return 1;
    std::memcpy(claim.handle.data(), block->handle.bytes, sizeof block->handle.bytes);
    claim.block = block_number;
    claim.offset = at - block->begin;
  }
  result_place place;
  return place_of(claim, count, element_bytes, place).empty() ? 0 : 1;
}

/// The work of the call is in the stream: a held one has ended when all of that has.
KEVO_WORKER void kevo_device_mark() {
  if (marked) return;
  marked = true;
  if (shared.page().request.blocked != 0)
    driver_here->stream_write_value(nullptr, context_here.arena + held_end, held_word(next_request), 0);
}

/// All work of a call has been launched, and `results` are named: a held one may begin.
KEVO_WORKER void kevo_device_launched(std::uint32_t results) {
  kevo_device_mark();
  results_page().count = results;
  results_page().request.store(next_request, std::memory_order_release);
  publish(shared.page().armed, next_request);
}

/// Waits on the processor until PyTorch's stream is empty. Answers the request where the device says that the
/// work failed. @return 0, or the driver's code
KEVO_WORKER int kevo_device_drained() {
  const auto code = drained(*driver_here, nullptr);
  if (code != success) finish(worker_status::failed, code, text_of(*driver_here, code));
  return code;
}

/// Before a candidate is executed: caps the memory of the host and restricts system calls, of all threads.
/// Where that fails, the request is answered, and the candidate must not be executed.
/// @param files whether the process has a /tmp of its own, and may write to it
/// @return 0 if it is done
KEVO_WORKER int kevo_device_lock_down(std::uint64_t memory_bytes, int files) {
  try {
    kevo::limit_further_memory(memory_bytes);
    kevo::lock_down_with_driver(files != 0);
    return 0;
  } catch (const std::exception& failure) {
    finish(worker_status::refused, not_the_driver, failure.what());
    return 1;
  }
}
