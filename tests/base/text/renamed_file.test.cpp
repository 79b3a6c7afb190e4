#include "src/base/text/renamed_file.hpp"

#include <doctest/doctest.h>

using kevo::with_renamed_file;

TEST_CASE("a message of a compiler names the file that the user wrote") {
  CHECK(with_renamed_file("kernel.cpp:3:5: error: x\nIn file included from kernel.cpp:1,\n", "kernel.cpp",
                          "a/b.cpp") == "a/b.cpp:3:5: error: x\nIn file included from a/b.cpp:1,\n");
  CHECK(with_renamed_file("kernel.cpp:3: kernel.cpp:x my_kernel.cpp:3 a/kernel.cpp:3 kernel.cpp",
                          "kernel.cpp",
                          "b") == "b:3: kernel.cpp:x my_kernel.cpp:3 a/kernel.cpp:3 kernel.cpp");
  CHECK(with_renamed_file("kernel.cpp: In function 'void f()'", "kernel.cpp", "b") ==
        "b: In function 'void f()'");
  CHECK(with_renamed_file("kernel.cpp:3", "kernel.cpp", "") == "kernel.cpp:3");
  CHECK(with_renamed_file("kernel.cpp:3", "", "b") == "kernel.cpp:3");
  CHECK(with_renamed_file("kernel.cpp:", "kernel.cpp", "b") == "kernel.cpp:");
}
