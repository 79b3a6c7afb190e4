// kevo-worker-hosted: runs a hosted program, host code and all, in the sandbox. It shares a region of host
// memory and an arena of device memory with the trusted process and nothing else; what it says is believed by
// nobody. It makes its context first, for a driver starts threads then, and locks itself down before it loads
// a candidate. Usage: kevo-worker-hosted DEVICE ARENA_BYTES MEMORY_BYTES, descriptors 3 and 4; MEMORY_BYTES
// is what a candidate may have of the host's memory besides, or "trusted".

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/hosted/call.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "fitness/cuda/worker/main/held_run.hpp"
#include "fitness/cuda/worker/main/serve_requests.hpp"
#include "fitness/cuda/worker/main/worker_startup.hpp"
#include "fitness/sandbox/limit_memory.hpp"
#include "fitness/sandbox/lock_down.hpp"

namespace {

using namespace kevo::cuda;

class hosted_worker {
 public:
  hosted_worker(const driver& d, const shared_region& shared, std::optional<std::uint64_t> memory_bytes)
      : d_(d), shared_(shared), page_(shared.page()), memory_bytes_(memory_bytes), trusted_(!memory_bytes) {}

  driver_failure start(const char* id, std::size_t arena_bytes) {
    if (auto failure = open_context(d_, id, arena_bytes, context_)) return failure;
    return trusted_ ? held_.open(d_, context_.stream) : driver_failure{};
  }
  [[noreturn]] void serve();

 private:
  driver_failure load();
  driver_failure prepare();
  driver_failure call(const std::uint64_t* offsets, std::size_t count);
  driver_failure step(std::uint64_t number);
  driver_failure run(std::uint64_t number);

  const driver& d_;
  shared_region shared_;
  control_page& page_;
  std::optional<std::uint64_t> memory_bytes_;  // none: a trusted program, without a limit
  bool trusted_;
  worker_context context_;
  hosted_function entry_ = nullptr;  // null: the empty program
  // A trusted program's alone:
  loaded_module trusted_kernels_;
  function nothing_ = nullptr;  // the kernel of the empty program
  held_run held_;
  std::vector<std::vector<std::uint64_t>> places_;  // of the calls of a run
  std::size_t joined_ = 0;                          // how many of them
  bool loaded_ = false;
  std::vector<std::uint32_t> buffers_;  // of each pointer that the entry takes
  std::vector<std::uint64_t> words_;
  std::vector<void*> pointers_;
};

driver_failure hosted_worker::load() {
  if (page_.request.slot == 0) {
    if (!trusted_) return {};
    const auto kernels = decode_module(shared_.payload());
    if (auto failure = trusted_kernels_.load(d_, kernels)) return failure;
    nothing_ = trusted_kernels_.find(kernels, "kevo_nothing");
    held_.hold_with(trusted_kernels_.find(kernels, "kevo_block"));
    return {};
  }
  if (loaded_) return {not_the_driver, "a process takes one program"};
  loaded_ = true;
  const auto object = shared_.payload();
  if (object.empty()) return {};
  // In memory alone: the sandbox has no file that could be written.
  const int file = ::memfd_create("candidate", 0);
  if (file < 0) return {not_the_driver, "a memory file for the object"};
  for (std::size_t at = 0; at < object.size();) {
    const auto wrote = ::write(file, object.data() + at, object.size() - at);
    if (wrote <= 0) return {not_the_driver, "writing the object"};
    at += static_cast<std::size_t>(wrote);
  }
  if (!trusted_) {
    try {
      kevo::limit_further_memory(*memory_bytes_);
      kevo::lock_down_with_driver();  // before loading: constructors of the candidate run there
    } catch (const std::exception& failure) {
      give_up(page_, failure.what());
    }
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* loaded = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    const char* why = ::dlerror();
    return {not_the_driver, std::string("loading the object: ") + (why == nullptr ? "" : why)};
  }
  entry_ = reinterpret_cast<hosted_function>(::dlsym(loaded, hosted_symbol));
  if (entry_ == nullptr) return {not_the_driver, "the object has no entry"};
  ::close(file);
  return {};
}

driver_failure hosted_worker::prepare() {
  const auto p = decode_plan(shared_.payload());
  buffers_.clear();
  words_.clear();
  if (p.steps.size() != 1 || !std::holds_alternative<kernel_launch>(p.steps.front()))
    return {not_the_driver, "a plan that is no hosted call"};
  for (const auto& argument : std::get<kernel_launch>(p.steps.front()).arguments) {
    if (const auto* buffer = std::get_if<buffer_argument>(&argument)) {
      buffers_.push_back(buffer->buffer);
    } else if (const auto* scalar = std::get_if<scalar_argument>(&argument)) {
      std::uint64_t word = 0;
      std::memcpy(&word, scalar->bytes.data(), sizeof word);
      words_.push_back(word);
    }
  }
  pointers_.resize(buffers_.size());
  const auto& request = page_.request;
  if (trusted_ && request.slot < most_slots) {
    if (places_.size() <= request.slot) places_.resize(request.slot + 1);
    places_[request.slot].assign(
        request.offsets.begin(),
        request.offsets.begin() + std::min<std::size_t>(request.buffers, most_buffers));
  }
  return {};
}

// Host code alone: what it puts on the stream is not waited for.
driver_failure hosted_worker::call(const std::uint64_t* offsets, std::size_t count) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i] >= count) return {not_the_driver, "a call of too few buffers"};
    pointers_[i] = reinterpret_cast<void*>(context_.arena + offsets[buffers_[i]]);
  }
  const int code = entry_(pointers_.data(), words_.data(), context_.stream);
  d_.context_set(context_.current);                   // whatever the program has made current
  if (code == static_cast<int>(error_out_of_memory))  // as in the runtime: cudaErrorMemoryAllocation
    return {no_device_memory, "the function run returned 2, which means that there is no memory"};
  if (code != 0) return {not_the_driver, "the function run returned " + std::to_string(code)};
  return {};
}

