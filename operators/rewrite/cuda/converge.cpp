// if (m >= M) return;  ->  every thread runs to the end: it reads at the last index there is where its own is
// too large, and does not write. Threads can then work together, and one thread can have several indices.
#include <algorithm>

#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

bool writes_memory(const kernel& of, const device_kernel& one, const node& statement) {
  if (!assigns(of.in, statement)) return false;
  const node& to = bare(statement.children[0]);
  if (to.kind == node_kind::name) return false;
  const node* root = root_of(to);
  return root == nullptr || !declared_in(*one.body).contains(root->declared) ||
         root->type.find('*') != std::string::npos;
}

struct rewriting_of_body {
  const kernel& of;
  const device_kernel& one;
  const thread_guard& guard;
  changes& all;
  std::string test;

  // Indices in what is read; `in_target` is the subscript that is written.
  void clamp(const node& n) const {
    if (n.kind == node_kind::name) {
      for (const auto& [index, bound] : guard.bounds) {
        if (n.declared == index->id)
          all.replace(n.begin, n.end, "inside(" + index->name + ", " + bound + ")");
      }
    }
    for (const node& child : n.children) clamp(child);
  }

  void statement(const node& n) const {
    if (assigns(of.in, n) && writes_memory(of, one, n)) {
      all.replace(n.begin, n.begin, "if (" + test + ") ");
      if (n.children.size() == 2) clamp(n.children[1]);
      return;
    }
    switch (n.kind) {
      case node_kind::block:
        for (const node& child : n.children) statement(child);
        return;
      case node_kind::counted:
        for (std::size_t i = 0; i + 1 < n.children.size(); ++i) clamp(n.children[i]);
        statement(n.children.back());
        return;
      case node_kind::branch:
        clamp(n.children[0]);
        for (std::size_t i = 1; i < n.children.size(); ++i) {
          if (n.children.size() > 2 && n.children[i].kind != node_kind::block)
            throw refusal{"a branch without braces"};
          statement(n.children[i]);
        }
        return;
      default:
        if (any_of(n, [&](const node& inner) { return writes_memory(of, one, inner); }))
          throw refusal{"a write within an expression"};
        clamp(n);
    }
  }
};

}  // namespace

std::vector<site> converge_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    if (guard_of(of, one)) found.push_back({0, one.function});
  }
  return found;
}

std::string converge(const kernel& of, const site& where, rng&) {
  const device_kernel one = device_kernel_at(of, where);
  const auto guard = guard_of(of, one);
  if (!guard) throw refusal{"no thread returns early"};
  std::string test;
  for (const auto& [index, bound] : guard->bounds)
    test += (test.empty() ? "" : " && ") + index->name + " < " + bound;
  changes all;
  bool behind = false;
  for (const node& statement : one.body->children) {
    if (&statement == guard->statement) {
      behind = true;
      continue;
    }
    if (!behind) {
      if (one.index_of(statement.children.empty() ? -1 : statement.children.front().declared) == nullptr &&
          any_of(statement, [&](const node& n) {
            return n.kind == node_kind::name && one.index_of(n.declared) != nullptr;
          }))
        throw refusal{"an index is used before it is tested"};
      continue;
    }
    if (has_effects_unknown(of.in, statement)) throw refusal{"the kernel does what is not understood"};
    const rewriting_of_body work{of, one, *guard, all, test};
    work.statement(statement);
  }
  // The line of the test, with its end.
  std::size_t begin = guard->statement->begin;
  while (begin > 0 && of.in.text[begin - 1] == ' ') --begin;
  std::size_t end = end_of_statement(of.in, *guard->statement);
  if (end < of.in.text.size() && of.in.text[end] == '\n') ++end;
  all.replace(begin, end, "");
  put_helper(all, of, "inside",
             "template <class I, class N>\n"
             "__device__ __forceinline__ I inside(I i, N end) {  // the index, or the last one that there "
             "is\n  return i < end ? i : static_cast<I>(end - 1);\n}\n");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
