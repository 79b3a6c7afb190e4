// The functions of libcuda.so.1 that kevo loads (fitness/cuda/driver/driver.hpp), on the simulated device.
// Each has kevo's name here and the driver's as its symbol.

#include "fitness/cuda/driver/driver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/fake_cuda/device.hpp"
#include "tests/support/fake_cuda/image.hpp"

namespace fake_cuda {

using namespace kevo::cuda;

#define EXPORT(name, symbol, parameters) \
  __attribute__((visibility("default"))) driver_code name parameters __asm__(symbol);
KEVO_CUDA_FUNCTIONS(EXPORT)
#undef EXPORT

namespace {

constexpr int fake_driver_version = 13000;
constexpr std::size_t page_bytes = std::size_t{2} << 20U;  // the granularity of device memory
constexpr int resident_blocks = 8;
constexpr std::size_t least_only_time = std::size_t{1} << 20U;

template <class T, class Handle>
T& state_of(Handle handle) {
  return *reinterpret_cast<T*>(handle);
}
template <class Handle, class T>
Handle handle_of(T* state) {
  return reinterpret_cast<Handle>(state);
}

struct physical_memory {
  int descriptor = -1;
  std::size_t bytes = 0;
  device_page* page = nullptr;
};

physical_memory* adopt(int descriptor, std::size_t bytes) {
  void* page = ::mmap(nullptr, device_page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                      static_cast<off_t>(bytes));
  if (page == MAP_FAILED) return nullptr;
  return new physical_memory{descriptor, bytes, static_cast<device_page*>(page)};
}

driver_code take_memory(std::size_t bytes) {
  auto& d = device();
  if (d.used_bytes + bytes > d.memory_bytes) return error_out_of_memory;
  d.used_bytes += bytes;
  return success;
}

work_item copy_item(address target, address source, std::size_t bytes) {
  work_item item;
  item.what = work_item::kind::copy;
  item.target = target;
  item.source = source;
  item.bytes = bytes;
  return item;
}

}  // namespace

#define ENTER \
  if (const driver_code sticking = enter(); sticking != success) return sticking
#define ENTER_TO_COPY \
  if (const driver_code sticking = enter(true); sticking != success) return sticking

driver_code init(unsigned) {
  return success;
}
driver_code driver_version(int* version) {
  *version = fake_driver_version;
  return success;
}
driver_code error_name(driver_code code, const char** text) {
  *text = code == error_illegal_address           ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == error_launch_failed           ? "CUDA_ERROR_LAUNCH_FAILED"
          : code == error_out_of_memory           ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == unknown_error                 ? "CUDA_ERROR_UNKNOWN"
          : code == no_device                     ? "CUDA_ERROR_NO_DEVICE"
          : code == not_found                     ? "CUDA_ERROR_NOT_FOUND"
          : code == error_launch_out_of_resources ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                                                  : "CUDA_ERROR";
  return success;
}
driver_code error_text(driver_code, const char** text) {
  *text = "of the test double";
  return success;
}
driver_code device_count(int* count) {
  *count = folder().lost() ? 0 : device().devices;
  return success;
}
driver_code device_get(device_index* index, int ordinal) {
  *index = 0;
  return ordinal == 0 ? success : no_device;
}
driver_code device_name(char* name, int length, device_index) {
  std::snprintf(name, static_cast<std::size_t>(length), "test double");
  return success;
}
driver_code device_uuid(uuid* id, device_index) {
  std::memcpy(id->bytes, folder().id.data(), sizeof id->bytes);
  return success;
}
driver_code device_pci_address(char* text, int length, device_index) {
  std::snprintf(text, static_cast<std::size_t>(length), "FFFF:FF:1F.0");  // where no device is
  return success;
}
driver_code device_memory(std::size_t* bytes, device_index) {
  *bytes = device().memory_bytes;
  return success;
}
driver_code device_attribute_of(int* value, int attribute, device_index) {
  switch (static_cast<device_attribute>(attribute)) {
    case device_attribute::max_threads_per_block:
      *value = 1024;
      break;
    case device_attribute::max_shared_memory_per_block:
      *value = 48 << 10;
      break;
    case device_attribute::clock_rate:
      *value = 1'980'000;
      break;
    case device_attribute::multiprocessors:
      *value = 132;
      break;
    case device_attribute::memory_clock_rate:
      *value = 3'201'000;
      break;
    case device_attribute::memory_bus_width:
      *value = 6144;
      break;
    case device_attribute::l2_cache_size:
      *value = 50 << 20;
      break;
    case device_attribute::threads_per_multiprocessor:
      *value = 2048;
      break;
    case device_attribute::compute_major:
      *value = 9;
      break;
    case device_attribute::compute_minor:
      *value = 0;
      break;
    case device_attribute::shared_memory_per_multiprocessor:
      *value = 228 << 10;
      break;
    case device_attribute::registers_per_multiprocessor:
      *value = 65536;
      break;
    case device_attribute::shared_memory_per_block_optin:
      *value = 227 << 10;
      break;
    case device_attribute::blocks_per_multiprocessor:
      *value = 32;
      break;
    case device_attribute::persisting_l2_max:
      *value = 0;
      break;
  }
  return success;
}
driver_code primary_retain(context* result, device_index) {
  static int one = 0;
  *result = handle_of<context>(&one);
  return success;
}
driver_code primary_release(device_index) {
  return success;
}
driver_code context_set(context) {
  return success;
}
driver_code context_synchronize() {
  ENTER;
  return success;
}
driver_code context_set_limit(int, std::size_t) {
  return success;
}
driver_code reset_persisting_l2() {
  ENTER;
  return success;
}

driver_code memory_info(std::size_t* available, std::size_t* total) {
  ENTER;
  *total = device().memory_bytes;
  *available = device().memory_bytes - device().used_bytes;
  return success;
}
driver_code memory_allocate(address* result, std::size_t bytes) {
  ENTER;
  if (const auto code = take_memory(bytes)) return code;
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return error_out_of_memory;
  *result = reinterpret_cast<address>(memory);
  device().allocations[*result] = bytes;
  return success;
}
driver_code memory_free(address memory) {
  auto& d = device();
  const auto found = d.allocations.find(memory);
  if (found == d.allocations.end()) return error_invalid_value;
  ::munmap(reinterpret_cast<void*>(memory), found->second);
  d.used_bytes -= found->second;
  d.allocations.erase(found);
  return success;
}
driver_code host_allocate(void** result, std::size_t bytes, unsigned) {
  ENTER;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return error_out_of_memory;
  *result = memory;
  return success;
}
driver_code host_free(void*) {
  return success;
}
driver_code host_device_pointer(address* result, void* host, unsigned) {
  *result = reinterpret_cast<address>(host);
  return success;
}

driver_code granularity(std::size_t* bytes, const allocation_properties*, int) {
  *bytes = page_bytes;
  return success;
}
driver_code create(allocation* result, std::size_t bytes, const allocation_properties* properties,
                   unsigned long long) {
  ENTER;
  if (properties->handle_types != handle_posix_fd || bytes % page_bytes != 0) return error_invalid_value;
  if (const auto code = take_memory(bytes)) return code;
  const int descriptor = ::memfd_create("fake-device-memory", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes + device_page_bytes)) != 0)
    return error_out_of_memory;
  auto* made = adopt(descriptor, bytes);
  if (made == nullptr) return error_out_of_memory;
  auto& d = device();
  d.owns_memory = true;
  made->page->minimum_ns = d.minimum_ns;
  made->page->launch_ms = d.launch_ms;
  d.pages.push_back(made->page);
  watch(made->page);
  *result = reinterpret_cast<allocation>(made);
  return success;
}
driver_code release(allocation memory) {
  auto* state = reinterpret_cast<physical_memory*>(memory);
  auto& d = device();
  forget(state->page);
  d.pages.erase(std::remove(d.pages.begin(), d.pages.end(), state->page), d.pages.end());
  d.used_bytes -= state->bytes;
  ::munmap(state->page, device_page_bytes);
  ::close(state->descriptor);
  delete state;
  return success;
}
driver_code reserve(address* result, std::size_t bytes, std::size_t, address, unsigned long long) {
  ENTER;
  void* place = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return error_out_of_memory;
  *result = reinterpret_cast<address>(place);
  return success;
}
driver_code unreserve(address place, std::size_t bytes) {
  ::munmap(reinterpret_cast<void*>(place), bytes);
  return success;
}
driver_code map(address place, std::size_t bytes, std::size_t offset, allocation memory, unsigned long long) {
  ENTER;
  const auto* state = reinterpret_cast<const physical_memory*>(memory);
  if (offset + bytes > state->bytes) return error_invalid_value;
  void* there = ::mmap(reinterpret_cast<void*>(place), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       state->descriptor, static_cast<off_t>(offset));
  if (there == MAP_FAILED) return error_invalid_value;
  if (device().owns_memory) {
    device().arenas[place] = state->page;
    device().allocations[place] = bytes;
  }
  return success;
}
driver_code unmap(address place, std::size_t bytes) {
  device().arenas.erase(place);
  device().allocations.erase(place);
  ::mmap(reinterpret_cast<void*>(place), bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return success;
}
driver_code set_access(address, std::size_t, const access_description*, std::size_t) {
  ENTER;
  return success;
}
driver_code export_handle(void* handle, allocation memory, int type, unsigned long long) {
  ENTER;
  if (type != handle_posix_fd) return error_invalid_value;
  const int copy = ::dup(reinterpret_cast<const physical_memory*>(memory)->descriptor);
  std::memcpy(handle, &copy, sizeof copy);
  return copy < 0 ? error_invalid_value : success;
}
driver_code import_handle(allocation* result, void* handle, int type) {
  ENTER;
  const int descriptor = ::dup(static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)));
  struct stat about = {};
  if (type != handle_posix_fd || ::fstat(descriptor, &about) != 0) return error_invalid_value;
  auto* made = adopt(descriptor, static_cast<std::size_t>(about.st_size) - device_page_bytes);
  if (made == nullptr) return error_invalid_value;
  device().page = made->page;
  if (std::string_view(program_invocation_short_name) == "kevo-worker-hosted") await_outstanding(made->page);
  if (made->page->lost != 0) return device().sticky = unknown_error;
  *result = reinterpret_cast<allocation>(made);
  return success;
}

