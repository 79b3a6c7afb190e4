#pragma once
// What the fuzzers and the corpus test do with an input. Every input must end in success or in kevo::error
// (input or usage); anything else escapes or aborts.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <kevo/annotation.hpp>
#include <kevo/dtype.hpp>
#include <kevo/settings.hpp>
#include <kevo/task_id.hpp>

#include "fitness/build/build_choices.hpp"
#include "fitness/cuda/launch/resolve.hpp"
#include "operators/tune/setting_space.hpp"
#include "src/base/settings/json.hpp"
#include "src/base/settings/overrides.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/tensor_file/tensor_file.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace kevo::fuzzing {

/// Aborts with a word: what must hold does not.
inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzzing: %s\n", what);
  std::abort();
}

/// Runs `work`; errors of input are fine as long as they say something.
template <class Work>
void guarded(const Work& work) {
  try {
    work();
  } catch (const error& e) {
    demand(e.code() == error_code::input || e.code() == error_code::usage,
           "an error that is not the input's");
    demand(!e.message().empty(), "an error without a message");
    demand(e.place().line >= 0 && e.place().column >= 0, "a negative place");
  }
}

/// The first line of the input chooses nothing: the whole of it is a config in YAML, in JSON, and an
/// override.
inline void config(std::string_view input) {
  guarded([&] {
    const auto tree = parse_yaml(input, "fuzz.yaml");
    const std::string dumped = dump_yaml(tree);
    const std::string again = dump_yaml(parse_yaml(dumped, "dump.yaml"));
    demand(dumped == again, "a dump that does not survive being read");
    settings reader(tree);
    for (const auto& key : reader.keys()) guarded([&] { reader.child_or_empty(key).get_or<int>("seed", 1); });
    reader.finish();
  });
  guarded([&] { dump_yaml(parse_json(input, "fuzz.json")); });
  guarded([&] {
    auto tree = parse_yaml("{run: {seed: 1}, stop: {any: [{seconds: 1}]}}");
    apply_override(tree, input.substr(0, input.find('\n')));
  });
}

/// A task in YAML and in JSON; a line "%%" starts its workload traces. Files are made up.
inline void task(std::string_view input) {
  const source_reader read = [](const std::string& path, const std::string& language,
                                const error_place& named) {
    if (path.empty()) throw error(error_code::input, "no such file", named);
    return program_of(language.empty() ? "cpp" : language, "// " + path);
  };
  const std::size_t split = input.find("\n%%\n");
  const auto text = input.substr(0, split);
  guarded([&] { id_of(decode_task(parse_yaml(text, "task.yaml"), read)); });
  guarded([&] {
    std::vector<settings_node> traces;
    if (split != std::string_view::npos) traces.push_back(parse_json(input.substr(split + 4), "task.jsonl"));
    id_of(decode_task(parse_json(text, "task.json"), read, traces));
  });
}

/// A file with a tensor, in every format.
inline void tensor_file(std::string_view input) {
  const auto consistent = [](const file_tensor& found) {
    std::size_t bytes = find_dtype(found.dtype)->size;
    for (const auto extent : found.shape) bytes *= static_cast<std::size_t>(extent);
    demand(bytes == found.bytes.size(), "a tensor whose shape is not that of its elements");
  };
  guarded([&] { consistent(parse_npy(input, "fuzz.npy")); });
  guarded([&] { consistent(parse_safetensors(input, "w", "fuzz.safetensors")); });
  guarded([&] {
    const auto found = parse_matrix_market(input, "fuzz.mtx");
    demand(found.row_start.size() == static_cast<std::size_t>(found.rows) + 1, "rows that are missing");
    demand(found.row_start.back() == static_cast<std::int64_t>(found.column.size()),
           "offsets that end elsewhere");
    demand(found.column.size() == found.value.size(), "elements without a value");
    for (std::size_t i = 1; i < found.row_start.size(); ++i) {
      for (auto k = found.row_start[i - 1]; k < found.row_start[i]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        demand(found.column[at] >= 0 && found.column[at] < found.columns, "a column outside of the matrix");
        demand(k == found.row_start[i - 1] || found.column[at] > found.column[at - 1],
               "columns without order");
      }
    }
  });
}

