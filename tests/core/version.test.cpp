// links: core
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include <kevo/registry.hpp>
#include <kevo/version.hpp>

namespace {

struct first_order {
  int a;
  float b;
};
struct other_order {
  float b;
  int a;
};
struct one_more {
  int a;
  float b;
  int c;
};

std::uint64_t tag_of(const std::function<void(kevo::detail::abi_hasher&)>& add) {
  kevo::detail::abi_hasher hash;
  add(hash);
  return hash.finish();
}

}  // namespace

TEST_CASE("the version of the headers is the one that CMake gives the package") {
  const std::string key = "CMAKE_PROJECT_VERSION:STATIC=";
  std::ifstream cache(KEVO_BINARY_DIR "/CMakeCache.txt");
  std::string configured;
  for (std::string line; std::getline(cache, line);) {
    if (line.rfind(key, 0) == 0) configured = line.substr(key.size());
  }
  const auto headers = std::to_string(KEVO_VERSION_MAJOR) + "." + std::to_string(KEVO_VERSION_MINOR) + "." +
                       std::to_string(KEVO_VERSION_PATCH);
  CHECK(configured == headers);
}

TEST_CASE("the tag of the plug-in interface changes with what it is made of") {
  const auto whole = tag_of([](auto& hash) { hash.template type<first_order>("pair"); });
  CHECK(whole == tag_of([](auto& hash) { hash.template type<first_order>("pair"); }));
  CHECK(whole != tag_of([](auto& hash) { hash.template type<one_more>("pair"); }));
  CHECK(whole != tag_of([](auto& hash) { hash.template type<first_order>("other"); }));
  const auto place = tag_of([](auto& hash) { hash.add("pair.a").add(offsetof(first_order, a)); });
  CHECK(place != tag_of([](auto& hash) { hash.add("pair.a").add(offsetof(other_order, a)); }));
  // A JSON number holds it exactly.
  static_assert(kevo::plugin_abi() < (std::uint64_t{1} << 48U));
}
