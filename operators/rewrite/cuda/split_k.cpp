// A sum along a loop, one thread an element  ->  several blocks take a part of the loop each and write
// partial sums to a workspace, which a second kernel adds up: for products with few elements and long sums.
#include <algorithm>

#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

struct split_sum {
  reduction sum;
  const node* store = nullptr;   // `C[...] = sum`
  const node* output = nullptr;  // the parameter C
  std::string extent;            // what the launch line passes for the loop's bound
  std::string bound_type;        // of the parameter that is the loop's bound
  const tensor* result = nullptr;
};

// The only write to memory of the kernel, if it stores the sum as it is.
const node* only_store(const kernel& of, const device_kernel& one, const reduction& sum) {
  const node* found = nullptr;
  bool alone = true;
  walk(*one.body, [&](const node& n) {
    if (!assigns(of.in, n) || bare(n.children[0]).kind == node_kind::name) return true;
    alone = alone && found == nullptr;
    found = &n;
    return true;
  });
  if (!alone || found == nullptr || found->children.size() != 2 || operator_of(of.in, *found) != "=")
    return nullptr;
  const node& value = bare(found->children[1]);
  return value.kind == node_kind::name && value.declared == sum.variable ? found : nullptr;
}

// Whether the variable begins with 0, is added to in the loop, and is stored, and no more.
bool is_plain_sum(const kernel& of, const device_kernel& one, const reduction& sum, const node& store) {
  if (sum.kind != reduction_kind::sum || (sum.type != "float" && sum.type != "double")) return false;
  bool from_zero = false;
  for (const node& statement : one.body->children) {
    for (const node& variable : statement.children) {
      if (variable.kind != node_kind::variable || variable.declared != sum.variable) continue;
      const node* value = initial_value(of.in, variable);
      from_zero = value != nullptr && (of.in.of(*value) == "0" || of.in.of(*value) == "0.0f" ||
                                       of.in.of(*value) == "0.f" || of.in.of(*value) == "0.0");
    }
  }
  int in_updates = 0;
  for (const node* update : sum.updates) in_updates += count_of(*update, sum.variable);
  return from_zero && count_of(*one.body, sum.variable) == in_updates + count_of(store, sum.variable);
}

std::optional<split_sum> split_sum_of(const kernel& of, const device_kernel& one, const placed_loop& place) {
  const counted_loop& loop = place.loop;
  if (of.task == nullptr || place.function != one.function || place.around.empty() ||
      place.around.back() != one.body || one.launches.size() != 1 || loop.step != "1" || loop.lower != "0" ||
      loop.inclusive || loop.whole_steps || bare(*loop.upper_node).kind != node_kind::name)
    return std::nullopt;
  const launch_text& line = one.launches.front();
  if (line.grid.size() > 2 || !line.attributes.empty() || threads_meet(of) ||
      has_effects_unknown(of.in, *loop.body))
    return std::nullopt;
  split_sum found;
  std::string why;
  const auto collected = reductions_of(of.in, *one.function, *loop.body, why);
  if (!collected || collected->size() != 1) return std::nullopt;
  found.sum = collected->front();
  found.store = only_store(of, one, found.sum);
  if (found.store == nullptr || !is_plain_sum(of, one, found.sum, *found.store)) return std::nullopt;
  const node* root = root_of(bare(found.store->children[0]));
  const auto parameters = parameters_of(one);
  if (root == nullptr || parameters.size() != line.arguments.size() ||
      count_of(*one.body, root->declared) != 1)
    return std::nullopt;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i]->declared == bare(*loop.upper_node).declared) {
      found.extent = line.arguments[i];
      found.bound_type = parameters[i]->type;
    }
    if (parameters[i]->declared != root->declared || parameters[i]->type != "float *") continue;
    for (const tensor& output : of.task->outputs) {
      if (output.name == line.arguments[i] && output.dtype == "float32" && !output.shape.empty()) {
        found.output = parameters[i];
        found.result = &output;
      }
    }
  }
  const bool complete = found.output != nullptr && !found.extent.empty() &&
                        found.extent.find('(') == std::string::npos &&
                        (found.bound_type == "int" || found.bound_type == "long long");
  return complete ? std::optional(found) : std::nullopt;
}

}  // namespace

