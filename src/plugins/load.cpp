#include "src/plugins/load.hpp"

#include <dlfcn.h>
#include <filesystem>

#include <fmt/format.h>

namespace kevo {

void load_plugin(const std::string& path, registry& all, const error_place& place) {
  if (!std::filesystem::exists(path)) {
    throw error(error_code::input, fmt::format("there is no plug-in '{}'", path), place,
                "paths are relative to the config file");
  }
  // A name without a slash would be searched for on the library path.
  const std::string whole = std::filesystem::absolute(path).string();
  void* const object = ::dlopen(whole.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    throw error(error_code::input, fmt::format("the plug-in '{}' does not load: {}", path, ::dlerror()),
                place);
  }
  const auto abi = reinterpret_cast<int (*)()>(::dlsym(object, "kevo_plugin_abi"));
  const auto enter = reinterpret_cast<void (*)(registry&)>(::dlsym(object, "kevo_plugin"));
  if (abi == nullptr || enter == nullptr) {
    throw error(error_code::input, fmt::format("'{}' is not a kevo plug-in: it has no entry point", path),
                place, "write KEVO_PLUGIN(registry) { ... } in it (kevo/registry.hpp)");
  }
  if (abi() != KEVO_PLUGIN_ABI) {
    throw error(error_code::input,
                fmt::format("the plug-in '{}' was built for interface {}, this kevo has {}", path, abi(),
                            KEVO_PLUGIN_ABI),
                place, "build it again with this kevo's headers");
  }
  enter(all);
}

}  // namespace kevo