/// A source with annotations.
inline void annotation(std::string_view input) {
  guarded([&] {
    const auto found = parse_annotations(input, "fuzz.cpp");
    for (const auto& t : found.tunables) {
      demand(input.substr(t.offset, t.value.size()) == t.value, "a tunable that is not where it says");
      demand(t.domain.at(t.current) == t.value, "a value that is not the current one");
      const auto changed = set_tunables(input, {{t.name, t.domain.back()}});
      demand(changed.size() == input.size() - t.value.size() + t.domain.back().size(),
             "more than a literal changed");
      demand(parse_annotations(changed).find_tunable(t.name)->value == t.domain.back(),
             "a value that was not set");
    }
    for (const auto& r : found.regions) {
      demand(replace_region(input, r.name, input.substr(r.offset, r.length)) == input,
             "a region that is not where it says");
    }
    for (const auto family : {build_family::cpp, build_family::cuda, build_family::triton}) {
      guarded([&] {
        const auto chosen =
            build_choices_of(single_file_program("cpp", "fuzz.cpp", std::string(input)), family, {true, {}});
        for (const auto& words : {cuda_words(chosen), cpp_words(chosen)}) {
          for (const auto& word : words)
            demand(word.starts_with('-') && word.find_first_of(" /\\'\"\n") == std::string::npos,
                   "a word of a command line that is not from the table");
        }
      });
    }
    const setting_space space(found);
    rng random(1);
    const auto near = space.nearest_valid(space.current(), random, {}, 64);
    demand(!near || space.valid(*near), "a repair that repairs nothing");
    if (const auto all = space.enumerate(100, 2000)) {
      for (const auto& setting : *all)
        demand(space.valid(setting), "an invalid setting among the valid ones");
    }
  });
}

/// Device code with launch lines, launched on a task with two inputs, one output and three axes. Any kernel
/// that the lines name exists, with a parameter of every width.
inline void launch(std::string_view input) {
  const auto lines = cuda::read_launch_lines(single_file_program("cuda", "fuzz.cu", std::string(input)));
  if (const auto* failure = std::get_if<cuda::launch_failure>(&lines)) {
    demand(!failure->reason.empty(), "a failure without a reason");
    return;
  }
  const auto& declared = std::get<cuda::declared_launch>(lines);
  cuda::launch_signature signature;
  signature.axes = {{"M", 300}, {"N", 128}, {"K", 64}};
  signature.constants = {{"K", 64}};
  signature.inputs = {{"A", "float32", 19200}, {"B", "float32", 8192}};
  signature.outputs = {{"C", "float32", 38400}};
  signature.scalars = {{"eps", "float32", {}}};
  const cuda::device_facts facts;
  cuda::compiled_module compiled;
  const auto names = cuda::kernel_names(declared, signature, facts);
  if (const auto* known = std::get_if<std::vector<std::string>>(&names)) {
    for (const auto& name : *known) {
      cuda::compiled_kernel kernel;
      kernel.name = name;
      for (const std::uint32_t size : {8U, 8U, 8U, 4U, 4U, 4U}) kernel.parameters.push_back({0, size, ""});
      compiled.kernels.push_back(kernel);
    }
  }
  const auto result = cuda::resolve(declared, signature, compiled, facts);
  if (const auto* p = std::get_if<cuda::plan>(&result)) {
    demand(cuda::decode_plan(cuda::encode(*p)) == *p, "a plan that does not survive a message");
    demand(!p->steps.empty(), "a plan that launches nothing");
  } else {
    demand(!std::get<cuda::launch_failure>(result).reason.empty(), "a failure without a reason");
  }
}

}  // namespace kevo::fuzzing
