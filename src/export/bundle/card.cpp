// What a bundle is: card.json for programs, README.md for people.

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/text/utf8.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/python_text.hpp"

namespace kevo::bundle {
namespace {

std::string figure(const evaluation& e) {
  if (!(e.speedup > 0)) return fmt::format("score {:.4g}", e.score);
  return fmt::format("{:.4g} times as fast as {} [{:.4g}, {:.4g}], {}", e.speedup, e.baseline,
                     e.speedup_interval.low, e.speedup_interval.high,
                     e.stage == evaluation_stage::confirmed ? "confirmed in new processes" : "not confirmed");
}

boost::json::array lineage_of(const journal& record, candidate_id id) {
  boost::json::array all;
  for (const auto& c : record.lineage(id)) {
    all.push_back({{"candidate", c.id},
                   {"program", to_string(c.program)},
                   {"operator", as_utf8(c.operator_name)},
                   {"summary", as_utf8(c.summary)}});
  }
  return all;
}

boost::json::array workloads_of(const evaluation& e) {
  boost::json::array all;
  for (const auto& w : e.workloads) {
    if (w.hidden || !(w.time_ns > 0)) continue;
    boost::json::object axes;
    for (const auto& [name, value] : w.axes) axes[name] = value;
    all.push_back({{"workload", as_utf8(w.uuid)},
                   {"axes", axes},
                   {"time_ns", w.time_ns},
                   {"time_low_ns", w.time_interval.low},
                   {"time_high_ns", w.time_interval.high},
                   {"baseline_ns", w.baseline_ns},
                   {"speedup", w.speedup},
                   {"sol_fraction", w.sol_fraction}});
  }
  return all;
}

std::string code_of(const bundle_summary& summary) {
  if (summary.time_ratio)
    return fmt::format(
        "Built as a user builds it, a call took {:.3f} [{:.3f}, {:.3f}] of the time of the program that the "
        "run "
        "measured\n(99 % interval, alternating pairs, when this bundle was made).\n",
        summary.time_ratio->value, summary.time_ratio->range.low, summary.time_ratio->range.high);
  if (!summary.as_measured) return "";
  return *summary.as_measured ? "The machine code is the one that the run measured.\n"
                              : "The machine code was compiled again for this bundle. The run's folder has "
                                "no build that is equal, so "
                                "that the figures may differ.\n";
}

// How to use a bundle in Triton.
std::string python_steps(const bundled& b) {
  std::string words;
  for (const auto& input : b.what->inputs)
    words += (words.empty() ? "" : ", ") + python_identifier(input.name);
  return fmt::format(
      "```python\nimport sys\nsys.path.insert(0, \"PATH/OF/THIS/FOLDER\")\nfrom {0} import {0}\n\n"
      "result = {0}({1})\n```\n\n"
      "The inputs are dense tensors of PyTorch on one GPU. Without a GPU, Triton's interpreter runs the "
      "kernels\n(`TRITON_INTERPRET=1`), slowly. `kevo eval` takes the file as a candidate, too.\n",
      b.name, words);
}

std::string steps(const bundled& b, bool cuda, const folder_text& files) {
  if (b.source->language == "triton") return python_steps(b);
  if (b.source->language == "python")
    return fmt::format(
        "```python\nimport sys\nsys.path.insert(0, \"PATH/OF/THIS/FOLDER\")\nfrom {0} import {0}\n```\n\n"
        "{0} is the {1} of the program. `kevo eval` takes the file as a candidate, too.\n",
        b.name, b.what->reference->form == "module" ? "class" : "function");
  const bool test = files.contains(fmt::format("test/{}_test.cpp", b.name));
  std::string text = "```sh\ncmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build\n";
  if (test) text += fmt::format("build/{0}_test           # compares with the reference\n", b.name);
  if (files.contains("test/device_times.hpp") || files.contains("test/paired_times.hpp"))
    text += fmt::format("build/{0}_test --speed   # compares the speed with what the run measured\n", b.name);
  if (cuda && files.contains("tools/recompile.sh"))
    text += "sh tools/recompile.sh .   # compiles the source again with nvcc and compares the machine code\n";
  else if (cuda)
    text +=
        "build/recompile . /usr/local/cuda/include   # compiles the source again: is it the same machine "
        "code?\n";
  text += "```\n\n";
  text += fmt::format(
      "In CMake: `add_subdirectory({0})`, `target_link_libraries(your_program PRIVATE {0})`, then\n`#include "
      "<{0}.hpp>`.\n",
      b.name);
  if (files.contains("torch/binding.cpp"))
    text += fmt::format(
        "In Python: add the folder `torch` to `sys.path`, then write `from {0} import {0}`.\n", b.name);
  return text;
}

}  // namespace

void add_card(const bundled& b, const journal& record, const bundle_summary& summary, folder_text& files) {
  const auto& e = *b.result;
  const auto& header = record.header();
  boost::json::object context;
  for (const auto& [key, value] : e.context) {
    if (key == "compiler" || key == "flags" || key == "architecture" || key == "driver" || key == "build" ||
        key == "built_by")
      context[key] = as_utf8(value);
  }
  boost::json::array remarks;
  for (const auto& remark : summary.remarks) remarks.emplace_back(as_utf8(remark));
  boost::json::object card{{"bundle", 1},
                           {"name", b.name},
                           {"task", as_utf8(b.what->name)},
                           {"task_id", header.task_id},
                           {"run", as_utf8(header.run_name)},
                           {"kevo_version", header.kevo_version},
                           {"candidate", summary.candidate},
                           {"program", to_string(id_of(*b.source))},
                           {"language", b.source->language},
                           {"stage", to_string(e.stage)},
                           {"score", e.score},
                           {"speedup", e.speedup},
                           {"speedup_low", e.speedup_interval.low},
                           {"speedup_high", e.speedup_interval.high},
                           {"baseline", as_utf8(e.baseline)},
                           {"device", as_utf8(e.device)},
                           {"protocol", as_utf8(e.protocol)},
                           {"context", context},
                           {"workloads", workloads_of(e)},
                           {"lineage", lineage_of(record, summary.candidate)},
                           {"remarks", remarks}};
  card["machine_code_as_measured"] =
      summary.as_measured ? boost::json::value(*summary.as_measured) : boost::json::value(nullptr);
  card["time_ratio"] = summary.time_ratio ? boost::json::value{{"value", summary.time_ratio->value},
                                                               {"low", summary.time_ratio->range.low},
                                                               {"high", summary.time_ratio->range.high}}
                                          : boost::json::value(nullptr);
  files["card.json"] = boost::json::serialize(card) + '\n';

  std::string times;
  for (const auto& w : e.workloads) {
    if (w.hidden || !(w.time_ns > 0)) continue;
    times += fmt::format("| {} | {:.5g} [{:.5g}, {:.5g}] | {:.4g} |\n", as_utf8(w.uuid), 1e-3 * w.time_ns,
                         1e-3 * w.time_interval.low, 1e-3 * w.time_interval.high, w.speedup);
  }
  std::string said;
  if (const auto chosen = e.context.find("build"); chosen != e.context.end())
    said += "* It is compiled with options of its own: " + as_utf8(chosen->second) + ".\n";
  for (const auto& remark : summary.remarks) said += "* " + as_utf8(remark) + '\n';
  files["README.md"] = fmt::format(
      "# {name}\n\n{description}\n\nCandidate {candidate} of the run `{run}` (kevo {version}): **{figure}**, "
      "on "
      "{device} by protocol {protocol}.\n\n| workload | time [us] | speedup |\n| --- | --- | --- "
      "|\n{times}\n{code}\n"
      "{steps}\n{said}`card.json` contains the same data for programs, and the lineage of the candidate.\n",
      fmt::arg("name", b.name), fmt::arg("description", as_utf8(b.what->description)),
      fmt::arg("candidate", summary.candidate), fmt::arg("run", as_utf8(header.run_name)),
      fmt::arg("version", header.kevo_version), fmt::arg("figure", figure(e)),
      fmt::arg("device", as_utf8(e.device)), fmt::arg("protocol", as_utf8(e.protocol)),
      fmt::arg("times", times), fmt::arg("code", code_of(summary)),
      fmt::arg("steps", steps(b, b.source->language == "cuda", files)), fmt::arg("said", said));
}

}  // namespace kevo::bundle