// A trusted program's calls, behind the kernel that holds them back: its events are believed.
driver_failure hosted_worker::run(std::uint64_t number) {
  if (!trusted_ || entry_ == nullptr || joined_ == 0 || joined_ > places_.size())
    return {not_the_driver, "a run of no calls"};
  d_.reset_persisting_l2();
  return held_(page_, number, [this] {
    driver_failure failure;
    for (std::size_t k = 0; k < joined_ && !failure; ++k)
      failure = call(places_[k].data(), places_[k].size());
    return failure;
  });
}

driver_failure hosted_worker::step(std::uint64_t number) {
  const auto& request = page_.request;
  if (!loaded_) return {not_the_driver, "no program is loaded"};
  if (entry_ == nullptr) {
    const bool held = request.blocked != 0;
    if (held) {
      if (const auto code =
              d_.stream_wait_value(context_.stream, context_.arena, held_word(number), wait_equal))
        return {code, "holding a call"};
    }
    launch_configuration how;
    how.stream = context_.stream;
    if (const auto code = d_.launch(&how, nothing_, nullptr, nullptr)) return {code, "launching nothing"};
    if (held) {
      d_.stream_write_value(context_.stream, context_.arena + held_end, held_word(number), 0);
      publish(page_.armed, number);
    }
    return {drained(d_, context_.stream), ""};
  }
  if (request.step == step_kind::idle) return {drained(d_, context_.stream), ""};
  auto failure = call(request.offsets.data(), std::min<std::size_t>(request.buffers, most_buffers));
  if (const auto failed = drained(d_, context_.stream)) return {failed, ""};
  return failure;
}

[[noreturn]] void hosted_worker::serve() {
  kevo::cuda::serve(d_, page_, [this](worker_request kind, std::uint64_t number) -> request_end {
    switch (kind) {
      case worker_request::load:
        return {load()};
      case worker_request::prepare:
        return {prepare()};
      case worker_request::step:
        return {step(number), true};
      case worker_request::join:
        joined_ = page_.request.count;
        return {};
      case worker_request::run: {
        request_end end{run(number), true};
        publish(page_.armed, number);  // also where it failed before
        return end;
      }
      case worker_request::touch:
        return {{not_the_driver, "only programs in Python are asked for that"}};
      case worker_request::drop:
      case worker_request::none:
        return {};
    }
    return {};
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs(
        "usage: kevo-worker-hosted DEVICE ARENA_BYTES MEMORY_BYTES|trusted (internal; started by kevo)\n",
        stderr);
    return 2;
  }
  const auto shared = map_shared_region("kevo-worker-hosted");
  if (shared.data == nullptr) return 2;
  std::optional<std::uint64_t> memory_bytes;
  if (std::strcmp(argv[3], "trusted") != 0) memory_bytes = std::strtoull(argv[3], nullptr, 10);
  rest_until_begin(shared.page());
  const auto& d = require_driver(shared.page(), memory_bytes ? "EAGER" : "LAZY");
  hosted_worker process(d, shared, memory_bytes);
  say_ready(d, shared.page(), process.start(argv[1], std::strtoull(argv[2], nullptr, 10)));
  process.serve();
}
