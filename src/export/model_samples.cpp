#include "src/export/model_samples.hpp"

#include <map>
#include <memory>
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
      if (const auto* asked = std::get_if<variation_asked>(&e.what)) {
        open_[asked->job] = {e.sequence, *asked};
      } else if (const auto* told = std::get_if<variation_told>(&e.what)) {
        const auto begun = open_.extract(told->job);
        if (begun) end(e.sequence, *told, begun.mapped().first, begun.mapped().second);
      }
    });
    for (const auto& [job, asked] : open_) made_.left_out.unfinished += calls_.contains(job) ? 1 : 0;
    return std::move(made_);
  }

 private:
  void end(std::uint64_t step, const variation_told& told, std::uint64_t asked_at,
           const variation_asked& asked) {
    const auto calls = calls_.find(told.job);
    if (calls == calls_.end()) return;
    model_sample sample;
    for (auto& call : record_.model_calls(calls->second)) {
      if (auto turn = turn_of(std::move(call))) sample.turns.push_back(std::move(*turn));
    }
    if (sample.turns.empty()) {
      ++made_.left_out.without_reply;
      return;
    }
    sample.step = step;
    sample.operator_name = record_.operator_name(asked.op);
    sample.parents = asked.selection.parents;
    sample.candidate = told.candidate;
    sample.ended = told.duplicate ? "known" : told.candidate != no_candidate ? "candidate" : "nothing";
    for (const candidate_id id : sample.parents) {
      const auto all = record_.evaluations(id);
      const auto* known = latest_before(all, asked_at);
      if (known == nullptr || !known->result->valid()) continue;
      if (!sample.parent || known->result->speedup > sample.parent->speedup) sample.parent = *known->result;
    }
    judge(sample);
    made_.samples.push_back(std::move(sample));
  }

  void judge(model_sample& sample) const {
    if (sample.candidate == no_candidate) return;
    const auto all = record_.evaluations(sample.candidate);
    if (all.empty()) return;
    sample.result = *all.back().result;
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
  std::map<ticket, std::pair<std::uint64_t, variation_asked>> open_;
  model_samples made_;
};

}  // namespace

model_samples read_model_samples(const journal& record, const std::vector<reward_rule>& rules) {
  return sample_reader(record, rules).read();
}

}  // namespace kevo
