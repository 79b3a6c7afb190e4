// What must be in the text of an exploit, so that it does what its file says.

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "tests/attacks/corpus.hpp"

// A word on the stack that looks like an address may be one no more. A program that reads there crashes
// before it cheats, and its test shows nothing.
TEST_CASE("a program that looks for the control page asks the kernel before it reads what it found") {
  std::size_t found = 0;
  for (const auto& e : attacks::all_exhibits()) {
    const auto search = e.text.find("control_page* find_page()");
    if (search == std::string::npos) continue;
    ++found;
    CAPTURE(e.name());
    const auto page = e.text.find("reinterpret_cast<control_page*>(value", search);
    REQUIRE(page != std::string::npos);
    const auto asked = e.text.find("if (!is_memory(value & ~uintptr_t{4095})) continue;", search);
    CHECK(asked < page);
    const auto word = e.text.find("reinterpret_cast<const uintptr_t*>(place)", search);
    REQUIRE(word != std::string::npos);
    CHECK(e.text.find("!is_memory(place)", search) < word);
  }
  if (std::getenv("KEVO_EXHIBITS") == nullptr) CHECK(found >= 23);
}
