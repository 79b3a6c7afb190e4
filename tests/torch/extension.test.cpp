// labels: slow
// timeout: 300
// Extensions of several files, and what of PyTorch's headers they are compiled with.
#include <string>

#include "tests/support/has_pytorch.hpp"
#include "tests/support/shell.hpp"
#include "tests/torch/corpus.hpp"

namespace {

using torch_corpus::said;

const std::string loads = R"py(
import os
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load

here = os.path.dirname(os.path.abspath(__file__))
extension = load(name="clipped", sources=[os.path.join(here, "ops/bind.cpp"), "ops/clip.cpp"], extra_include_paths=["shared"],
                 extra_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return extension.add_and_clip(torch.mm(x, self.linear.weight.t()), self.linear.bias)
)py";

// Two sources, a header beside them and one in another folder.
kevo::program of_several_files(const std::string& header) {
  return {
      "python",
      {{"kernel.py", loads},
       {"ops/bind.cpp",
        "#include <torch/extension.h>\n#include \"clip.h\"\n"
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"add_and_clip\", &add_and_clip, \"\"); }\n"},
       {"ops/clip.h", header},
       {"ops/clip.cpp",
        "#include \"clip.h\"\n#include \"larger.h\"\n"
        "torch::Tensor add_and_clip(torch::Tensor x, torch::Tensor bias) {\n"
        "  auto y = torch::empty_like(x);\n"
        "  for (int64_t i = 0; i < x.numel(); ++i)\n"
        "    y.data_ptr<float>()[i] = larger(x.data_ptr<float>()[i] + bias.data_ptr<float>()[i % x.size(1)], "
        "0.0f);\n"
        "  return y;\n}\n"},
       {"shared/larger.h", "inline float larger(float a, float b) { return a > b ? a : b; }\n"}}};
}

kevo::evaluation checked(kevo::torch_fitness& fitness, kevo::program source) {
  return fitness.evaluate({.program = std::make_shared<const kevo::program>(std::move(source)),
                           .wanted = kevo::evaluation_stage::checked,
                           .fresh = true});
}

}  // namespace

TEST_CASE("load builds several sources of a program, which find headers beside them and in named folders") {
  auto settings = torch_corpus::quick_settings();
  settings.limits.load_s = 120;  // two units, beside whatever else this machine does
  auto fitness = torch_corpus::fitness_for("layer", settings);
  if (!fitness) return;
  const std::string header =
      "#pragma once\n#include <torch/extension.h>\ntorch::Tensor add_and_clip(torch::Tensor, "
      "torch::Tensor);\n";
  const auto whole = checked(*fitness, of_several_files(header));
  CHECK_MESSAGE(whole.valid(), said(whole));
  auto lacking = of_several_files(header);
  lacking.files.pop_back();
  const auto without = checked(*fitness, lacking);
  CHECK(without.outcome != kevo::outcome::valid);
  CHECK_MESSAGE(said(without).find("larger.h") != std::string::npos, said(without));
}

TEST_CASE("what tvm_ffi.cpp.load_inline builds takes PyTorch's tensors") {
  auto settings = torch_corpus::quick_settings();
  settings.limits.load_s = 120;
  auto fitness = torch_corpus::fitness_for("layer", settings);
  if (!fitness) return;
  const std::string text = R"py(
import torch
import torch.nn as nn
import tvm_ffi.cpp

extension = tvm_ffi.cpp.load_inline(name="clipped", functions="clip", cpp_sources="""
void clip(tvm::ffi::TensorView y, tvm::ffi::TensorView bias) {
  float* at = static_cast<float*>(y.data_ptr());
  for (int64_t i = 0; i < y.numel(); ++i) {
    const float sum = at[i] + static_cast<float*>(bias.data_ptr())[i % y.size(1)];
    at[i] = sum > 0 ? sum : LOW;
  }
}
""", extra_cflags=["-DLOW=0.0f"])


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        y = torch.mm(x, self.linear.weight.t())
        extension.clip(y, self.linear.bias)
        return y
)py";
  const auto whole = checked(*fitness, kevo::program_of("python", text));
  if (said(whole).find("apache-tvm-ffi") != std::string::npos) {
    kevo_test::skip("the Python package apache-tvm-ffi is not beside PyTorch");
    return;
  }
  CHECK_MESSAGE(whole.valid(), said(whole));
  auto wrong = text;
  wrong.replace(wrong.find("LOW=0.0f"), 8, "LOW=1.0f");
  CHECK(checked(*fitness, kevo::program_of("python", wrong)).outcome == kevo::outcome::incorrect);
}

