#include "fitness/cuda/driver/driver.hpp"

#include <dlfcn.h>

#include <kevo/error.hpp>

namespace kevo::cuda {
namespace {

void* open_library() {
  return ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

loaded_driver load() {
  static driver functions;
  void* library = open_library();
  if (library == nullptr) {
    const char* why = ::dlerror();
    return {
        nullptr,
        std::string("cannot load the CUDA driver: ") + (why == nullptr ? "libcuda.so.1 was not found" : why),
        0};
  }
#define KEVO_CUDA_LOAD(name, symbol, parameters)                                          \
  functions.name = reinterpret_cast<driver_code(*) parameters>(::dlsym(library, symbol)); \
  if (functions.name == nullptr)                                                          \
    return {nullptr, std::string("the CUDA driver is too old: it has no ") + (symbol), 0};
  KEVO_CUDA_FUNCTIONS(KEVO_CUDA_LOAD)
#undef KEVO_CUDA_LOAD
  if (const driver_code code = functions.init(0); code != success)
    return {nullptr, "cannot initialize the CUDA driver: " + text_of(functions, code), 0};
  int version = 0;
  functions.driver_version(&version);
  int count = 0;
  if (functions.device_count(&count) != success || count == 0)
    return {nullptr, "the CUDA driver found no device", version};
  return {&functions, "", version};
}

}  // namespace

void preload_driver() {
  open_library();  // load_driver says what is wrong with it
}

const loaded_driver& load_driver() {
  static const loaded_driver loaded = load();
  return loaded;
}

std::string text_of(const driver& d, driver_code code) {
  const char* name = nullptr;
  const char* text = nullptr;
  d.error_name(code, &name);
  d.error_text(code, &text);
  return std::string(name == nullptr ? "CUDA error " + std::to_string(code) : name) +
         (text == nullptr ? "" : " (" + std::string(text) + ")");
}

std::string text_of(const uuid& id) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : id.bytes) text += {digits[byte >> 4U], digits[byte & 15U]};
  return text;
}

bool find_device(const driver& d, std::string_view id, device_index& device) {
  int count = 0;
  d.device_count(&count);
  for (int i = 0; i < count; ++i) {
    uuid found;
    if (d.device_get(&device, i) == success && d.device_uuid(&found, device) == success &&
        text_of(found) == id)
      return true;
  }
  return false;
}

void check(const driver& d, driver_code code, const char* what) {
  if (code == success) return;
  throw error(error_code::environment,
              std::string("the CUDA driver reported an error while ") + what + ": " + text_of(d, code));
}

bool speaks_of_machine(driver_code code) {
  switch (code) {
    case 3:    // not initialized
    case 46:   // device unavailable
    case 100:  // no device
    case 214:  // ECC
    case 220:  // NVLink
    case 226:  // contained
    case 802:  // system not ready
    case 803:  // driver mismatch
      return true;
    default:
      return false;
  }
}

}  // namespace kevo::cuda
