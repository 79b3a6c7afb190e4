#include "src/export/training.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/detail/fnv.hpp>
#include <kevo/error.hpp>
#include <kevo/learn/advantage.hpp>

#include "src/export/model_samples.hpp"
#include "src/export/recorded_result.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

json::value document(const std::string& text) {
  if (text.empty()) return nullptr;
  boost::system::error_code failed;
  auto value = json::parse(text, failed);
  return failed ? json::value(text) : value;
}

json::value result_of(const model_sample& sample) {
  return sample.result ? json::value(result_json(*sample.result)) : json::value(nullptr);
}

json::object terms_of(const reward_terms& terms) {
  json::array broken;
  for (const auto& rule : terms.broken_rules)
    broken.push_back(json::object{{"rule", rule.rule}, {"reason", rule.reason}});
  return {{"built", terms.built},
          {"ran", terms.ran},
          {"correct", terms.correct},
          {"cheated", terms.cheated},
          {"speedup", terms.speedup},
          {"parent_speedup", terms.parent_speedup},
          {"own_kernel_share",
           terms.own_kernel_share ? json::value(*terms.own_kernel_share) : json::value(nullptr)},
          {"broken_rules", std::move(broken)}};
}

json::object rewards_of(const reward_terms& terms, bool supported) {
  json::object all;
  for (const auto& recipe : reward_recipes()) all[recipe] = *reward_of_recipe(recipe, terms);
  if (!supported) all["cuda_l1"] = nullptr;
  return all;
}

double reward_of(const model_sample& sample, const training_options& options) {
  return reward_of_recipe(options.recipe, sample.terms).value();
}

json::object origin_of(const journal& record, const model_sample& sample) {
  json::array parents;
  for (const candidate_id id : sample.parents) parents.push_back(id);
  return {
      {"run", record.header().run_name},
      {"task_id", record.header().task_id},
      {"step", sample.step},
      {"operator", sample.operator_name},
      {"parents", std::move(parents)},
      {"candidate", sample.candidate == no_candidate ? json::value(nullptr) : json::value(sample.candidate)},
      {"model", sample.last().call.model},
      {"policy_version", sample.last().call.policy_version},
      {"turn", sample.last().call.turn}};
}

/// Replies to the same messages by the same model are samples of one prompt.
std::string prompt_of(const model_sample& sample) {
  return sample.last().call.model + '\n' + json::serialize(sample.last().messages);
}

std::string label_of(const std::string& prompt) {
  return fmt::format("{:016x}", detail::fnv1a(prompt));
}

/// Keeps the prompts at which the search advanced: a reply to them gave a program that was faster, when it
/// was made, than its parent and all programs of replies before it (the "best steps" of Kernel-Smith, arXiv
/// 2603.28342, on which it trains with reinforcement). All replies to such a prompt stay, because they are a
/// group. Returns the number of samples that were removed. O(n log n).
std::size_t keep_best_steps(std::vector<model_sample>& samples) {
  std::set<std::string> kept;
  double best = 0;
  for (const auto& sample : samples) {
    best = std::max(best, sample.terms.parent_speedup);
    if (!sample.terms.eligible() || sample.terms.speedup <= best) continue;
    best = sample.terms.speedup;
    kept.insert(prompt_of(sample));
  }
  return std::erase_if(samples, [&](const model_sample& s) { return !kept.contains(prompt_of(s)); });
}

/// Whether a speedup is a jump that CUDA-L1 measures once more, and what came of that.
enum class jump : std::uint8_t { none, supported, measured_once, contradicted };

/// For each sample in order, whether its speedup is a jump that CUDA-L1 measures once more (arXiv
/// 2507.14111), and what a second measurement in new processes says. A jump without support does not count as
/// the best speedup for later samples. O(n).
std::vector<jump> jumps_of(const std::vector<model_sample>& samples) {
  std::vector<jump> all;
  all.reserve(samples.size());
  double best = 0;
  for (const auto& sample : samples) {
    const auto& terms = sample.terms;
    best = std::max(best, terms.parent_speedup);
    jump what = jump::none;
    if (terms.eligible() && cuda_l1_doubts(terms.speedup, best)) {
      what = !sample.measured_before                                         ? jump::measured_once
             : cuda_l1_agrees(*sample.measured_before, sample.terms.speedup) ? jump::supported
                                                                             : jump::contradicted;
    }
    if (terms.eligible() && what <= jump::supported) best = std::max(best, terms.speedup);
    all.push_back(what);
  }
  return all;
}

