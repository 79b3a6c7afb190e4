// What the text of a program in Python says.
#include "fitness/torch/source_facts.hpp"

#include <doctest/doctest.h>

TEST_CASE("kernels are functions that are decorated with triton.jit, and lines are those with code") {
  const auto facts = kevo::torch::facts_of(
      kevo::single_file_program("python", "kernel.py",
                                "# @triton.jit\nimport triton\n\n@triton.jit\ndef one(x):\n    pass\n\n    "
                                "@triton.jit(debug=True)\ntext = '@triton.jit'\n"));
  CHECK(facts.triton_kernels == 2);
  CHECK(facts.cuda_kernels == 0);
  CHECK(facts.lines == 6);
}

TEST_CASE("the names of own kernels are those of functions in Triton and of __global__ functions in C++") {
  const auto facts = kevo::torch::facts_of(
      kevo::single_file_program("python", "kernel.py",
                                "def plain(x):\n    pass\n\n@triton.autotune(configs=[], "
                                "key=['n'])\n@triton.jit\ndef add(x, y):\n    pass\n\n"
                                "@triton.jit\n# of rows\ndef scale (\n    x):\n    pass\n\n"
                                "source = \"\"\"\ntemplate <class T> __global__ void twice(T* x) {}\n"
                                "extern \"C\" __global__ void __launch_bounds__(64, 2)\n    "
                                "three_times(float* x) {}\n__global__\n\"\"\"\n"));
  CHECK(facts.kernels == std::set<std::string>{"add", "scale", "three_times", "twice"});
  CHECK(facts.cuda_kernels == 2);
}

TEST_CASE("a program may run kernels beside each other if its text names what does so") {
  const auto concurrent = [](const char* text) {
    return kevo::torch::facts_of(kevo::single_file_program("python", "kernel.py", text)).concurrent;
  };
  CHECK_FALSE(concurrent("def run(x):\n    return torch.softmax(x, dim=1)\n"));
  for (const char* text : {"s = torch.cuda.Stream()\n", "cudaStreamCreate(&s);\n", "torch.cuda.CUDAGraph()\n",
                           "torch.nn.LSTM(4, 4)\n", "torch.nn.GRUCell(4, 4)\n", "torch.linalg.svd(x)\n",
                           "F.conv_transpose2d(x, w)\n", "nn.ConvTranspose3d(4, 4, 3)\n"})
    CHECK(concurrent(text));
}

TEST_CASE("a program needs what compiles if its text names it or makes an operator of its own") {
  const auto compilers = [](const char* text) {
    return kevo::torch::facts_of(kevo::single_file_program("python", "kernel.py", text)).compilers;
  };
  CHECK_FALSE(compilers("import torch\ndef run(x):\n    return torch.softmax(x, dim=1)\n"));
  for (const char* text : {"import torch._inductor.config\n", "torch._dynamo.config.verbose = True\n",
                           "@torch.library.custom_op('a::b', mutates_args=())\n"})
    CHECK(compilers(text));
}
