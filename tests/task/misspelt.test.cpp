// Comments that were meant to be annotations.
#include "src/task/misspelt.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

std::vector<std::string> found_in(const std::string& text) {
  return kevo::misspelt_annotations(kevo::single_file_program("cpp", "kernel.cpp", text), "seed.cpp");
}

}  // namespace

TEST_CASE("a comment that is nearly an annotation is pointed out with its file and line") {
  for (const std::string line :
       {"#define A 1  // kveo: {1, 2}", "#define A 1  // kevo {1, 2}", "// keov: begin loop",
        "// ovek: {1, 2}", "/// KVEO : require A < 3", "int x;  //kebo:{1, 2}",
        "# kevoo: launch f<<<1, 1>>>(x)", "A = 1  ## kev: {1..4 step 1}"}) {
    CAPTURE(line);
    const auto found = found_in("first\n" + line + "\nlast\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].find("seed.cpp:2: '") == 0);
    CHECK(found[0].find("write 'kevo:'") != std::string::npos);
  }
}

TEST_CASE("annotations and other comments are not pointed out") {
  CHECK(found_in("#define A 1  // kevo: {1, 2}\n// kevo: begin x\n// kevo: end x\n").empty());
  CHECK(
      found_in("// never: begin with the last one\n// note: {1, 2}\n// every: loop\n// the end: see above\n")
          .empty());
  CHECK(found_in("// kevo is a program\n// devo: a band\n// kevo\n// zero: {1}\n").empty());
  CHECK(found_in("// for: each\nconst char* url = \"http://kevo.example\";\n#include <vector>\n#\n//\n")
            .empty());
}
