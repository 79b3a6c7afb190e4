#pragma once
// What the kinds of mutants share: the source that is changed, and how a change is added.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operators/mutants/source_mutants.hpp"
#include "operators/rewrite/loops.hpp"
#include "operators/rewrite/syntax.hpp"

namespace kevo::mutants {

/// Text in place of a part of the source.
struct edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// A function of the standard text, needed by some mutants.
struct helper {
  std::string_view name;
  std::string_view definition;
};

/// Collects the mutants of one source.
struct mutator {
  const rewriting::parsed_source& in;
  std::string_view entry;
  const task* subject = nullptr;
  std::vector<rewriting::placed_loop> loops;
  std::vector<source_mutant> made;

  std::string text_of(const rewriting::node& one) const { return std::string(in.of(one)); }
  /// Adds a mutant in which a part of the source is replaced. @param extra further edits
  void add(std::string_view kind, std::string change, std::size_t begin, std::size_t end, std::string text,
           std::vector<edit> extra = {});
  void replace(std::string_view kind, std::string change, const rewriting::node& one, std::string text,
               std::vector<edit> extra = {}) {
    add(kind, std::move(change), one.begin, one.end, std::move(text), std::move(extra));
  }
  /// Defines a helper behind the includes.
  edit defining(const helper& one) const;
};

/// Calls `visit` for all nodes of the source, in the order of the text.
void visit_all(const rewriting::parsed_source& in, const std::function<void(const rewriting::node&)>& visit);
/// The function of this name that has a body; null: there is none.
const rewriting::node* function_named(const rewriting::parsed_source& in, std::string_view name);

bool is_integer(const std::string& type);
/// float, double or a vector of them.
bool is_real(const std::string& type);
/// Whether its value depends on nothing but literals and constants of the file: a choice of the author.
bool is_fixed(const mutator& of, const rewriting::node& one);

// The kinds, by file.
void leave_out_values(mutator& to);  // values.cpp: an epsilon, a subtracted value
void leave_out_guards(mutator& to);  // guards.cpp: a condition, a part of one, a tail, a barrier, an atomic
void change_bounds(mutator& to);     // bounds.cpp: < for <=, one iteration more or less
void narrow_integers(mutator& to);   // widths.cpp: indices, extents, counters
void narrow_sums(mutator& to);       // precision.cpp: accumulations, inputs, the smallest terms
void depend_on_calls(mutator& to);   // calls.cpp: a sample of the inputs, the number of the call

}  // namespace kevo::mutants
