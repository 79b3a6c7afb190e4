#include "src/run/recorded_turns.hpp"

#include <algorithm>
#include <utility>

#include "src/llm/language_models.hpp"
#include "src/llm/recorded_reply.hpp"

namespace kevo {

recorded_turns::recorded_turns(const journal& record, std::shared_ptr<language_models> models)
    : record_(record), models_(std::move(models)) {
  if (!models_) return;
  record_.for_each_model_call([this](ticket turn, std::int64_t number) { calls_[turn].push_back(number); });
}

std::vector<model_call> recorded_turns::calls_of(ticket turn) const {
  const auto found = calls_.find(turn);
  return found == calls_.end() ? std::vector<model_call>() : record_.model_calls(found->second);
}

std::optional<variation_result> recorded_turns::repeat(any_variation& op, variation_job& asked,
                                                       std::vector<recorded_draft> drafts) const {
  if (!holds(asked.id)) return std::nullopt;
  std::vector<model_call> calls = calls_of(asked.id);
  const bool cancelled = std::any_of(calls.begin(), calls.end(), [](const model_call& call) {
    return reply_of_json(call.response).status == reply_status::cancelled;
  });
  if (cancelled) return std::nullopt;
  variation_services services = asked.request.services ? *asked.request.services : variation_services();
  services.evaluate_until = [&drafts](const program& draft, evaluation_stage) {
    if (auto known = take_draft(drafts, id_of(draft))) return *std::move(known);
    evaluation none;
    none.feedback = "the recorded turn contains no evaluation of this draft";
    return none;
  };
  services.evaluate = [until = services.evaluate_until](const program& draft) {
    return until(draft, evaluation_stage::timed_full);
  };
  asked.request.services = std::make_shared<const variation_services>(std::move(services));
  models_->recall(asked.id, std::move(calls), true);
  variation_result result = no_proposal{};
  try {
    result = vary_or_fail(op, asked.request, asked.random);
  } catch (...) {
    models_->forget(asked.id);
    throw;
  }
  models_->forget(asked.id);
  return result;
}

spending recorded_turns::prepare(ticket turn) const {
  spending cost;
  std::vector<model_call> calls = calls_of(turn);
  for (const auto& call : calls)
    cost += {.wall_s = call.wall_s,
             .money = call.money,
             .tokens_in = call.tokens_in,
             .tokens_out = call.tokens_out};
  // What was cut short is asked anew.
  std::erase_if(calls, [](const model_call& call) {
    return reply_of_json(call.response).status == reply_status::cancelled;
  });
  // What ended the turn because no model answered is asked anew: by now one may.
  const auto in_vain = [](const model_call& call) {
    const reply_status status = reply_of_json(call.response).status;
    return status == reply_status::unauthorized || status == reply_status::disconnected ||
           status == reply_status::timed_out || status == reply_status::server_error ||
           status == reply_status::rejected;
  };
  while (!calls.empty() && in_vain(calls.back())) calls.pop_back();
  if (!calls.empty()) models_->recall(turn, std::move(calls), false);
  return cost;
}

}  // namespace kevo
