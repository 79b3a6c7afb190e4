// What the text of a program in Python says.
#include "fitness/torch/source_facts.hpp"

#include <doctest/doctest.h>

TEST_CASE("kernels are functions that are decorated with triton.jit, and lines are those with code") {
  const auto facts = kevo::torch::facts_of(
      kevo::single_file_program("python", "kernel.py",
                                "# @triton.jit\nimport triton\n\n@triton.jit\ndef one(x):\n    pass\n\n    "
                                "@triton.jit(debug=True)\ntext = '@triton.jit'\n"));
  CHECK(facts.triton_kernels == 2);
  CHECK(facts.lines == 6);
}
