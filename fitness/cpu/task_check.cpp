#include "fitness/cpu/task_check.hpp"

#include <algorithm>
#include <functional>
#include <sstream>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cpu/bench.hpp"
#include "fitness/cpu/cpu_fitness.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo {
namespace {

// What a mutant is made from: one output of one content, and the same output of another one.
struct material {
  const element_type* type = nullptr;
  std::vector<double> right;
  std::vector<double> other;
  std::vector<double> input;  // the values of an input, if there is one
};

using mutation = std::function<std::vector<double>(const material&)>;

std::vector<double> values_of(const expected_output& e) {
  return e.values.empty() ? std::vector<double>(e.integers.begin(), e.integers.end()) : e.values;
}

std::vector<double> all(std::size_t count, double value) {
  return std::vector<double>(count, value);
}

std::vector<double> mean(const material& m) {
  double sum = 0;
  for (const double x : m.right) sum += x;
  return all(m.right.size(), m.right.empty() ? 0 : sum / static_cast<double>(m.right.size()));
}

std::vector<double> copy_of_input(const material& m) {
  auto values = m.right;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = m.input.empty() ? 0 : m.input[i % m.input.size()];
  return values;
}

std::vector<double> first_part(const material& m) {
  auto values = m.right;
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(values.size() * 9 / 10), values.end(), 0);
  return values;
}

std::vector<double> lower_precision(const material& m) {
  const auto& lower = *find_element_type(m.type->lower_precision);
  std::vector<std::byte> bytes(m.right.size() * lower.size);
  store_values(lower, std::span<const double>(m.right), bytes.data());
  return load_reals(lower, bytes);
}

std::vector<std::byte> stored(const element_type& type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * type.size);
  store_values(type, std::span<const double>(values), bytes.data());
  return bytes;
}

// What became of a mutant.
struct mutant_trial {
  std::string fails_on;   // a workload, or nothing
  bool differed = false;  // somewhere from the right values: of one element, the mean is the element
};

mutant_trial try_mutant(test_bench& bench, const mutation& mutate) {
  const auto& t = bench.subject();
  mutant_trial trial;
  for (std::size_t w = 0; w < t.workloads.size(); ++w) {
    const auto contents = bench.secrets().varied(w, 2);
    for (std::size_t i = 0; i < t.outputs.size(); ++i) {
      material m;
      m.type = &element_type_of(t.outputs[i]);
      m.right = values_of(contents[0]->outputs[i]);
      m.other = values_of(contents[1]->outputs[i]);
      if (!contents[0]->inputs.empty()) {
        const auto input =
            std::find_if(t.inputs.begin(), t.inputs.end(), [](const tensor& x) { return !x.scalar; });
        m.input = load_reals(element_type_of(*input), contents[0]->inputs.front());
      }
      const auto bytes = stored(*m.type, mutate(m));
      if (bytes == stored(*m.type, m.right)) continue;
      trial.differed = true;
      if (!check_output(*m.type, bytes, contents[0]->outputs[i]).accepted) {
        trial.fails_on = t.workloads[w].uuid;
        return trial;
      }
    }
  }
  return trial;
}

control_result mutant(test_bench& bench, const std::string& name, const mutation& mutate) {
  const auto trial = try_mutant(bench, mutate);
  if (!trial.differed) return {name, false, true, true, "its output is the same as the correct one"};
  if (trial.fails_on.empty())
    return {name, false, false, false, "accepted by all workloads; the tolerance is too wide"};
  return {name, false, true, false, "fails on workload '" + trial.fails_on + "'"};
}

control_result honest(cpu_fitness& fitness, const std::string& name, program source, std::stop_token stop) {
  evaluation_request request;
  request.program = std::make_shared<const program>(std::move(source));
  request.wanted = evaluation_stage::checked;
  request.fresh = true;
  request.stop = std::move(stop);
  const auto e = fitness.evaluate(request);
  if (e.valid()) return {name, true, true, false, "passes every workload"};
  std::string where;
  for (const auto& w : e.workloads) {
    if (w.outcome && w.outcome != outcome::valid) where += (where.empty() ? "" : ", ") + w.uuid;
  }
  return {name, true, false, false, fmt::format("{} ({}): {}", to_string(e.outcome), where, e.feedback)};
}