// The filter itself, on headers in PyTorch's form: what is left is what the sources name, or what that needs.
TEST_CASE(
    "sources are compiled with the methods of tensors that they name, and with complex numbers where they "
    "name them") {
  const shell::scratch folder;
  const auto write = [&](const std::string& path, const std::string& text) {
    shell::write_file(folder / ("include/ATen/" + path), text);
  };
  const auto method = [](const std::string& schema, const std::string& name) {
    return "// aten::" + schema + "(Tensor self) -> Tensor\ninline at::Tensor Tensor::" + name +
           "() const {\n    return at::_ops::" + schema + "::call(*this);\n}\n\n";
  };
  write("core/TensorBody.h",
        "class Tensor {\n  Tensor cpu() const {\n    return to(0);\n  }\n  at::Tensor to(int) const;\n"
        "  at::Tensor tan() const;\n  at::Tensor & relu_() const;\n  at::Tensor named(int) const;\n};\n\n" +
            method("to", "to") + method("tan", "tan") + method("relu_", "relu_"));
  write("core/Tensor.h", "#include <ATen/core/TensorBody.h>\n");
  write("TensorOperators.h", "\n");
  write("MethodOperators.h",
        "#include <ATen/ops/relu_ops.h>\n#include <ATen/ops/tan_ops.h>\n#include <ATen/ops/to_ops.h>\n");
  shell::write_file(
      folder / "ask.py",
      "import sys\nsys.path.insert(0, '" KEVO_SOURCE_DIR
      "/fitness/torch')\n"
      "from kevo_torch_build import fewer_headers\n"
      "for text in ('x.relu_();', 'x.tan(); c10::complex<float> z;'):\n"
      "    made = fewer_headers('" +
          folder.string() +
          "', [text])\n"
          "    body = made['ATen/core/TensorBody.h']\n"
          "    methods = made['ATen/MethodOperators.h']\n"
          "    print(*('Tensor::' + one in body for one in ('to(', 'tan(', 'relu_(')),\n"
          "          *(' ' + one in body for one in ('to(int)', 'tan()', 'relu_()', 'named(int)')),\n"
          "          *(one + '_ops' in methods for one in ('to', 'tan', 'relu')), 'thrust/complex.h' in "
          "made)\n");
  const auto got = shell::run({"/usr/bin/env", "python3", (folder / "ask.py").string()});
  CHECK_MESSAGE(got.out ==
                    "True False True True False True True True False True True\n"
                    "True True False True True False True True True False False\n",
                got.out, got.err);
}

// Compiling again with all of PyTorch's headers takes several times as long, and helps only where they have
// what is missing.
TEST_CASE("a name that no header of PyTorch has is no reason to compile again") {
  if (!kevo_test::has_pytorch()) return;
  const shell::scratch folder;
  const auto tools = kevo::torch::find_torch({}, false);
  shell::write_file(
      folder / "ask.py",
      "import sys\nsys.path.insert(0, '" KEVO_SOURCE_DIR
      "/fitness/torch')\n"
      "from kevo_torch_build import extension_builder, missing_names\n"
      "folder, packages = sys.argv[1:]\n"
      "def say(*lines):\n"
      "    names = missing_names('\\n'.join(lines).encode())\n"
      "    print('other' if names is None else ' '.join(sorted(names)) or 'nothing')\n"
      "say('k.cpp:3:9: error: \u2018clip_all\u2019 was not declared in this scope', 'note: declared here')\n"
      "say('k.cu(9): error: identifier \"rows_of\" is undefined', "
      "'k.cu(12): error: class \"at::Tensor\" has no member \"relu7\"')\n"
      "say('k.cpp:3: error: \u2018nn\u2019 is not a member of \u2018torch\u2019', 'k.cpp:4: error: expected "
      "a type')\n"
      "say('k.cpp:3: error: invalid conversion from \u2018int\u2019')\n"
      "builder = extension_builder(packages, '', 'none', '90')\n"
      "for name in ('clip_all_of_nobody', 'Linear', 'iota'):\n"
      "    print(builder.knows_any({name}, folder, 1e9, lambda: True))\n");
  const auto got =
      shell::run({tools.python, "-I", "-B", (folder / "ask.py").string(), folder.string(), tools.packages});
  CHECK_MESSAGE(got.out == "clip_all\nrelu7 rows_of\nother\nnothing\nFalse\nTrue\nTrue\n", got.out, got.err);
}
