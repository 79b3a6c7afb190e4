// Where the memory of a worker process lies. Its source is a part of the worker's program alone.
#include "fitness/worker/main/random_addresses.hpp"

#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "fitness/worker/main/random_addresses.cpp"
#include "tests/fitness/support/built_object.hpp"

namespace {

struct mapping {
  std::string permissions;
  long resident_kb = 0;
  long own_kb = 0;  // pages that no other process has
};

std::vector<mapping> mappings_of(const std::string& file) {
  std::ifstream all("/proc/self/smaps");
  std::vector<mapping> found;
  bool is_wanted = false;
  for (std::string line; std::getline(all, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first.find('-') != std::string::npos && first.back() != ':') {
      is_wanted =
          line.size() >= file.size() && line.compare(line.size() - file.size(), file.size(), file) == 0;
      if (is_wanted) words >> found.emplace_back().permissions;
    } else if (is_wanted && first == "Rss:") {
      words >> found.back().resident_kb;
    } else if (is_wanted && first == "Anonymous:") {
      words >> found.back().own_kb;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a process gets pages of its own for the code and constants of an object, which stays as it was") {
  const kevo_test::built_object object(
      "static const volatile int constants[4096] = {1, 2, 3};\n"
      "static int data[4096] = {4, 5, 6};\n"
      "int (*pointer)(int) = nullptr;\n"
      "extern \"C\" int kevo_call(int i) { return data[i]++ + constants[i]; }\n");
  void* const handle = ::dlopen(object.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  const auto call = reinterpret_cast<int (*)(int)>(::dlsym(handle, "kevo_call"));
  REQUIRE((call != nullptr));
  CHECK(call(1) == 7);
  const auto before = mappings_of(object.path());
  REQUIRE(before.size() >= 4);
  kevo::take_own_pages(handle);
  const auto after = mappings_of(object.path());
  REQUIRE(after.size() == before.size());
  long shared_before = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    CAPTURE(i);
    CHECK(after[i].permissions == before[i].permissions);
    CHECK(after[i].own_kb == after[i].resident_kb);
    shared_before += before[i].resident_kb - before[i].own_kb;
  }
  CHECK(shared_before > 0);
  CHECK(call(1) == 8);
  CHECK(call(2) == 9);
  ::dlclose(handle);
}