bool all_float32(const task& t) {
  const auto fits = [](const tensor& x) { return x.dtype == "float32"; };
  return std::all_of(t.inputs.begin(), t.inputs.end(), fits) &&
         std::all_of(t.outputs.begin(), t.outputs.end(), fits);
}

// The reference's own text with float for double. Its scale tensors go to scratch memory.
program reference_in_float(const task& t) {
  std::string includes = "#include <cstdint>\n#include <vector>\n";
  std::string body;
  std::istringstream lines{std::string(t.reference->source.text())};
  for (std::string line; std::getline(lines, line);) {
    (line.rfind("#include", 0) == 0 ? includes : body) += line + '\n';
  }
  std::string scratch;
  std::string arguments;
  const auto add = [&](const std::string& text) { arguments += (arguments.empty() ? "" : ", ") + text; };
  for (const auto& input : t.inputs) add(input.name);
  for (const auto& output : t.outputs) add(output.name);
  for (const auto& scale : scale_tensors(t)) {
    // Every scale has the shape of an output; the largest product of extents is enough.
    std::string size;
    for (const auto& output : t.outputs) {
      std::string product = "1";
      for (const auto& name : output.shape) {
        const auto a =
            std::find_if(t.axes.begin(), t.axes.end(), [&](const axis& x) { return x.name == name; });
        product += " * " + (a != t.axes.end() && a->value ? std::to_string(*a->value) : name);
      }
      size += (size.empty() ? "" : " + ") + product;
    }
    scratch +=
        fmt::format("  std::vector<float> kevo_scratch_{0}(static_cast<std::size_t>({1}));\n", scale, size);
    add("kevo_scratch_" + scale + ".data()");
  }
  for (const auto& a : t.axes) {
    if (!a.value) add(a.name);
  }
  auto text = includes + "#define double float\n" + body + "#undef double\n" + prototype(t) + " {\n" +
              scratch + "  reference(" + arguments + ");\n}\n";
  return single_file_program("cpp", "reference_in_float.cpp", std::move(text));
}

}  // namespace

bool task_report::ok() const {
  return std::all_of(controls.begin(), controls.end(), [](const control_result& c) { return c.ok; });
}

task_report check_task(const std::shared_ptr<const task>& t, const cpu_settings& settings,
                       std::stop_token stop) {
  task_report report;
  {
    test_bench bench(t, settings);
    bench.prepare(stop);
    const auto in_use = bench.take_processors(stop);
    auto& controls = report.controls;
    controls.push_back(mutant(bench, "zeros", [](const material& m) { return all(m.right.size(), 0); }));
    controls.push_back(mutant(bench, "constant", [](const material& m) {
      return all(m.right.size(), m.right.empty() ? 0 : m.right.front());
    }));
    controls.push_back(mutant(bench, "mean", mean));
    controls.push_back(mutant(bench, "input copy", copy_of_input));
    controls.push_back(mutant(bench, "first part only", first_part));
    const bool narrower = std::all_of(t->outputs.begin(), t->outputs.end(), [](const tensor& x) {
      return !element_type_of(x).lower_precision.empty();
    });
    if (narrower) {
      controls.push_back(mutant(bench, "next lower precision", lower_precision));
    } else {
      controls.push_back(
          {"next lower precision", false, true, true, "an output has no narrower floating type"});
    }
    controls.push_back(mutant(bench, "stale output", [](const material& m) { return m.other; }));
  }
  cpu_fitness fitness(t, settings);
  for (const auto& seed : t->seeds) {
    report.controls.push_back(honest(fitness, "seed " + seed.files.front().path, seed, stop));
  }
  if (all_float32(*t)) {
    report.controls.push_back(honest(fitness, "reference in float32", reference_in_float(*t), stop));
  } else {
    report.controls.push_back({"reference in float32", true, true, true, "not every tensor is float32"});
  }
  return report;
}

}  // namespace kevo
