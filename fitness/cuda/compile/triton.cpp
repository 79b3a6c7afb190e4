#include "fitness/cuda/compile/triton.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/build/compiler_process.hpp"
#include "fitness/cuda/compile/cubin.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/json/exact_parse.hpp"

namespace kevo::cuda {
namespace json = boost::json;
namespace {

constexpr const char* triton_protocol = "kevo triton 1";
constexpr std::size_t most_image_bytes = std::size_t{64} << 20U;

std::string bytes_of_hex(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  if (text.size() % 2 != 0 || text.size() / 2 > most_image_bytes)
    throw error(error_code::input, "an image that is no text of bytes");
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) throw error(error_code::input, "an image that is no text of bytes");
    bytes += static_cast<char>(16 * high + low);
  }
  return bytes;
}

template <class T>
T number(const json::object& from, const char* key, T most) {
  const auto value = from.at(key).to_number<std::uint64_t>();
  if (value > most) throw error(error_code::input, fmt::format("{} is {}", key, value));
  return static_cast<T>(value);
}

// @param lowered what the program's process says: which of the launch line's arguments its kernel takes
decided_launch decided_of(const json::object& said, const json::object& lowered) {
  decided_launch made;
  for (const auto& index : lowered.at("arguments").as_array())
    made.arguments.push_back(index.to_number<std::uint32_t>());
  made.threads = number<std::uint32_t>(said, "threads", 1024);
  made.dynamic_shared_bytes = number<std::uint32_t>(said, "shared", 1U << 24U);
  made.cluster_blocks = std::max(1U, number<std::uint32_t>(said, "ctas", 64));
  made.cooperative = said.at("cooperative").as_bool();
  made.scratch_bytes = number<std::uint64_t>(said, "scratch", std::uint64_t{1} << 40U);
  made.scratch_align = number<std::uint64_t>(said, "scratch_align", std::uint64_t{1} << 20U);
  for (const auto& [name, value] : lowered.at("constants").as_object()) {
    // An integer of Python's may be larger than any that an expression knows.
    if (value.is_int64()) made.constants[std::string(name)] = value.as_int64();
  }
  return made;
}

// One variant: an image of its own.
void add_variant(const json::object& said, const json::object& lowered, const std::string& name,
                 compiled_module& module) {
  const auto image = static_cast<std::uint32_t>(module.images.size());
  module.images.push_back(bytes_of_hex(said.at("cubin").as_string()));
  auto contents = read_cubin(module.images.back());
  const std::string symbol(said.at("kernel").as_string());
  const auto found = std::find_if(contents.kernels.begin(), contents.kernels.end(),
                                  [&](const auto& kernel) { return kernel.mangled == symbol; });
  if (found == contents.kernels.end()) throw error(error_code::input, "an image without its kernel");
  auto kernel = *found;
  kernel.name = name;
  kernel.image = image;
  kernel.decided = decided_of(said, lowered);
  module.kernels.push_back(std::move(kernel));
  for (auto& global : contents.globals) {
    global.image = image;
    module.globals.push_back(std::move(global));
  }
  for (const auto& symbol_of_managed : contents.managed)
    module.lasting.push_back("the managed variable " + readable(symbol_of_managed));
  for (const auto& function : contents.external) {
    if (function == "malloc" || function == "free") module.lasting.push_back(function + "()");
  }
}

// Python with the script, and a job for it.
launch_spec spec_of(const triton_job& job, json::object what) {
  const auto& tools = *job.tools;
  auto spec = compiler_launch(job.limits, job.sandbox, job.cpus);
  spec.argv = {tools.python, "-I", "-B", "-c", std::string(triton_script())};
  spec.mounts = mounts_of(tools);
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/tmp", "TMPDIR=/tmp"};
  // "sm_90a": Triton wants the number, and adds the letter.
  const auto digits = job.architecture.substr(std::min<std::size_t>(3, job.architecture.size()));
  what["architecture"] = std::atoi(digits.c_str());
  what["paths"] = json::array{json::string(tools.packages)};
  json::object options;
  for (const auto& [name, value] : job.options) options[name] = json::parse(value);
  what["options"] = std::move(options);
  spec.standard_input = json::serialize(what);
  return spec;
}

// The kernels of a process' answer; empty if it says what is wrong, which `answer` has then.
json::array kernels_of(const std::string& output, const triton_job& job, triton_answer& answer) {
  auto said = parse_json_exactly(output, true).as_object();
  if (const auto* wrong = said.if_contains("error")) {
    answer.error = wrong->as_string();
    answer.log = said.at("log").as_string();
    return {};
  }
  auto kernels = std::move(said.at("kernels").as_array());
  if (kernels.size() != job.variants.size()) throw error(error_code::input, "another number of kernels");
  return kernels;
}

}  // namespace

std::string triton_tools::identity() const {
  return fmt::format("{}\n{}\n{}\n{}", triton_protocol, version, python, packages);
}

triton_tools find_triton(const std::string& configured, bool contained) {
  static const python_wish triton = {
      .package = "triton",
      .people_say = "Triton",
      .beside = {"python", "torch"},               // PyTorch brings Triton
      .check = "from triton._C import libtriton",  // importing it shows whether it was made for this Python
      .purpose = "which compiles programs in Triton",
      .hint =
          "run scripts/setup.sh --triton, or name a Python that has Triton (fitness.python, or the "
          "environment "
          "variable KEVO_PYTHON)"};
  return {find_python(triton, configured, contained)};
}

triton_answer compile_with_triton(const triton_job& job,
                                  const std::function<exit_report(const launch_spec&)>& run,
                                  exit_report& report) {
  json::array files;
  for (const auto& file : job.source->files) files.push_back({{"path", file.path}, {"text", file.text}});
  json::array variants;
  for (const auto& variant : job.variants) variants.emplace_back(variant);
  triton_answer answer;
  report =
      run(spec_of(job, {{"stage", "lower"}, {"files", std::move(files)}, {"kernels", std::move(variants)}}));
  if (!report.ok()) return answer;
  try {
    auto lowered = kernels_of(report.out, job, answer);
    if (!answer.error.empty()) return answer;
    answer.lowered = true;
    report = run(spec_of(job, {{"stage", "finish"}, {"kernels", lowered}}));
    if (!report.ok()) return answer;
    const auto finished = kernels_of(report.out, job, answer);
    if (!answer.error.empty()) return answer;
    answer.module.architecture = job.architecture;
    for (std::size_t i = 0; i < job.variants.size(); ++i)
      add_variant(finished[i].as_object(), lowered[i].as_object(), job.variants[i], answer.module);
    answer.ok = true;
  } catch (const std::exception& wrong) {
    answer = {};
    answer.error = std::string("the program disturbed its compilation: ") + wrong.what();
    answer.log = answer.error;
  }
  return answer;
}

}  // namespace kevo::cuda
