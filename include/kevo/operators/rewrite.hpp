#pragma once
// The operator `rewrite`: it changes the loops of C++ and CUDA sources, without a language model. It parses
// with libclang, in a program of its own, and is there only if kevo was built with libclang. Compiled: link
// kevo::kevo.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/operators/action_policy.hpp>
#include <kevo/vary.hpp>

namespace kevo {

/// Applies one macro action (a kind of change) to one loop of the parent: interchange, unroll and jam, vector
/// types and others; `rewrite_actions` lists them. Sizes that an action introduces become tunables with a
/// domain, for `tune`.
///   - Cheap tests of dependences reject what cannot be right. Whether a child is right is for the evaluator
///     to say.
///   - A child that the parser refuses, or whose annotations are wrong, is not proposed.
///   - The parser's process opens no file. What a source includes is not read.
///   - Which actions were possible, and which was taken, is noted in the transcript: `noted_choices` reads
///     it.
struct rewrite {
  std::vector<std::string> only;  ///< names of the actions that may be taken; empty: all
  double another_action = 0.4;    ///< probability of each further action in the same proposal
  std::size_t tries = 12;         ///< number of actions that may be refused or give a known program
  int threads = 1;                ///< that the kernel may use; from 2, loops may be shared among threads
  action_policy policy{};         ///< chooses the actions; without `weights`: their own weights decide
  std::string parser;             ///< path of kevo-parse-cpp; empty: where kevo finds its own programs

  std::string name() const { return "rewrite"; }
  bool repairs() const { return false; }
  /// A replay reads what was proposed from the journal, so that it needs no libclang.
  bool replayable() const { return false; }
  std::size_t concurrency() const { return 8; }
  bool learns() const { return policy.learns; }
  variation_result vary(const variation_request& request, rng& random) const;

 private:
  struct memory;
  std::vector<tried_action> tried_in(const variation_request& request, const std::string& parser_path) const;
  /// What is remembered of the actions of the run; it never changes an answer, only saves work.
  std::shared_ptr<memory> remembered_ = make_memory();
  static std::shared_ptr<memory> make_memory();
};

/// An action of `rewrite`.
struct rewrite_action {
  std::string name;
  std::string about;  ///< one line
};
std::vector<rewrite_action> rewrite_actions();

/// What `rewrite` says of a program, of its actions and of their places, for policies.
const action_features& rewrite_features();

/// An action that `rewrite` took, and what it could have taken instead.
struct noted_choice {
  action_choice choice;
  std::size_t chosen = 0;
};
/// Reads the choices that `rewrite` noted in the transcript of a variation, one for each action of the
/// proposal, in their order. Nothing if there are none, or other features than those of this version.
std::vector<noted_choice> noted_choices(std::string_view transcript);

/// The actions that `rewrite` may take in a program, as `noted_choices` has them; nothing if the parser
/// cannot read it. `result` and `parent_result` are the evaluations of the program and of its parent, null if
/// there are none; `actions` are those that led to it, the latest first. Starts the parser.
struct choice_question {
  const program* source = nullptr;
  const task* what = nullptr;
  int threads = 1;
  std::vector<std::string> only{};
  const evaluation* result = nullptr;
  const evaluation* parent_result = nullptr;
  std::vector<std::string> actions{};
};
std::optional<action_choice> choices_in(const choice_question& asked, const std::string& parser = {});
/// The types of actions in a summary of `rewrite`, in its order.
std::vector<std::string> actions_of_summary(std::string_view summary);

/// Throws kevo::error (environment) if this kevo was built without libclang, or its parser is not found.
void require_rewrite_parser();

}  // namespace kevo