/// Removes the samples whose reward CUDA-L1 would not pay, and counts them.
void leave_out_jumps(std::vector<model_sample>& samples, training_summary& summary) {
  const auto jumps = jumps_of(samples);
  std::vector<model_sample> kept;
  kept.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (jumps[i] <= jump::supported)
      kept.push_back(std::move(samples[i]));
    else
      ++summary.left_out[jumps[i] == jump::measured_once
                             ? "the speedup is a jump that was not measured twice"
                             : "two measurements of the speedup differ by more than 10 %"];
  }
  samples = std::move(kept);
}

/// The samples that an option leaves in; the others are counted.
std::vector<model_sample> wanted_samples(const journal& record, const training_options& options,
                                         training_summary& summary) {
  if (!reward_of_recipe(options.recipe, {}))
    throw error(error_code::usage, "unknown recipe '" + options.recipe + "'", {.file = {}, .key = "--reward"},
                fmt::format("the recipes are {}", fmt::join(reward_recipes(), ", ")));
  auto read = read_model_samples(record, options.rules);
  const auto count = [&](const char* why, std::size_t n) {
    if (n > 0) summary.left_out[why] += n;
  };
  count("no reply of a model", read.left_out.without_reply);
  count("the turn had not ended", read.left_out.unfinished);
  if (options.confirmed) {
    count("the result was not confirmed", std::erase_if(read.samples, [](const model_sample& s) {
            return s.result && s.result->valid() && s.result->stage != evaluation_stage::confirmed;
          }));
  }
  if (options.best_steps)
    count("no reply to the prompt gave a program faster than all before it", keep_best_steps(read.samples));
  return std::move(read.samples);
}

/// Samples whose last reply was judged; with `unread`, also those of several replies that had no program.
std::vector<model_sample> judged_samples(const journal& record, const training_options& options,
                                         training_summary& summary, bool unread = false) {
  auto samples = wanted_samples(record, options, summary);
  if (options.recipe == "cuda_l1") leave_out_jumps(samples, summary);
  const auto dropped = std::erase_if(
      samples, [&](const model_sample& s) { return !(unread ? s.judged() : s.result.has_value()); });
  if (dropped > 0) summary.left_out["no program was evaluated"] += dropped;
  return samples;
}

json::array answer_of(const model_sample& sample) {
  return {json::object{{"role", "assistant"}, {"content", sample.last().reply}}};
}

using groups = std::vector<std::pair<std::string, std::vector<const model_sample*>>>;

groups groups_of(const std::vector<model_sample>& samples) {
  groups all;
  std::map<std::string, std::size_t> known;
  for (const auto& sample : samples) {
    const auto [at, fresh] = known.emplace(prompt_of(sample), all.size());
    if (fresh) all.emplace_back(label_of(at->first), std::vector<const model_sample*>());
    all[at->second].second.push_back(&sample);
  }
  return all;
}

std::string rules_in_words(const std::vector<reward_rule>& rules) {
  if (rules.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < rules.size(); ++i)
    names += (i == 0 ? "" : i + 1 == rules.size() ? " and " : ", ") + rules[i].name;
  return (rules.size() == 1 ? ", with the rule " : ", with the rules ") + names;
}

}  // namespace

training_summary export_trajectories(const journal& record, const training_options& options,
                                     std::ostream& out) {
  training_summary summary;
  const auto samples = wanted_samples(record, options, summary);
  const auto jumps = jumps_of(samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto& sample = samples[i];
    json::object o = origin_of(record, sample);
    o["ended"] = sample.ended;
    json::array turns;
    for (const auto& turn : sample.turns) {
      turns.push_back(json::object{{"turn", turn.call.turn},
                                   {"model", turn.call.model},
                                   {"messages", turn.messages},
                                   {"reply", turn.reply},
                                   {"prompt_token_ids", document(turn.call.prompt_token_ids)},
                                   {"token_ids", document(turn.call.token_ids)},
                                   {"log_probabilities", document(turn.call.log_probabilities)},
                                   {"sampling", document(turn.call.sampling)},
                                   {"policy_version", turn.call.policy_version},
                                   {"tokens_in", turn.call.tokens_in},
                                   {"tokens_out", turn.call.tokens_out}});
    }
    o["group"] = label_of(prompt_of(sample));
    o["turns"] = std::move(turns);
    o["result"] = result_of(sample);
    o["reward_terms"] = sample.judged() ? json::value(terms_of(sample.terms)) : json::value(nullptr);
    o["rewards"] = sample.judged() ? json::value(rewards_of(sample.terms, jumps[i] <= jump::supported))
                                   : json::value(nullptr);
    write_line(o, out);
    ++summary.rows;
  }
  return summary;
}

