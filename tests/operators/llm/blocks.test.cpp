#include "operators/llm/blocks.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tests/support/has.hpp"

using namespace kevo;

namespace {

program block_program(const std::string& text, const std::string& language = "python") {
  return single_file_program(language, "kernel.py", text);
}

std::string block_complaint(const std::string& block_parent, const std::string& child) {
  const auto checked = kept_to_blocks(block_program(block_parent), {block_program(child), {}});
  CHECK(checked.made.has_value() == checked.complaint.empty());
  return checked.complaint;
}

const std::string block_parent =
    "import math\n# EVOLVE-BLOCK-START\ndef f(x):\n    return x\n# EVOLVE-BLOCK-END\nprint(f(1))\n";

}  // namespace

TEST_CASE("a program that changes what is between the marks is as it should be") {
  CHECK(has_evolve_blocks(block_program(block_parent)));
  CHECK(block_complaint(block_parent, block_parent).empty());
  CHECK(block_complaint(block_parent,
                        "import math  \r\n# EVOLVE-BLOCK-START\ndef f(x):\n    y = 2\n    return x * y\n"
                        "# EVOLVE-BLOCK-END\nprint(f(1))\n\n")
            .empty());
  CHECK(block_complaint("x = 1\n", "y = 2\n").empty());  // no blocks: all may change
  CHECK_FALSE(has_evolve_blocks(block_program("x = 1\n")));
  CHECK_FALSE(has_evolve_blocks(block_program("# EVOLVE-BLOCK-START\n")));
  const draft none{{}, "nothing was found"};
  CHECK(kept_to_blocks(block_program(block_parent), none).complaint == "nothing was found");
}

TEST_CASE("what changes the rest is refused with the line") {
  const auto changed =
      block_complaint(block_parent, "import math\n# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-END\nprint(f(2))\n");
  CHECK(has(changed, "the parent has `print(f(1))`, yours has `print(f(2))`"));
  CHECK(has(changed, "Only the lines between"));
  CHECK(has(block_complaint(block_parent, "import os\n" + block_parent), "yours has `import os`"));
  CHECK(has(block_complaint(block_parent, block_parent + "print(f(3))\n"), "the parent has no more lines"));
  CHECK(has(block_complaint(block_parent, "def f(x):\n    return 3 * x\n"), "has 0 pairs"));
  CHECK(has(block_complaint(block_parent, "import math\n# EVOLVE-BLOCK-START\nprint(f(1))\n"),
            "do not fit together"));
}

TEST_CASE("the blocks of each file count, and no file comes or goes") {
  program parent = block_program(block_parent);
  parent.files.push_back({"more.py", "y = 1\n# EVOLVE-BLOCK-START\nz = 2\n# EVOLVE-BLOCK-END\n"});
  parent.files.push_back({"fixed.py", "w = 3\n"});
  program made = parent;
  made.files[1].text = "y = 1\n# EVOLVE-BLOCK-START\nz = 4\n# EVOLVE-BLOCK-END\n";
  CHECK(outside_of_blocks(parent, made).empty());
  made.files[2].text = "w = 4\n";
  CHECK(has(outside_of_blocks(parent, made), "the parent has `w = 3`, yours has `w = 4`"));
  made = parent;
  made.files[1].text = "y = 2\n# EVOLVE-BLOCK-START\nz = 2\n# EVOLVE-BLOCK-END\n";
  CHECK(has(outside_of_blocks(parent, made), "yours has `y = 2`"));
  made.files.pop_back();
  CHECK(has(outside_of_blocks(parent, made), "adds, removes or renames a file"));
}

TEST_CASE("the marks stand in comments of many languages") {
  for (const char* comment : {"#", "//", "!", ";", "%", "--", "(*", "/*"}) {
    const std::string open = comment;
    const std::string text = "a\n  " + open + " EVOLVE-BLOCK-START *)\nb\n" + open + " EVOLVE-BLOCK-END\nc\n";
    CHECK_MESSAGE(has_evolve_blocks(block_program(text, "fortran")), open);
  }
  CHECK_FALSE(has_evolve_blocks(block_program("say EVOLVE-BLOCK-START\nsay EVOLVE-BLOCK-END\n")));
}