driver_code copy_in(address target, const void* source, std::size_t bytes, stream on) {
  ENTER_TO_COPY;
  return submit(state_of<stream_state>(on), copy_item(target, reinterpret_cast<address>(source), bytes));
}
driver_code copy_out(void* target, address source, std::size_t bytes, stream on) {
  ENTER_TO_COPY;
  note_copy(0, bytes);
  return submit(state_of<stream_state>(on), copy_item(reinterpret_cast<address>(target), source, bytes));
}
driver_code copy_on(address target, address source, std::size_t bytes, stream on) {
  ENTER_TO_COPY;
  auto item = copy_item(target, source, bytes);
  fence_by_copy(source);
  // What is copied within kevo-device only empties a cache or measures the bandwidth.
  item.only_time = !note_copy(target, bytes) && bytes >= least_only_time;
  return submit(state_of<stream_state>(on), std::move(item));
}
// Of programs in Python alone, which the double cannot run.
driver_code copy_rows(const copy_of_rows*, stream) {
  return error_invalid_value;
}
driver_code range_of(address*, std::size_t*, address) {
  return error_invalid_value;
}
driver_code pointer_attribute(void*, int, address) {
  return error_invalid_value;
}
driver_code ipc_export(ipc_handle*, address) {
  return error_invalid_value;
}
driver_code ipc_open(address*, ipc_handle, unsigned) {
  return error_invalid_value;
}
driver_code ipc_close(address) {
  return error_invalid_value;
}
driver_code set_bytes(address target, unsigned char value, std::size_t count, stream on) {
  ENTER;
  auto item = copy_item(target, 0, count);
  item.what = work_item::kind::fill;
  item.value = value;
  return submit(state_of<stream_state>(on), std::move(item));
}
driver_code set_words(address, unsigned, std::size_t, stream) {
  return error_invalid_value;  // kevo does not use it yet
}

