#pragma once
// The parts of the plug-in ABI tag, kevo::plugin_abi() in registry.hpp. With this tag a program refuses
// plug-ins that were built with other headers, or by a compiler with another class layout. The tag is
// computed at compile time from the types themselves, so it need not be changed by hand.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <kevo/archive.hpp>
#include <kevo/candidate.hpp>
#include <kevo/detail/fnv.hpp>
#include <kevo/error.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/filter.hpp>
#include <kevo/ledger.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/program.hpp>
#include <kevo/reward.hpp>
#include <kevo/screen.hpp>
#include <kevo/select.hpp>
#include <kevo/settings.hpp>
#include <kevo/stop.hpp>
#include <kevo/task.hpp>
#include <kevo/vary.hpp>
#include <kevo/version.hpp>

namespace kevo::detail {

/// FNV-1a hash of everything that is added.
class abi_hasher {
 public:
  constexpr abi_hasher& add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
    byte(0);
    return *this;
  }
  constexpr abi_hasher& add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) byte(static_cast<unsigned char>((number >> (8 * i)) & 0xFFU));
    return *this;
  }
  template <class T>
  constexpr abi_hasher& type(std::string_view name) {
    return add(name).add(sizeof(T)).add(alignof(T));
  }
  /// The hash folded to 48 bits, which every JSON reader represents exactly as a number.
  constexpr std::uint64_t finish() const { return (state_ ^ (state_ >> 48U)) & 0xFFFF'FFFF'FFFFU; }

 private:
  constexpr void byte(unsigned char value) { state_ = fnv_step(state_, value); }
  std::uint64_t state_ = fnv_offset;
};

// offsetof is conditionally supported for these structs; GCC and Clang support it and warn.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

