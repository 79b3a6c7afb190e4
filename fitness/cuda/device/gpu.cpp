#include "fitness/cuda/device/gpu.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <kevo/error.hpp>

#include "fitness/cuda/device/device_nodes.hpp"

namespace kevo::cuda {
namespace {

namespace fs = std::filesystem;

// What the driver brought into this process, under every name it is found by.
std::vector<std::string> mapped_libraries() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto at = line.find('/');
    if (at != std::string::npos && line.find(".so", at) != std::string::npos) files.insert(line.substr(at));
  }
  std::vector<std::string> names;
  for (const fs::path file : files) {
    const std::string stem = file.filename().string().substr(0, file.filename().string().find(".so") + 3);
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(file.parent_path(), code)) {
      if (!entry.path().filename().string().starts_with(stem)) continue;
      if (fs::canonical(entry.path(), code) == file) names.push_back(entry.path().string());
    }
  }
  return names;
}

std::vector<std::string> open_nodes() {
  std::set<std::string> nodes;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", code)) {
    const std::string target = fs::read_symlink(entry.path(), code).string();
    if (target.starts_with("/dev/nvidia")) nodes.insert(target);
  }
  return {nodes.begin(), nodes.end()};
}

}  // namespace

private_memory::private_memory(const driver& d, std::size_t bytes) : driver_(&d), bytes_(bytes) {
  if (bytes > 0) check(d, d.memory_allocate(&place_, bytes), "allocating device memory");
}
private_memory::~private_memory() {
  if (place_ != 0) driver_->memory_free(place_);
}

pinned_memory::pinned_memory(const driver& d, std::size_t bytes) : driver_(&d) {
  check(d, d.host_allocate(&place_, bytes, 0), "allocating pinned host memory");
}
pinned_memory::~pinned_memory() {
  if (place_ != nullptr) driver_->host_free(place_);
}

exported_memory::exported_memory(const driver& d, device_index device, std::size_t bytes) : driver_(&d) {
  allocation_properties properties;
  properties.type = allocation_pinned;
  properties.handle_types = handle_posix_fd;
  properties.where = {location_device, device};
  std::size_t unit = 0;
  check(d, d.granularity(&unit, &properties, 0), "asking for the granularity of device memory");
  bytes_ = (bytes + unit - 1) / unit * unit;
  constexpr driver_code out_of_memory = 2;
  const driver_code created = d.create(&handle_, bytes_, &properties, 0);
  if (created == out_of_memory) {
    throw error(error_code::environment,
                "the device has no room for an arena of " + std::to_string(bytes_ >> 20U) +
                    " MiB, in which a program runs (CUDA_ERROR_OUT_OF_MEMORY)",
                {},
                "lower fitness.limits.workspace (each baseline and the candidate have so much) or "
                "fitness.pool, or end other programs on the device");
  }
  check(d, created, "allocating an arena");
  check(d, d.reserve(&place_, bytes_, 0, 0, 0), "reserving addresses of an arena");
  check(d, d.map(place_, bytes_, 0, handle_, 0), "mapping an arena");
  const access_description access{{location_device, device}, access_read_write};
  check(d, d.set_access(place_, bytes_, &access, 1), "opening an arena");
}
exported_memory::exported_memory(exported_memory&& other) noexcept
    : driver_(other.driver_),
      handle_(std::exchange(other.handle_, 0)),
      place_(std::exchange(other.place_, 0)),
      bytes_(other.bytes_) {}