driver_code stream_wait_value(stream, address, std::uint32_t, unsigned) {
  return error_invalid_value;  // of programs in Python alone, which the double cannot run
}
driver_code stream_write_value(stream, address, std::uint32_t, unsigned) {
  return error_invalid_value;
}

driver_code stream_create(stream* result, unsigned) {
  ENTER;
  *result = handle_of<stream>(new stream_state);
  return success;
}
driver_code stream_synchronize(stream on) {
  ENTER_TO_COPY;
  for (;;) {
    const auto code = advance(state_of<stream_state>(on));
    if (code != error_not_ready) return code;
    ::usleep(200);
  }
}
driver_code stream_query(stream on) {
  note_outstanding();
  return advance(state_of<stream_state>(on));
}

driver_code event_create(event* result, unsigned) {
  ENTER;
  *result = handle_of<event>(new event_state);
  return success;
}
namespace {
// Of this process, for an event knows no stream.
stream_state* last_recorded_on = nullptr;
}  // namespace
driver_code event_record(event one, stream on) {
  ENTER;
  auto& stream = state_of<stream_state>(on);
  auto& state = state_of<event_state>(one);
  state.recorded = false;
  last_recorded_on = &stream;
  state.on = &stream;
  work_item item;
  item.what = work_item::kind::record;
  item.event = &state;
  return submit(stream, std::move(item));
}
driver_code event_record_with(event one, stream on, unsigned) {
  return event_record(one, on);
}
driver_code stream_wait(stream, event, unsigned) {
  ENTER;
  return success;  // one stream after the other: what was recorded has been carried out
}
driver_code event_query(event one) {
  const auto code = last_recorded_on == nullptr ? success : advance(*last_recorded_on);
  if (code != success && code != error_not_ready) return code;
  return state_of<event_state>(one).recorded ? success : error_not_ready;
}
driver_code event_synchronize(event one) {
  for (;;) {
    const auto code = event_query(one);
    if (code != error_not_ready) return code;
    ::usleep(200);
  }
}
driver_code event_elapsed(float* milliseconds, event from, event to) {
  auto& d = device();
  if (d.sticky != success) return d.sticky;
  const double ns = state_of<event_state>(to).at_ns - state_of<event_state>(from).at_ns;
  *milliseconds =
      static_cast<float>(1e-6 * ns * (d.forges && (!d.forges_at_times || ++d.forged % 5 < 2) ? 0.1 : 1));
  return success;
}