std::vector<site> split_k_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    for (std::size_t i = 0; i < of.loops.size(); ++i) {
      if (split_sum_of(of, one, of.loops[i])) found.push_back({i});
    }
  }
  return found;
}

std::string split_k(const kernel& of, const site& where, rng& random) {
  const device_kernel one = device_kernel_at(of, where);
  const placed_loop& place = of.loops.at(where.loop);
  const counted_loop& loop = place.loop;
  const auto found = split_sum_of(of, one, place);
  if (!found) throw refusal{"no sum whose parts can be added up"};
  fresh_names fresh(of.in);
  const std::string parts = fresh("parts_" + loop.index);
  const std::string share = fresh("share_of_" + loop.index);
  const std::string elements = fresh("elements_of_" + found->output->name);
  const std::string adding = fresh("add_parts_of_" + found->output->name);
  const std::string partial = fresh("partial_" + found->output->name);
  launch_text line = one.launches.front();
  std::string shape;
  std::string count;
  for (const auto& extent : found->result->shape) {
    shape += ", " + extent;
    count = count.empty() ? grouped(extent) : count + " * " + grouped(extent);
  }

  changes all;
  const node& upper = *loop.upper_node;
  const std::string first =
      "static_cast<" + found->bound_type + ">(blockIdx.z) * " + share;  // of this part's iterations
  all.replace(upper.begin, upper.end,
              "min(" + share + ", " + std::string(of.in.of(upper)) + " - " + first + ")");
  walk(*loop.body, [&](const node& n) {
    if (n.kind == node_kind::name && n.declared == loop.id) {
      if (of.in.of(n) != n.name) throw refusal{"a macro hides " + n.name};
      all.replace(n.begin, n.end, "(" + first + " + " + n.name + ")");
    }
    return true;
  });
  const node& subscript = bare(found->store->children[0]).children[1];
  all.replace(subscript.begin, subscript.begin, "blockIdx.z * " + elements + " + ");
  const node& last = *parameters_of(one).back();
  all.replace(last.end, last.end, ", " + found->bound_type + " " + share + ", long long " + elements);

  const std::string again = line.condition;
  for (auto& argument : line.arguments) {
    if (argument == found->result->name) argument = partial;
  }
  line.grid.resize(2, "1");
  line.grid.push_back(parts);
  std::string arguments;
  for (const auto& argument : line.arguments) arguments += argument + ", ";
  arguments += "ceildiv(" + found->extent + ", " + parts + "), " + count;
  all.replace(line.line, line.line_end,
              "// kevo: workspace " + partial + " float32 [" + parts + shape + "]\n// kevo: " + again +
                  "launch " + line.kernel + "<<<" + configuration_of(line) + ">>>(" + arguments +
                  ")\n// kevo: " + again + "launch " + adding + "<<<ceildiv(" + count + ", 256), 256>>>(" +
                  partial + ", " + found->result->name + ", " + count + ")");
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top, tunable_line(parts, 2 << random.below(3), "1, 2, 4, 8, 16"));
  std::string text = all.applied_to(of.in.text);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += "extern \"C\" __global__ void " + adding +
          "(const float* from, float* to, long long count) {\n"
          "  const long long i = blockIdx.x * 256LL + threadIdx.x;\n"
          "  if (i >= count) return;\n"
          "  float sum = 0;\n"
          "  for (int part = 0; part < " +
          parts +
          "; ++part) sum += from[part * count + i];\n"
          "  to[i] = sum;\n}\n";
  return text;
}

}  // namespace kevo::rewriting