exported_memory& exported_memory::operator=(exported_memory&& other) noexcept {
  std::swap(driver_, other.driver_), std::swap(handle_, other.handle_), std::swap(place_, other.place_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
exported_memory::~exported_memory() {
  if (place_ != 0) {
    driver_->unmap(place_, bytes_);
    driver_->unreserve(place_, bytes_);
  }
  if (handle_ != 0) driver_->release(handle_);
}
detail::descriptor exported_memory::descriptor() const {
  int fd = -1;
  check(*driver_, driver_->export_handle(&fd, handle_, handle_posix_fd, 0), "exporting an arena");
  return detail::descriptor(fd);
}

gpu::gpu(int ordinal) {
  const auto& loaded = load_driver();
  if (loaded.functions == nullptr)
    throw error(error_code::environment, loaded.missing, {},
                "CUDA candidates need an NVIDIA GPU with its driver");
  driver_ = loaded.functions;
  check(*driver_, driver_->device_get(&device_, ordinal), "finding the device");
  check(*driver_, driver_->primary_retain(&context_, device_), "making a context");
  check(*driver_, driver_->context_set(context_), "entering the context");
  check(*driver_, driver_->stream_create(&stream_, stream_non_blocking), "making a stream");
  multiprocessors_ = facts().multiprocessors;
}

gpu::~gpu() {
  trusted_kernels_ = loaded_module();
}

device_description gpu::facts() const {
  device_description f;
  const auto ask = [&](device_attribute what) {
    int value = 0;
    driver_->device_attribute_of(&value, static_cast<int>(what), device_);
    return value;
  };
  char name[256] = {};
  driver_->device_name(name, sizeof name, device_);
  f.name = name;
  uuid id;
  driver_->device_uuid(&id, device_);
  f.uuid = text_of(id);
  f.driver = load_driver().version;
  int devices = 0;
  driver_->device_count(&devices);
  f.devices = devices;
  f.major = ask(device_attribute::compute_major);
  f.minor = ask(device_attribute::compute_minor);
  f.multiprocessors = ask(device_attribute::multiprocessors);
  f.clock_khz = ask(device_attribute::clock_rate);
  f.memory_clock_khz = ask(device_attribute::memory_clock_rate);
  f.memory_bus_bits = ask(device_attribute::memory_bus_width);
  f.shared_per_block = ask(device_attribute::shared_memory_per_block_optin);
  f.shared_per_multiprocessor = ask(device_attribute::shared_memory_per_multiprocessor);
  f.registers_per_multiprocessor = ask(device_attribute::registers_per_multiprocessor);
  f.threads_per_multiprocessor = ask(device_attribute::threads_per_multiprocessor);
  f.blocks_per_multiprocessor = ask(device_attribute::blocks_per_multiprocessor);
  f.l2_bytes = static_cast<std::uint64_t>(ask(device_attribute::l2_cache_size));
  std::size_t available = 0;
  std::size_t total = 0;
  driver_->memory_info(&available, &total);
  f.memory_bytes = total;
  f.free_bytes = available;
  f.libraries = mapped_libraries();
  char pci_address[32] = {};
  driver_->device_pci_address(pci_address, sizeof pci_address, device_);
  f.nodes = nodes_of_device(open_nodes(), node_number(pci_address));
  return f;
}

void gpu::load_trusted_kernels(const compiled_module& kernels) {
  trusted_kernels_ = loaded_module();
  if (const auto failure = trusted_kernels_.load(*driver_, kernels))
    check(*driver_, failure.code, failure.what.c_str());
  trusted_kernels_image_ = kernels;
  trusted_kernels_bytes_ = encode(kernels);
}

void gpu::launch(const char* kernel, std::uint64_t items, void** arguments) {
  if (items == 0) return;
  launch_configuration how;
  how.block_x = items == 1 ? 1 : 256;
  how.grid_x = static_cast<unsigned>(
      std::min<std::uint64_t>((items + 255) / 256, 16 * static_cast<std::uint64_t>(multiprocessors_)));
  how.stream = stream_;
  check(*driver_,
        driver_->launch(&how, trusted_kernels_.find(trusted_kernels_image_, kernel), arguments, nullptr),
        kernel);
}

void gpu::wait() {
  check(*driver_, driver_->stream_synchronize(stream_), "waiting for the trusted context");
}
void gpu::copy_out(void* target, address source, std::size_t bytes) {
  if (bytes == 0) return;
  check(*driver_, driver_->copy_out(target, source, bytes, stream_), "copying from the device");
  wait();
}
void gpu::copy_in(address target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  check(*driver_, driver_->copy_in(target, source, bytes, stream_), "copying to the device");
  wait();
}
void gpu::copy_on(address target, address source, std::size_t bytes) {
  if (bytes > 0) check(*driver_, driver_->copy_on(target, source, bytes, stream_), "copying on the device");
}
void gpu::clear(address target, std::size_t bytes) {
  if (bytes > 0) check(*driver_, driver_->set_bytes(target, 0, bytes, stream_), "clearing device memory");
}

event gpu::new_event() {
  event made = nullptr;
  check(*driver_, driver_->event_create(&made, event_default), "making an event");
  return made;
}
double gpu::elapsed_ns(event from, event to) {
  check(*driver_, driver_->event_synchronize(to), "waiting for an event");
  float milliseconds = 0;
  check(*driver_, driver_->event_elapsed(&milliseconds, from, to), "reading events");
  return 1e6 * static_cast<double>(milliseconds);
}

}  // namespace kevo::cuda
