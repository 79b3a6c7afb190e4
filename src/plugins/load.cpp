#include "src/plugins/load.hpp"

#include <dlfcn.h>
#include <filesystem>

#include <fmt/format.h>

namespace kevo {

void load_plugin(const std::string& path, registry& all, const error_place& place) {
  if (!std::filesystem::exists(path)) {
    throw error(error_code::input, fmt::format("the plug-in file does not exist: '{}'", path), place,
                "paths in a config are relative to its folder, those of options to the current folder");
  }
  // A name without a slash would be searched for on the library path.
  const std::string whole = std::filesystem::absolute(path).string();
  void* const object = ::dlopen(whole.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    throw error(error_code::input, fmt::format("cannot load the plug-in '{}': {}", path, ::dlerror()), place,
                "build it as a shared library for this machine, with all libraries that it needs");
  }
  const auto abi = reinterpret_cast<std::uint64_t (*)()>(::dlsym(object, "kevo_plugin_abi"));
  const auto enter = reinterpret_cast<void (*)(registry&)>(::dlsym(object, "kevo_plugin"));
  if (abi == nullptr || enter == nullptr) {
    throw error(error_code::input,
                fmt::format("'{}' is not a kevo plug-in: it has no kevo entry point", path), place,
                "define the entry point with KEVO_PLUGIN(registry) { ... } from kevo/registry.hpp");
  }
  if (abi() != plugin_abi()) {
    throw error(
        error_code::input,
        fmt::format(
            "the plug-in '{}' was built for plug-in interface {:012x}, but this kevo has interface {:012x}",
            path, abi(), plugin_abi()),
        place, "rebuild the plug-in with the headers and the compiler of this kevo version");
  }
  enter(all);
}

}  // namespace kevo
