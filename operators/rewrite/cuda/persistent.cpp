// A block a piece of the work  ->  as many blocks as fit on the device at a time, each of which takes piece
// after piece, so that blocks are not started and ended again and again.
#include <algorithm>

#include "operators/rewrite/cuda/threads.hpp"

namespace kevo::rewriting {
namespace {

bool is_single_launch(const launch_text& line) {
  return line.attributes.empty() && line.grid.size() <= 2 &&
         std::none_of(line.grid.begin(), line.grid.end(), [](const std::string& axis) {
           return axis.find("device.") != std::string::npos || axis.find("occupancy") != std::string::npos;
         });
}

std::size_t count_of_word(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// Whether an expression is the same in all threads of a block.
bool is_same_in_block(const kernel& of, const device_kernel& one, const node& expression) {
  if (of.in.of(expression).find("threadIdx") != std::string_view::npos) return false;
  bool same = true;
  walk(expression, [&](const node& n) {
    if (n.kind == node_kind::call) same = false;
    if (n.kind != node_kind::name || n.declared < 0) return true;
    const node* value = nullptr;
    bool parameter = false;
    for (const node* p : parameters_of(one)) parameter = parameter || p->declared == n.declared;
    for (const node& statement : one.body->children) {
      for (const node& variable : statement.children) {
        if (variable.kind == node_kind::variable && variable.declared == n.declared &&
            variable.type.rfind("const ", 0) == 0)
          value = initial_value(of.in, variable);
      }
    }
    same = same && (parameter || (value != nullptr && is_same_in_block(of, one, *value)));
    return true;
  });
  return same;
}

// Whether some threads of a block may return while others wait for them.
bool some_threads_return(const kernel& of, const device_kernel& one) {
  return std::any_of(one.body->children.begin(), one.body->children.end(), [&](const node& statement) {
    if (!any_of(statement, [](const node& n) { return n.kind == node_kind::returned; })) return false;
    return statement.kind != node_kind::branch || !is_same_in_block(of, one, statement.children[0]);
  });
}

// Why blocks cannot take one piece after another; empty if they can.
std::string why_not_persistent(const kernel& of, const device_kernel& one) {
  const std::string_view body = of.in.of(*one.body);
  if (!std::all_of(one.launches.begin(), one.launches.end(), is_single_launch))
    return "a grid that is not a number of blocks along one or two axes";
  const auto same_axes = [&](const launch_text& line) {
    return line.grid.size() == one.launches.front().grid.size();
  };
  if (!std::all_of(one.launches.begin(), one.launches.end(), same_axes)) return "grids of several shapes";
  if (is_number(one.launches.front().grid.front())) return "the number of blocks is fixed";
  if (count_of_word(body, "gridDim") > 0) return "the kernel asks for the size of its grid";
  if (count_of_word(body, "blockIdx") == 0) return "all blocks do the same";
  if (count_of_word(body, "blockIdx") !=
      count_of_word(body, "blockIdx.x") + count_of_word(body, "blockIdx.y"))
    return "the kernel uses its block's number in another way";
  std::size_t in_kernels = 0;
  for (const auto& other : device_kernels(of)) in_kernels += count_of_word(of.in.of(*other.body), "blockIdx");
  if (in_kernels != count_of_word(of.in.text, "blockIdx")) return "a function asks for the block's number";
  if (threads_meet(of) && some_threads_return(of, one)) return "threads that return are missed by the others";
  // What a parameter was changed to for one piece would be there for the next one.
  for (const node* parameter : parameters_of(one)) {
    if (any_of(*one.body, [&](const node& n) {
          if (!assigns(of.in, n)) return false;
          const node& to = bare(n.children[0]);
          return to.kind == node_kind::name && to.declared == parameter->declared;
        }))
      return "a parameter is changed";
  }
  return {};
}

// The text of the body, in which a thread that has nothing to do goes to the next piece.
std::string body_of_piece(const kernel& of, const device_kernel& one) {
  std::vector<const node*> returns;
  walk(*one.body, [&](const node& n) {
    if (n.kind == node_kind::counted || n.kind == node_kind::repeated) {
      if (any_of(n, [](const node& inner) { return inner.kind == node_kind::returned; }))
        throw refusal{"a thread returns from within a loop"};
    }
    if (n.kind == node_kind::returned) returns.push_back(&n);
    return true;
  });
  std::string text(of.in.of(*one.body));
  for (auto at = returns.rbegin(); at != returns.rend(); ++at)
    text.replace((*at)->begin - one.body->begin, (*at)->end - (*at)->begin, "continue");
  const std::size_t first = text.find('{') + 1;
  return text.substr(first, text.rfind('}') - first);
}

std::string one_deeper(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end).find_first_not_of(' ') != std::string_view::npos)
      result += "  " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace

std::vector<site> persistent_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    if (why_not_persistent(of, one).empty()) found.push_back({0, one.function});
  }
  return found;
}

std::string persistent(const kernel& of, const site& where, rng& random) {
  const device_kernel one = device_kernel_at(of, where);
  const std::string why = why_not_persistent(of, one);
  if (!why.empty()) throw refusal{why};
  fresh_names fresh(of.in);
  const std::string piece = fresh("piece");
  const std::string pieces = fresh("pieces");
  const std::string across = fresh("pieces_x");
  const std::string resident = fresh("resident_" + one.function->name);
  const bool flat = one.launches.front().grid.size() == 1;
  std::string body = body_of_piece(of, one);
  body = with_word(body, "blockIdx.x", flat ? piece : piece + "_x");
  body = with_word(body, "blockIdx.y", flat ? "0" : piece + "_y");
  std::string text = "{\n  for (int " + piece + " = blockIdx.x; " + piece + " < " + pieces + "; " + piece +
                     " += gridDim.x) {\n";
  if (!flat) {
    text += "    const int " + piece + "_x = " + piece + " % " + across + ";\n";
    text += "    const int " + piece + "_y = " + piece + " / " + across + ";\n";
  }
  text += one_deeper(body);
  // What threads have in common is used again for the next piece.
  if (threads_meet(of)) text += "    __syncthreads();\n";
  text += "  }\n}";
  changes all;
  all.replace(one.body->begin, one.body->end, text);
  const node& last = *parameters_of(one).back();
  all.replace(last.end, last.end, ", int " + pieces + (flat ? "" : ", int " + across));
  for (auto line : one.launches) {
    const std::string whole = flat ? line.grid[0] : grouped(line.grid[0]) + " * " + grouped(line.grid[1]);
    put_argument(all, line, whole + (flat ? "" : ", " + line.grid[0]));
    line.grid = {"min(" + whole + ", device.sms * " + resident + ")"};
    put_launch(all, line);
  }
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top, tunable_line(resident, 1 << random.below(4), "1, 2, 3, 4, 6, 8, 16, 32"));
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
