#include "src/export/model_samples.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "src/export/recorded_result.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

std::optional<model_turn> turn_of(model_call call) {
  boost::system::error_code failed;
  const json::value response = json::parse(call.response, failed);
  if (failed || !response.is_object()) return std::nullopt;
  const auto* content = response.as_object().if_contains("content");
  if (content == nullptr || !content->is_string() || content->as_string().empty()) return std::nullopt;
  model_turn turn;
  const json::value messages = json::parse(call.messages, failed);
  // Requests for embeddings send ids of texts: no conversation.
  if (failed || !messages.is_array() || messages.as_array().empty() || !messages.as_array()[0].is_object())
    return std::nullopt;
  turn.messages = messages.as_array();
  turn.reply = std::string(content->as_string());
  turn.call = std::move(call);
  return turn;
}

class sample_reader {
 public:
  sample_reader(const journal& record, const std::vector<reward_rule>& rules)
      : record_(record), store_(record.store()), rules_(rules) {}

  model_samples read() {
    record_.for_each_model_call([this](ticket job, std::int64_t number) { calls_[job].push_back(number); });
    record_.for_each_event([this](const event& e) {
      if (const auto* asked = std::get_if<variation_asked>(&e.payload)) {
        open_[asked->job] = {e.sequence, *asked, {}};
      } else if (const auto* told = std::get_if<variation_told>(&e.payload)) {
        see(e.sequence, *told);
      }
    });
    for (const auto& [job, asked] : open_) made_.left_out.unfinished += calls_.contains(job) ? 1 : 0;
    return std::move(made_);
  }

 private:
  /// A variation that was asked for, with the programs that it has told so far.
  struct open_turn {
    std::uint64_t asked_at = 0;
    variation_asked asked;
    std::vector<std::pair<std::uint64_t, variation_told>> told;
  };

  void see(std::uint64_t step, const variation_told& told) {
    const auto begun = open_.find(told.job);
    if (begun == open_.end()) return;
    begun->second.told.emplace_back(step, told);
    if (told.further) return;
    end(begun->second);
    open_.erase(begun);
  }

  /// The replies of a variation, in the order of their records: those of its operator, without what others
  /// were asked meanwhile (judges, summaries), if it asked under its own name.
  std::vector<model_turn> turns_of(ticket job, const std::string& operator_name) const {
    std::vector<model_turn> all;
    const auto calls = calls_.find(job);
    if (calls == calls_.end()) return all;
    for (auto& call : record_.model_calls(calls->second)) {
      if (auto turn = turn_of(std::move(call))) all.push_back(std::move(*turn));
    }
    const auto foreign = [&](const model_turn& one) { return one.call.operator_name != operator_name; };
    if (!std::all_of(all.begin(), all.end(), foreign)) std::erase_if(all, foreign);
    return all;
  }

  /// The conversation that led to reply `sample`: up to the turn `last`, what preceded the replies to one
  /// prompt, and that reply.
  static std::vector<model_turn> conversation(const std::vector<model_turn>& all, std::int64_t sample,
                                              std::int64_t last) {
    std::vector<model_turn> turns;
    for (const auto& one : all) {
      const bool own = one.call.sample == sample && one.call.turn <= last;
      const bool before = one.call.sample == 0 && one.call.turn < last && !sampled(one);
      if (own || before) turns.push_back(one);
    }
    return turns;
  }
  /// Whether a reply is one of several to one prompt.
  static bool sampled(const model_turn& one) {
    return one.call.sampling.find("\"samples\"") != std::string::npos;
  }

  void end(const open_turn& turn) {
    const auto& [step, last] = turn.told.back();
    const auto calls = calls_.find(last.job);
    if (calls == calls_.end()) return;
    const std::vector<model_turn> all = turns_of(last.job, record_.operator_name(turn.asked.op));
    if (all.empty()) {
      ++made_.left_out.without_reply;
      return;
    }
    const auto last_turn = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
                             return a.call.turn < b.call.turn;
                           })->call.turn;
    std::set<std::pair<std::int64_t, std::int64_t>> used;  // turn and sample
    for (const auto& [at, told] : turn.told) {
      if (told.further || told.program || std::none_of(all.begin(), all.end(), sampled)) {
        add(at, told, turn, conversation(all, told.sample, last_turn));
        if (!made_.samples.empty())
          used.emplace(made_.samples.back().last().call.turn, made_.samples.back().last().call.sample);
      }
    }
    for (const auto& one : all) {
      if (!sampled(one) || used.contains({one.call.turn, one.call.sample})) continue;
      variation_told nothing{.job = last.job};
      if (add(step, nothing, turn, conversation(all, one.call.sample, one.call.turn)))
        made_.samples.back().unread = true;
    }
  }

  bool add(std::uint64_t step, const variation_told& told, const open_turn& turn,
           std::vector<model_turn> turns) {
    if (turns.empty()) return false;
    model_sample sample;
    sample.turns = std::move(turns);
    sample.step = step;
    sample.operator_name = record_.operator_name(turn.asked.op);
    sample.parents = turn.asked.selection.parents;
    sample.candidate = told.candidate;
    sample.ended = told.duplicate ? "known" : told.candidate != no_candidate ? "candidate" : "nothing";
    for (const candidate_id id : sample.parents) {
      const auto all = record_.evaluations(id);
      const auto* known = latest_before(all, turn.asked_at);
      if (known == nullptr || !known->result->valid()) continue;
      if (!sample.parent || known->result->speedup > sample.parent->speedup) sample.parent = *known->result;
    }
    judge(sample);
    made_.samples.push_back(std::move(sample));
    return true;
  }

  void judge(model_sample& sample) const {
    if (sample.candidate == no_candidate) return;
    const auto all = record_.evaluations(sample.candidate);
    if (all.empty()) return;
    sample.result = *all.back().result;
    if (sample.result->stage == evaluation_stage::confirmed) {
      for (const auto& one : all) {
        if (&one != &all.back() && one.result->valid() && one.result->speedup > 0)
          sample.measured_before = one.result->speedup;
      }
    }
    const evaluation* parent = sample.parent ? &*sample.parent : nullptr;
    const auto known = record_.candidate(sample.candidate);
    const auto source = known ? store_.program_of(known->program) : nullptr;
    sample.terms = source ? reward_terms_of(*source, *sample.result, parent, rules_)
                          : reward_terms_of(*sample.result, parent);
  }

  const journal& record_;
  candidate_store store_;
  const std::vector<reward_rule>& rules_;
  std::map<ticket, std::vector<std::int64_t>> calls_;
  std::map<ticket, open_turn> open_;
  model_samples made_;
};

}  // namespace

model_samples read_model_samples(const journal& record, const std::vector<reward_rule>& rules) {
  return sample_reader(record, rules).read();
}

}  // namespace kevo
