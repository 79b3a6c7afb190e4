#include "operators/rewrite/cuda/threads.hpp"

#include <algorithm>

namespace kevo::rewriting {
namespace {

// blockIdx.x, threadIdx.y, ...: the axis, if the expression is that.
std::optional<char> axis_of(const parsed_source& in, const node& one, std::string_view what) {
  const auto text = in.of(bare(one));
  if (text.size() != what.size() + 2 || text.substr(0, what.size()) != what || text[what.size()] != '.')
    return std::nullopt;
  const char axis = text.back();
  return axis >= 'x' && axis <= 'z' ? std::optional(axis) : std::nullopt;
}

// `what.axis * factor`, in either order, or `what.axis` alone.
std::optional<std::pair<char, std::string>> scaled(const parsed_source& in, const node& one,
                                                   std::string_view what) {
  const node& e = bare(one);
  if (const auto axis = axis_of(in, e, what)) return std::pair(*axis, std::string("1"));
  if (e.kind != node_kind::binary || operator_of(in, e) != "*") return std::nullopt;
  for (const std::size_t i : {0U, 1U}) {
    if (const auto axis = axis_of(in, e.children[i], what)) {
      std::string factor(in.of(e.children[1 - i]));
      if (is_number(without_suffix(factor))) factor = without_suffix(factor);
      return std::pair(*axis, factor);
    }
  }
  return std::nullopt;
}

std::optional<thread_index> index_in(const parsed_source& in, const node& statement) {
  if (statement.kind != node_kind::declaration || statement.children.size() != 1) return std::nullopt;
  const node& variable = statement.children.front();
  if (variable.kind != node_kind::variable) return std::nullopt;
  const node* value = initial_value(in, variable);
  if (value == nullptr) return std::nullopt;
  const node& sum = bare(*value);
  if (sum.kind != node_kind::binary || operator_of(in, sum) != "+") return std::nullopt;
  for (const std::size_t i : {0U, 1U}) {
    const auto block = scaled(in, sum.children[i], "blockIdx");
    const auto thread = scaled(in, sum.children[1 - i], "threadIdx");
    if (block && thread && block->first == thread->first)
      return thread_index{&statement,   &variable,     variable.name, variable.declared,
                          block->first, block->second, thread->second};
  }
  return std::nullopt;
}

bool collect_bounds(const kernel& of, const device_kernel& one, const node& test, thread_guard& to) {
  const node& e = bare(test);
  if (e.kind != node_kind::binary) return false;
  const std::string op = operator_of(of.in, e);
  if (op == "||")
    return collect_bounds(of, one, e.children[0], to) && collect_bounds(of, one, e.children[1], to);
  const node& left = bare(e.children[0]);
  const node& right = bare(e.children[1]);
  const thread_index* index = left.kind == node_kind::name ? one.index_of(left.declared) : nullptr;
  if (op != ">=" || index == nullptr || (right.kind != node_kind::name && right.kind != node_kind::literal))
    return false;
  to.bounds.emplace_back(index, std::string(of.in.of(right)));
  return true;
}

}  // namespace

std::string device_kernel::threads(char name) const {
  return axis(name) < launches.front().block.size() ? launches.front().block[axis(name)] : "1";
}

const thread_index* device_kernel::index_of(long id) const {
  const auto found =
      std::find_if(indices.begin(), indices.end(), [&](const thread_index& one) { return one.id == id; });
  return found == indices.end() ? nullptr : &*found;
}

std::vector<device_kernel> device_kernels(const kernel& of) {
  std::vector<device_kernel> found;
  if (!of.cuda) return found;
  const auto lines = launches_of(of.in.text);
  for (const node& item : of.in.items) {
    walk(item, [&](const node& n) {
      if (n.kind != node_kind::function) return n.kind != node_kind::block;
      device_kernel one;
      one.function = &n;
      for (const node& child : n.children) {
        if (child.kind == node_kind::block) one.body = &child;
      }
      for (const auto& line : lines) {
        if (line.kernel == n.name) one.launches.push_back(line);
      }
      if (one.body == nullptr || one.launches.empty()) return false;
      for (const node& statement : one.body->children) {
        if (auto index = index_in(of.in, statement)) one.indices.push_back(*std::move(index));
      }
      found.push_back(std::move(one));
      return false;
    });
  }
  return found;
}

device_kernel device_kernel_at(const kernel& of, const site& where) {
  const node* at = where.at != nullptr ? where.at : of.loops.at(where.loop).loop.at;
  for (auto& one : device_kernels(of)) {
    if (one.function->begin <= at->begin && at->end <= one.function->end) return one;
  }
  throw refusal{"no kernel that is launched"};
}

std::string threads_of_block(const device_kernel& one) {
  std::string product;
  for (const auto& size : one.launches.front().block) product = product.empty() ? size : times(product, size);
  return product;
}

std::optional<thread_guard> guard_of(const kernel& of, const device_kernel& one) {
  for (const node& statement : one.body->children) {
    if (statement.kind != node_kind::branch || statement.children.size() != 2) continue;
    const auto then = statements_of(statement.children[1]);
    if (then.size() != 1 || then.front()->kind != node_kind::returned || !then.front()->children.empty())
      continue;
    thread_guard found;
    found.statement = &statement;
    if (collect_bounds(of, one, statement.children[0], found)) return found;
  }
  return std::nullopt;
}

std::vector<const node*> parameters_of(const device_kernel& one) {
  std::vector<const node*> found;
  for (const node& child : one.function->children) {
    if (child.kind == node_kind::parameter) found.push_back(&child);
  }
  return found;
}

void put_parameter(changes& all, const device_kernel& one, const std::string& parameter,
                   const std::string& argument) {
  const auto known = parameters_of(one);
  if (known.empty()) throw refusal{"a kernel without parameters"};
  all.replace(known.back()->end, known.back()->end, ", " + parameter);
  for (const auto& line : one.launches) put_argument(all, line, argument);
}

bool threads_meet(const kernel& of) {
  return of.in.text.find("__shared__") != std::string::npos ||
         of.in.text.find("__sync") != std::string::npos || of.in.text.find("__shfl") != std::string::npos;
}

void put_helper(changes& all, const kernel& of, std::string_view name, const std::string& text) {
  if (of.in.text.find(" " + std::string(name) + "(") != std::string::npos) return;
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top, text + "\n");
}

}  // namespace kevo::rewriting