driver_code module_load(module_handle* result, const void* image, unsigned, int*, void**) {
  ENTER;
  const auto source = source_of(image);
  if (source.empty()) return error_invalid_value;
  auto* made = new module_state;
  made->how = behaviour_of(source);
  made->variables = variables_of(source);
  made->globals.resize(section_bytes(made->variables));
  device().forges = made->how.forge_events || made->how.forge_events_at_times;
  device().forges_at_times = made->how.forge_events_at_times;
  *result = handle_of<module_handle>(made);
  return success;
}
driver_code module_unload(module_handle one) {
  delete &state_of<module_state>(one);
  return success;
}
driver_code module_function(function* result, module_handle one, const char* name) {
  ENTER;
  auto& module = state_of<module_state>(one);
  const auto* toy = find_toy_kernel(name);
  const auto* work = toy != nullptr ? toy : find_trusted_kernel(name);
  if (work == nullptr) return not_found;
  const std::string_view which(name);
  module.kernels.push_back({work, &module, toy != nullptr, which == "kevo_block" || which == "kevo_barrier",
                            which == "kevo_clock"});
  *result = handle_of<function>(&module.kernels.back());
  return success;
}
driver_code module_global(address* result, std::size_t* bytes, module_handle one, const char* name) {
  ENTER;
  auto& module = state_of<module_state>(one);
  for (const auto& variable : module.variables) {
    if (variable.name != name) continue;
    *result = reinterpret_cast<address>(module.globals.data()) + variable.offset;
    *bytes = variable.bytes;
    return success;
  }
  return not_found;
}
driver_code function_get(int* value, int attribute, function) {
  *value = attribute == static_cast<int>(function_attribute::registers)               ? 32
           : attribute == static_cast<int>(function_attribute::max_threads_per_block) ? 1024
                                                                                      : 0;
  return success;
}
driver_code function_set(function, int, int) {
  ENTER;
  return success;
}
driver_code function_parameter(function, std::size_t, std::size_t*, std::size_t*) {
  return error_invalid_value;  // kevo reads the image
}
driver_code occupancy(int* blocks, function, int, std::size_t) {
  *blocks = resident_blocks;
  return success;
}
driver_code launch(const launch_configuration* how, function one, void** parameters, void**) {
  ENTER;
  auto& kernel = state_of<kernel_state>(one);
  if (kernel.home->how.refused) return error_launch_out_of_resources;
  work_item item;
  item.kernel = &kernel;
  item.parameters = kernel.work->save(parameters);
  item.shape = {std::uint64_t{how->grid_x} * how->grid_y * how->grid_z,
                std::uint64_t{how->block_x} * how->block_y * how->block_z};
  return submit(state_of<stream_state>(how->stream), std::move(item));
}

