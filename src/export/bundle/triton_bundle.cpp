// Bundles of programs in Triton: one file of Python.

#include <variant>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cuda/launch/resolve.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/triton_module.hpp"

namespace kevo::bundle {

void add_triton_files(const bundled& b, folder_text& files, bundle_summary& summary) {
  const auto refuse = [&](const std::string& why) {
    throw error(error_code::input, why, {.file = b.run_folder, .key = {}},
                "export another candidate with --candidate N, or the sources with --format jsonl");
  };
  if (b.source->files.size() != 1) refuse("a bundle in Triton can only contain a program in one file");
  const auto lines = cuda::read_launch_lines(*b.source);
  if (const auto* failure = std::get_if<cuda::launch_failure>(&lines)) refuse(failure->reason);
  files[b.name + ".py"] = triton_module({b.name, b.what, b.source, &std::get<cuda::declared_launch>(lines)});
  summary.remarks.push_back(fmt::format(
      "there is no test in this folder: kevo eval TASK {}.py compares it with the reference", b.name));
}

}  // namespace kevo::bundle
