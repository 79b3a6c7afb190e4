#pragma once
// Wrong programs made from right ones: a source in C++ with one small change each, of the kinds that people
// and models make. A task whose workloads accept one may accept a wrong program.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/task.hpp>

#include "operators/rewrite/syntax.hpp"

namespace kevo::mutants {

/// One changed source.
struct source_mutant {
  std::string_view kind;  ///< one of `mutant_kinds`
  std::string change;     ///< in words: "index masked to 8 bits"
  int line = 0;           ///< of the change, from 1
  std::string before;     ///< what stood there, in one line
  std::string after;      ///< and what stands there now; empty: nothing
  std::string text;       ///< the whole source
};

/// All kinds, in the order in which they are tried.
const std::vector<std::string_view>& mutant_kinds();

/// All mutants of a source, in the order of kinds and then of the text. The function that the task calls has
/// the name `entry`. @param t the task, for the mutants that sample an input of `run`; null: none of these
std::vector<source_mutant> mutants_of(const rewriting::parsed_source& in, std::string_view entry,
                                      const task* t = nullptr);

/// Which of `kinds.size()` mutants to try if there is only time for `most`: as many of each kind as possible,
/// spread evenly over those of the kind. @param kinds the kind of each mutant @return places in `kinds`, such
/// that the first ones are spread evenly, too
std::vector<std::size_t> spread(const std::vector<std::string_view>& kinds, std::size_t most);

}  // namespace kevo::mutants