driver_code capture_begin(stream on, int) {
  ENTER;
  state_of<stream_state>(on).captures_to = new graph_state;
  return success;
}
driver_code capture_end(stream on, graph* result) {
  auto& state = state_of<stream_state>(on);
  *result = handle_of<graph>(state.captures_to);
  state.captures_to = nullptr;
  return success;
}
driver_code graph_instantiate(graph_exec* result, graph one, unsigned long long) {
  ENTER;
  *result = handle_of<graph_exec>(new graph_state(state_of<graph_state>(one)));
  return success;
}
driver_code graph_upload(graph_exec, stream) {
  ENTER;
  return success;
}
driver_code graph_launch(graph_exec one, stream on) {
  ENTER;
  for (const auto& item : state_of<graph_state>(one).items) {
    if (const auto code = submit(state_of<stream_state>(on), item)) return code;
  }
  return success;
}
driver_code graph_exec_destroy(graph_exec one) {
  delete &state_of<graph_state>(one);
  return success;
}
driver_code graph_destroy(graph one) {
  delete &state_of<graph_state>(one);
  return success;
}
driver_code encode_tiled(tensor_map_bytes*, int, std::uint32_t, void*, const std::uint64_t*,
                         const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int, int, int,
                         int) {
  return error_invalid_value;  // tensor maps need a real device
}

}  // namespace fake_cuda

// What the runtime of hosted programs (toolkit/include/cuda_runtime.h) needs besides.
extern "C" {
__attribute__((visibility("default"))) void fake_enqueue(fake_cuda::stream_state* on, void (*work)(void*),
                                                         void* data, double ns) {
  fake_cuda::work_item item;
  item.what = fake_cuda::work_item::kind::host;
  item.host = [work, data] { work(data); };
  item.ns = ns;
  fake_cuda::submit(*on, std::move(item));
}
__attribute__((visibility("default"))) fake_cuda::stream_state* fake_stream() {
  auto* made = new fake_cuda::stream_state;
  made->lazy = true;
  fake_cuda::device().lazy.push_back(made);
  return made;
}
__attribute__((visibility("default"))) void fake_finish(fake_cuda::stream_state* on) {
  fake_cuda::advance(*on);
}
__attribute__((visibility("default"))) void fake_finish_all() {
  for (auto* stream : fake_cuda::device().lazy) fake_cuda::advance(*stream);
}
__attribute__((visibility("default"))) void fake_finish_event(fake_cuda::event_state* one) {
  if (one->on != nullptr) fake_cuda::advance(*one->on);
}
}

// The clock that kevo-device measures with, where this library was loaded before the C library.
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t which, timespec* now) noexcept {
  if (which != CLOCK_MONOTONIC) {
    return static_cast<int>(::syscall(SYS_clock_gettime, which, now));
  }
  const auto ns = fake_cuda::shown_ns();
  now->tv_sec = ns / 1'000'000'000;
  now->tv_nsec = ns % 1'000'000'000;
  return 0;
}
