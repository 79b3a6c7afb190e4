#pragma once
// The operator `rewrite`: it changes the loops of C++ and CUDA sources, without a language model. It parses
// with libclang in a separate program, kevo-parse-cpp, and is available only if kevo was built with libclang.
// Compiled: link kevo::kevo.

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
///   - Simple dependence tests exclude actions that would certainly give wrong results. Only the evaluation
///     shows whether a child is correct.
///   - A child that the parser cannot read, or whose annotations are wrong, is not proposed.
///   - The process of the parser opens no files. Headers that a source includes are not read.
///   - The transcript records which actions were possible and which one was taken; `recorded_choices` reads
///   it.
struct rewrite {
  std::vector<std::string> only;  ///< names of the actions that may be taken; empty: all
  double another_action = 0.4;    ///< probability of each further action in the same proposal
  std::size_t tries = 12;         ///< maximum number of actions that may fail or give a known program
  int threads = 1;  ///< maximum number of threads of the kernel; from 2 on, loops may be shared among threads
  /// Chooses the actions; if its `weights` is empty, the operator's own weights are used.
  action_policy policy{};
  std::string parser;  ///< path of kevo-parse-cpp; empty: it is searched for among kevo's own programs

  std::string name() const { return "rewrite"; }
  bool repairs() const { return false; }
  /// False: a replay reads the proposals from the journal, so that it needs no libclang.
  bool replayable() const { return false; }
  /// False: a proposal costs milliseconds, and a resumed run finds those that wait in the journal.
  bool evaluated_after_stop() const { return false; }
  std::size_t concurrency() const { return 8; }
  bool learns() const { return policy.learns; }
  variation_result vary(const variation_request& request, rng& random) const;

 private:
  struct memory;
  std::vector<tried_action> tried_in(const variation_request& request, const std::string& parser_path) const;
  /// A cache of the actions of the run. It saves work and never changes a result.
  std::shared_ptr<memory> remembered_ = make_memory();
  static std::shared_ptr<memory> make_memory();
};

/// An action of `rewrite`.
struct rewrite_action {
  std::string name;   ///< name in `rewrite::only` and in transcripts
  std::string about;  ///< description in one line
};
/// All actions of `rewrite`.
std::vector<rewrite_action> rewrite_actions();

/// The names of the features and actions of `rewrite`, for policies.
const action_features& rewrite_features();

/// A choice of `rewrite`: the possible actions, and the index of the one that was taken.
struct recorded_choice {
  action_choice choice;    ///< the program's features and its possible actions
  std::size_t chosen = 0;  ///< index into `choice.actions`
};
/// Reads the choices that `rewrite` noted in the transcript of a turn, one for each action of the
/// proposal, in their order. Empty if there are none, or if they were recorded with other features than those
/// of this version.
std::vector<recorded_choice> recorded_choices(std::string_view transcript);

/// The arguments of `choices_in`.
struct choice_request {
  const program* source = nullptr;            ///< the program; must not be null
  const kevo::task* task = nullptr;           ///< the task of the program
  int threads = 1;                            ///< as rewrite::threads
  std::vector<std::string> only{};            ///< as rewrite::only
  const evaluation* result = nullptr;         ///< evaluation of the program; null if there is none
  const evaluation* parent_result = nullptr;  ///< evaluation of its parent; null if there is none
  std::vector<std::string> actions{};         ///< types of the actions that led to the program, latest first
};
/// The actions that `rewrite` can take in a program, in the form of `recorded_choices`; nothing if the parser
/// cannot read the program. Starts the parser.
std::optional<action_choice> choices_in(const choice_request& asked, const std::string& parser = {});
/// The types of the actions that a summary of `rewrite` names, in their order.
std::vector<std::string> actions_of_summary(std::string_view summary);

/// Throws kevo::error (environment) if kevo was built without libclang, or if kevo-parse-cpp is not found.
void require_rewrite_parser();

}  // namespace kevo
