// Bundles of programs in CUDA with launch lines.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cuda/compile/cub_headers.hpp"
#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/compile/nvcc.hpp"
#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/cuda/launch/resolve.hpp"
#include "fitness/cuda/launch/wanted_kernels.hpp"
#include "fitness/cuda/measure/device_task.hpp"
#include "src/base/text/shell_word.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/cuda_launcher.hpp"
#include "src/export/bundle/literals.hpp"

namespace kevo::bundle {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse(const bundled& b, const std::string& why) {
  throw error(error_code::input, why, {.file = b.run_folder, .key = {}},
              "export another candidate with --candidate N, or the sources with --format jsonl");
}

template <class Value, class Result>
Value value_of(const bundled& b, Result result) {
  if (const auto* failure = std::get_if<cuda::launch_failure>(&result)) refuse(b, failure->reason);
  return std::get<Value>(std::move(result));
}

// Whether a build of the run contains this machine code. A run keeps its builds in RUN/cache/builds.
bool run_has_built(const std::string& run_folder, const std::string& image) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(fs::path(run_folder) / "cache" / "builds", code)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (bytes.find(image) != std::string::npos) return true;
  }
  return false;
}

void add_recompile(const bundled& b, const cuda::cuda_build_request& request,
                   const cuda::cuda_build_result& built, folder_text& files) {
  const auto standard = cuda::cuda_compiler_settings{}.standard;
  if (built.compiler.starts_with("nvcc")) {
    std::string words;
    for (const auto& word : cuda::nvcc_options(request, built.chosen, standard))
      words += (words.empty() ? "" : " ") + shell_word(word);
    files["tools/recompile.sh"] = filled("recompile.sh.in", {{"options", words}});
    files["tools/kevo_entry.cu"] = cuda::nvcc_entry(request.source, request.kernels);
    files["tools/measured.cubin"] = built.module.images.front();
    files["headers/cub/cub.cuh"] = cuda::cub_without_device();
    return;
  }
  const auto options = cuda::nvrtc_options(request, built.chosen, standard);
  files["tools/recompile.cpp"] =
      filled("recompile.cpp.in", {{"name", b.name},
                                  {"options", cpp_literals(options)},
                                  {"kernels", cpp_literals(request.kernels)},
                                  {"main", cpp_literal(b.source->files.front().path)}});
  for (const auto& header : cuda::nvrtc_headers()) files["headers/" + header.name] = header.text;
}

void add_launcher(const launcher_text& text, const std::string& name, const std::string& headers,
                  const std::string& sources, folder_text& files) {
  files[headers + name + ".hpp"] = text.header;
  files[sources + name + ".cpp"] = text.source;
  files[sources + name + "_image.inc"] = text.image;
}

}  // namespace

void add_cuda_files(const bundled& b, folder_text& files, bundle_summary& summary) {
  if (cuda::is_hosted(*b.source))
    refuse(b, "a bundle can only contain programs with launch lines, not hosted programs");
  const auto architecture = context_of(*b.result, "architecture", "sm_90a");
  auto facts = cuda::known_device(architecture).value_or(cuda::device_facts{});
  facts.architecture = architecture;
  const auto lines = value_of<cuda::declared_launch>(b, cuda::read_launch_lines(*b.source));
  auto wanted = value_of<cuda::wanted_kernels>(b, cuda::kernels_to_compile(lines, *b.source, *b.what, facts));
  cuda::cuda_compiler compiler({.sandbox = b.sandbox});
  const cuda::cuda_build_request request{*b.source,      std::move(wanted.names),
                                         architecture,   words_of(context_of(*b.result, "flags", "")),
                                         wanted.visible, fast_math_of(*b.what)};
  const auto built = compiler.build(request);
  if (!built.ok) refuse(b, "the program does not compile here: " + built.diagnostics);
  const auto signature = cuda::signature_of(*b.what, b.what->workloads.front());
  const auto about = fmt::format("{}: {}", b.what->name, b.what->description);
  add_launcher(cuda_launcher({b.name, about, b.what, &signature, &lines, &built.module, &facts}), b.name,
               "include/", "src/", files);
  files["src/launch_runtime.hpp"] = shipped_file("launch_runtime.hpp");
  files["CMakeLists.txt"] = filled("cuda_bundle.cmake", {{"name", b.name}});
  add_recompile(b, request, built, files);
  summary.as_measured =
      !built.module.images.empty() && run_has_built(b.run_folder, built.module.images.front());

  if (const auto why = reason_against_test(*b.what); !why.empty()) {
    summary.remarks.push_back("there is no test: " + why);
  } else if (b.what->reference->language != "cuda") {
    summary.remarks.emplace_back("there is no test: the reference is not in CUDA");
  } else {
    const auto& source = b.what->reference->source;
    const auto reference = value_of<cuda::declared_launch>(b, cuda::read_launch_lines(source));
    const auto known = cuda::reference_signature(*b.what, b.what->workloads.front());
    const auto names = value_of<std::vector<std::string>>(b, cuda::kernel_names(reference, known, facts));
    const auto compiled = compiler.build({.source = source,
                                          .kernels = names,
                                          .architecture = architecture,
                                          .flags = request.flags,
                                          .fast_math = {true, {}}});
    if (!compiled.ok) refuse(b, "the reference does not compile here: " + compiled.diagnostics);
    const auto name = b.name + "_reference";
    add_launcher(cuda_launcher({name, "The reference of " + about, b.what, &known, &reference,
                                &compiled.module, &facts}),
                 name, "test/", "test/", files);
    for (const auto& file : source.files) files["test/reference/" + file.path] = file.text;
    add_cuda_test(b, files);
  }
  if (const auto why = add_torch_extension(b, files); !why.empty())
    summary.remarks.push_back("there is no PyTorch extension: " + why);
}

}  // namespace kevo::bundle