// NOLINTBEGIN(bugprone-sizeof-container): the size of the object is meant
#define KEVO_MEMBER(type, member) \
  hash.add(#type "." #member).add(offsetof(type, member)).add(sizeof(type::member))

/// Adds the version of the compiler's ABI, and the layout of types of the standard library.
constexpr void add_compiler(abi_hasher& hash) {
  hash.add(sizeof(void*));
#ifdef __GXX_ABI_VERSION
  hash.add(static_cast<std::uint64_t>(__GXX_ABI_VERSION));
#endif
#ifdef _GLIBCXX_USE_CXX11_ABI
  hash.add(static_cast<std::uint64_t>(_GLIBCXX_USE_CXX11_ABI));
#endif
#ifdef _LIBCPP_ABI_VERSION
  hash.add(static_cast<std::uint64_t>(_LIBCPP_ABI_VERSION));
#endif
  hash.type<std::string>("string")
      .type<std::function<void()>>("function")
      .type<std::stop_token>("stop_token");
}

/// Adds the members of what operators are given and give back.
constexpr void add_variation(abi_hasher& hash) {
  KEVO_MEMBER(variation_request, job);
  KEVO_MEMBER(variation_request, task);
  KEVO_MEMBER(variation_request, parents);
  KEVO_MEMBER(variation_request, inspirations);
  KEVO_MEMBER(variation_request, scope);
  KEVO_MEMBER(variation_request, stop);
  KEVO_MEMBER(variation_request, services);
  KEVO_MEMBER(variation_request, results);
  KEVO_MEMBER(variation_services, lineage);
  KEVO_MEMBER(variation_services, siblings);
  KEVO_MEMBER(variation_services, children);
  KEVO_MEMBER(variation_services, seen);
  KEVO_MEMBER(variation_services, evaluate);
  KEVO_MEMBER(variation_services, evaluate_until);
  KEVO_MEMBER(variation_services, book);
  KEVO_MEMBER(variation_services, note);
  KEVO_MEMBER(variation_services, record);
  KEVO_MEMBER(variation_services, program_of);
  KEVO_MEMBER(told_result, candidate);
  KEVO_MEMBER(told_result, outcome);
  KEVO_MEMBER(told_result, score);
  KEVO_MEMBER(told_result, log_error);
  KEVO_MEMBER(told_result, cost_s);
  KEVO_MEMBER(told_result, parent);
  KEVO_MEMBER(told_result, summary);
  KEVO_MEMBER(told_result, count);
  KEVO_MEMBER(told_result, before);
  KEVO_MEMBER(candidate_snapshot, id);
  KEVO_MEMBER(candidate_snapshot, program);
  KEVO_MEMBER(candidate_snapshot, evaluation);
  KEVO_MEMBER(candidate_snapshot, operator_name);
  KEVO_MEMBER(candidate_snapshot, parents);
  KEVO_MEMBER(candidate_snapshot, summary);
}

/// Adds the members of what evaluations are asked for and give.
constexpr void add_evaluation(abi_hasher& hash) {
  KEVO_MEMBER(evaluation_request, program);
  KEVO_MEMBER(evaluation_request, wanted);
  KEVO_MEMBER(evaluation_request, best_speedup);
  KEVO_MEMBER(evaluation_request, fresh);
  KEVO_MEMBER(evaluation_request, stop);
  KEVO_MEMBER(evaluation_request, measuring);
  KEVO_MEMBER(evaluation, outcome);
  KEVO_MEMBER(evaluation, speedup);
  KEVO_MEMBER(evaluation, speedup_interval);
  KEVO_MEMBER(evaluation, score);
  KEVO_MEMBER(evaluation, stage);
  KEVO_MEMBER(evaluation, workloads);
  KEVO_MEMBER(evaluation, measures);
  KEVO_MEMBER(evaluation, feedback);
  KEVO_MEMBER(evaluation, reasons);
  KEVO_MEMBER(evaluation, cost);
  KEVO_MEMBER(evaluation, context);
}

/// Adds the members of what selectors, archives and stop rules are given and give back.
constexpr void add_search(abi_hasher& hash) {
  KEVO_MEMBER(selection, parents);
  KEVO_MEMBER(selection, inspirations);
  KEVO_MEMBER(selection, scope);
  KEVO_MEMBER(selection, reevaluate);
  KEVO_MEMBER(observation, candidate);
  KEVO_MEMBER(observation, parents);
  KEVO_MEMBER(observation, score);
  KEVO_MEMBER(observation, archived);
  KEVO_MEMBER(observation, job);
  KEVO_MEMBER(observation, measured);
  KEVO_MEMBER(observation, confirmed);
  KEVO_MEMBER(observation, result);
  KEVO_MEMBER(pending_work, measurements);
  KEVO_MEMBER(archive_entry, id);
  KEVO_MEMBER(archive_entry, score);
  KEVO_MEMBER(archive_entry, measures);
  KEVO_MEMBER(archive_entry, source);
  KEVO_MEMBER(progress, ledger);
  KEVO_MEMBER(progress, best_speedup);
  KEVO_MEMBER(progress, best_score);
  KEVO_MEMBER(progress, since_improvement);
  KEVO_MEMBER(progress, best_undecided);
}

/// Adds the members of programs and tasks.
constexpr void add_problem(abi_hasher& hash) {
  KEVO_MEMBER(program, language);
  KEVO_MEMBER(program, files);
  KEVO_MEMBER(kevo::task, name);
  KEVO_MEMBER(kevo::task, axes);
  KEVO_MEMBER(kevo::task, inputs);
  KEVO_MEMBER(kevo::task, outputs);
  KEVO_MEMBER(kevo::task, workloads);
  KEVO_MEMBER(kevo::task, seeds);
  KEVO_MEMBER(kevo::task, baselines);
}

/// Adds the members of the rules of rewards.
constexpr void add_rewards(abi_hasher& hash) {
  KEVO_MEMBER(reward_rule, name);
  KEVO_MEMBER(reward_rule, check);
}

/// Adds name, offset and size of members of the structs that plug-ins access.
constexpr void add_structs(abi_hasher& hash) {
  add_variation(hash);
  add_evaluation(hash);
  add_search(hash);
  add_problem(hash);
  add_rewards(hash);
}

#undef KEVO_MEMBER
// NOLINTEND(bugprone-sizeof-container)
#pragma GCC diagnostic pop

/// Adds size and alignment of all types that are passed by value or by reference. This also covers members
/// that are not named in add_structs.
constexpr void add_types(abi_hasher& hash) {
  hash.type<settings>("settings").type<settings_node>("settings_node").type<error>("error");
  hash.type<any_selector>("any_selector").type<any_variation>("any_variation");
  hash.type<any_portfolio>("any_portfolio").type<any_archive>("any_archive").type<any_fitness>("any_fitness");
  hash.type<any_stop_rule>("any_stop_rule").type<any_ranker>("any_ranker");
  hash.type<any_proposal_filter>("any_proposal_filter").type<unevaluated>("unevaluated");
  hash.type<filter_verdict>("filter_verdict").type<pending_work>("pending_work");
  hash.type<population_view>("population_view").type<population_row>("population_row").type<rng>("rng");
  hash.type<variation_request>("variation_request").type<variation_services>("variation_services");
  hash.type<proposal>("proposal").type<no_proposal>("no_proposal").type<candidate_snapshot>("snapshot");
  hash.type<evaluation_request>("evaluation_request").type<evaluation>("evaluation");
  hash.type<workload_result>("workload_result").type<selection>("selection").type<observation>("observation");
  hash.type<archive_entry>("archive_entry").type<archive_result>("archive_result").type<elite>("elite");
  hash.type<operator_turn>("operator_turn").type<operator_credit>("operator_credit");
  hash.type<progress>("progress").type<ledger>("ledger").type<spending>("spending");
  hash.type<program>("program").type<kevo::task>("task").type<workload>("workload").type<tensor>("tensor");
  hash.type<model_call>("model_call").type<reward_rule>("reward_rule");
}

}  // namespace kevo::detail