training_summary export_sft(const journal& record, const training_options& options, std::ostream& out) {
  training_summary summary;
  for (const auto& sample : judged_samples(record, options, summary)) {
    const auto& terms = sample.terms;
    if (!terms.eligible()) {
      ++summary.left_out["the program is not correct, cheated, or breaks a rule"];
      continue;
    }
    if (terms.parent_speedup > 0 && terms.speedup <= terms.parent_speedup) {
      ++summary.left_out["the program is not faster than its parent"];
      continue;
    }
    json::object o = origin_of(record, sample);
    json::array messages = sample.last().messages;
    messages.push_back(answer_of(sample)[0]);
    o["messages"] = std::move(messages);
    o["reward"] = reward_of(sample, options);
    o["result"] = result_of(sample);
    write_line(o, out);
    ++summary.rows;
  }
  return summary;
}

training_summary export_dpo(const journal& record, const training_options& options, std::ostream& out) {
  training_summary summary;
  const auto samples = judged_samples(record, options, summary);
  for (const auto& [label, members] : groups_of(samples)) {
    std::vector<sibling> siblings;
    siblings.reserve(members.size());
    for (const auto* sample : members)
      siblings.push_back({sample->terms.eligible(), sample->result->speedup_interval});
    const auto pairs = preference_pairs(siblings);
    if (pairs.empty())
      summary.left_out["no other reply to the prompt differs by more than its uncertainty"] += members.size();
    for (const auto& [better, worse] : pairs) {
      const auto& chosen = *members[better];
      const auto& rejected = *members[worse];
      if (chosen.last().reply == rejected.last().reply) continue;
      json::object o = origin_of(record, chosen);
      o["group"] = label;
      o["prompt"] = chosen.last().messages;
      o["chosen"] = answer_of(chosen);
      o["rejected"] = answer_of(rejected);
      o["chosen_result"] = result_of(chosen);
      o["rejected_result"] = result_of(rejected);
      write_line(o, out);
      ++summary.rows;
    }
  }
  return summary;
}

training_summary export_grpo(const journal& record, const training_options& options, std::ostream& out) {
  training_summary summary;
  const auto samples = judged_samples(record, options, summary, true);
  for (const auto& [label, members] : groups_of(samples)) {
    std::vector<double> rewards;
    rewards.reserve(members.size());
    for (const auto* sample : members) rewards.push_back(reward_of(*sample, options));
    const auto grpo = grpo_advantages(rewards);
    const auto trloo = trloo_advantages(rewards);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto& sample = *members[i];
      const auto& call = sample.last().call;
      json::object o = origin_of(record, sample);
      o["group"] = label;
      o["group_size"] = members.size();
      o["prompt"] = sample.last().messages;
      o["completion"] = answer_of(sample);
      o["reward"] = rewards[i];
      o["reward_terms"] = terms_of(sample.terms);
      o["advantage_grpo"] = grpo[i];
      o["advantage_trloo"] = members.size() > 1 ? json::value(trloo[i]) : json::value(nullptr);
      o["token_ids"] = document(call.token_ids);
      o["log_probabilities"] = document(call.log_probabilities);
      // The names under which verl reads a row.
      o["data_source"] = "kevo/" + record.header().run_name;
      o["ability"] = "kernel";
      o["reward_model"] = json::object{{"style", "rule"}, {"ground_truth", record.header().task_path}};
      o["extra_info"] = json::object{{"index", static_cast<std::int64_t>(summary.rows)},
                                     {"split", "train"},
                                     {"task", record.header().task_path},
                                     {"task_id", record.header().task_id},
                                     {"group", label}};
      write_line(o, out);
      ++summary.rows;
    }
  }
  return summary;
}

std::string training_card(const journal& record, std::string_view format, const training_options& options,
                          const training_summary& summary) {
  std::string text = fmt::format(
      "# {} data of the run {}\n\n"
      "* rows: {}\n* task: {} (content id {})\n* the run was made by kevo {}\n"
      "* reward: {}{}\n* results: {}\n\n",
      format, record.header().run_name, summary.rows, record.header().task_path, record.header().task_id,
      record.header().kevo_version, options.recipe, rules_in_words(options.rules),
      options.confirmed ? "confirmed ones of valid programs"
                        : "the latest of each program, confirmed or not");
  text += "## Left out\n\n";
  if (summary.left_out.empty())
    text += summary.rows > 0 ? "Nothing.\n" : "Nothing: the run has no replies of a language model.\n";
  for (const auto& [why, count] : summary.left_out) text += fmt::format("* {}: {}\n", why, count);
  return text;
}

}  // namespace kevo
