// Several replies to one request, as training needs them: independent samples of one prompt.

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "src/llm/language_models.hpp"
#include "src/llm/recorded_reply.hpp"

namespace kevo {
namespace {

std::size_t bytes_of_reply(const chat_reply& reply) {
  return reply.content.size() + reply.reasoning.size() + 1;
}

/// Whether a model answered, however little it may help.
bool is_answer(reply_status status) {
  return status == reply_status::ok || status == reply_status::truncated || status == reply_status::empty ||
         status == reply_status::refused;
}

/// The replies of one answer, with the tokens of the answer shared out: the prompt's to the first, the others
/// by the length of what was written, because servers count them together. The sums stay the same.
std::vector<chat_reply> shared_out(chat_reply answer) {
  std::vector<chat_reply> all = std::move(answer.further);
  answer.further.clear();
  all.insert(all.begin(), std::move(answer));
  std::size_t bytes = 0;
  for (const auto& one : all) bytes += bytes_of_reply(one);
  const std::int64_t tokens = all.front().tokens_out;
  std::int64_t rest = tokens;
  for (std::size_t i = all.size(); i-- > 1;) {
    all[i].counted = all.front().counted;
    all[i].wall_s = all.front().wall_s;
    all[i].tries = all.front().tries;
    all[i].tokens_out =
        static_cast<std::int64_t>(static_cast<double>(tokens) * static_cast<double>(bytes_of_reply(all[i])) /
                                  static_cast<double>(bytes));
    rest -= all[i].tokens_out;
  }
  all.front().tokens_out = rest;
  return all;
}

}  // namespace

struct language_models::sampled {
  const variation_request& owner;
  chat_request request;  ///< for one reply
  call_plan plan;        ///< of one reply
  std::vector<std::optional<chat_reply>> replies;
  std::vector<call_place> places;      ///< of those that have no record
  std::vector<std::size_t> missing;    ///< samples that no record answers, `places` in the same order
  std::vector<std::uint64_t> numbers;  ///< of the calls in their turn, where replies come from files

  call_plan plan_for(std::size_t sample) const {
    call_plan one = plan;
    one.sample = static_cast<std::int64_t>(sample);
    if (!numbers.empty()) one.number = numbers[sample];
    one.sampling = sampling_json(request.sampling, one.sample, static_cast<std::int64_t>(replies.size()));
    return one;
  }
};

/// Asks for all that are missing by one request. What it does not answer stays missing, unless it failed in a
/// way that requests for one reply would share.
void language_models::ask_at_once(sampled& all) {
  chat_request several = all.request;
  several.replies = static_cast<std::int64_t>(all.missing.size());
  chat_reply answer = spend(plan_of(all.plan.origin, several, all.owner), all.owner);
  const std::size_t model = all.plan.origin.model;
  const bool refused = answer.status == reply_status::rejected;
  std::vector<chat_reply> got = shared_out(std::move(answer));
  const bool failed_for_all = got.size() == 1 && !refused && !is_answer(got.front().status);
  if (got.size() < all.missing.size() && !failed_for_all) {
    const std::scoped_lock lock(guard_);
    one_reply_[model] = true;
  }
  if (refused) return;
  const std::size_t count = std::min(got.size(), all.missing.size());
  for (std::size_t i = 0; i < count; ++i) {
    keep(all.plan_for(all.missing[i]), all.places[i], got[i], false, all.owner);
    all.replies[all.missing[i]] = std::move(got[i]);
  }
  for (std::size_t i = count; failed_for_all && i < all.missing.size(); ++i)
    all.replies[all.missing[i]] = all.replies[all.missing[0]];
  const auto answered = failed_for_all ? all.missing.size() : count;
  all.missing.erase(all.missing.begin(), all.missing.begin() + static_cast<std::ptrdiff_t>(answered));
  all.places.erase(all.places.begin(), all.places.begin() + static_cast<std::ptrdiff_t>(answered));
}

/// Asks for each that is missing by a request of its own, all at the same time.
void language_models::ask_each(sampled& all) {
  std::vector<std::exception_ptr> failures(all.missing.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < all.missing.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          const call_plan one = all.plan_for(all.missing[i]);
          chat_reply reply = spend(one, all.owner);
          const bool awaited = settings_.from_files && reply.status == reply_status::cancelled;
          if (!awaited) keep(one, all.places[i], reply, false, all.owner);
          all.replies[all.missing[i]] = std::move(reply);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

std::vector<chat_reply> language_models::ask(const call_origin& origin, const chat_request& request,
                                             std::size_t count, const variation_request& owner) {
  if (count < 2) return {ask(origin, request, owner)};
  remember_asked(owner.job, origin.model);
  sampled all{.owner = owner,
              .request = request,
              .plan = {},
              .replies = std::vector<std::optional<chat_reply>>(count),
              .places = {},
              .missing = {},
              .numbers = {}};
  all.request.replies = 1;
  all.plan = plan_of(origin, all.request, owner);
  for (std::size_t i = 0; i < count && settings_.from_files; ++i)
    all.numbers.push_back(files_.next_number(owner.job, origin.operator_name));
  for (std::size_t i = 0; i < count; ++i) {
    const call_plan one = all.plan_for(i);
    if ((all.replies[i] = repeat(one, owner))) continue;
    call_place place = place_of(one);
    if ((all.replies[i] = replay(place.key, place.request_id, owner))) {
      keep(one, place, *all.replies[i], true, owner);
      continue;
    }
    all.missing.push_back(i);
    all.places.push_back(std::move(place));
  }
  const bool at_once = [&] {
    const std::scoped_lock lock(guard_);
    return settings_.models[origin.model].server.dialect.several_replies && !one_reply_[origin.model] &&
           !settings_.from_files;
  }();
  if (at_once && all.missing.size() > 1) ask_at_once(all);
  if (!all.missing.empty()) ask_each(all);
  // While one is awaited, the turn goes no further: what the others hold is proposed when all are there.
  const auto awaited = std::find_if(all.replies.begin(), all.replies.end(), [this](const auto& one) {
    return settings_.from_files && one->status == reply_status::cancelled;
  });
  if (awaited != all.replies.end()) return std::vector<chat_reply>(count, **awaited);
  std::vector<chat_reply> replies;
  for (auto& one : all.replies) replies.push_back(*std::move(one));
  return replies;
}

}  // namespace kevo
