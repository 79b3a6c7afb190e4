#pragma once
// The operator `rewrite`: it changes the loops of C++ and CUDA sources, without a language model. It parses
// with libclang, in a program of its own, and is there only if kevo was built with libclang. Compiled: link
// kevo::kevo.

#include <cstddef>
#include <string>
#include <vector>

#include <kevo/vary.hpp>

namespace kevo {

/// Applies one macro action (a kind of change) to one loop of the parent: interchange, unroll and jam, vector
/// types and others; `rewrite_actions` lists them. Sizes that an action introduces become tunables with a
/// domain, for `tune`.
///   - Cheap tests of dependences reject what cannot be right. Whether a child is right is for the evaluator
///     to say.
///   - A child that the parser refuses, or whose annotations are wrong, is not proposed.
///   - The parser's process opens no file. What a source includes is not read.
struct rewrite {
  std::vector<std::string> only;  ///< names of the actions that may be taken; empty: all
  double another_action = 0.4;    ///< probability of each further action in the same proposal
  std::size_t tries = 12;         ///< number of actions that may be refused or give a known program
  int threads = 1;                ///< that the kernel may use; from 2, loops may be shared among threads
  std::string parser;             ///< path of kevo-parse-cpp; empty: where kevo finds its own programs

  std::string name() const { return "rewrite"; }
  bool repairs() const { return false; }
  /// A replay reads what was proposed from the journal, so that it needs no libclang.
  bool replayable() const { return false; }
  std::size_t concurrency() const { return 8; }
  variation_result vary(const variation_request& request, rng& random) const;
};

/// An action of `rewrite`.
struct rewrite_action {
  std::string name;
  std::string about;  ///< one line
};
std::vector<rewrite_action> rewrite_actions();

/// Throws kevo::error (environment) if this kevo was built without libclang, or its parser is not found.
void require_rewrite_parser();

}  // namespace kevo
