#include "src/llm/skills.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <kevo/score.hpp>

namespace kevo {
namespace {
constexpr std::size_t remembered_attempts = 1024;
}

std::string name_of(const skill_case& one) {
  return "Candidate #" + std::to_string(one.candidate) + " ";
}

void skill_tracker::use(std::shared_ptr<knowledge_base> pages) {
  const std::scoped_lock lock(guard_);
  pages_ = std::move(pages);
}

void skill_tracker::attempt(std::uint64_t job, skill_attempt what) {
  const std::scoped_lock lock(guard_);
  if (!pages_ || !pages_->learns()) return;
  attempts_.insert_or_assign(job, std::move(what));
  while (attempts_.size() > remembered_attempts) attempts_.erase(attempts_.begin());
}

void skill_tracker::observe(const observation& seen) {
  const std::scoped_lock lock(guard_);
  const auto it = attempts_.find(seen.job);
  if (seen.job == 0 || it == attempts_.end()) return;
  skill_attempt what = std::move(it->second);
  attempts_.erase(it);
  if (!seen.ranked() || !seen.parent_score) return;
  if (relative_gain(seen.score, *seen.parent_score) < skill_gain - 1) return;
  waiting_[seen.candidate] = {.attempt = std::move(what),
                              .candidate = seen.candidate,
                              .score = seen.score,
                              .parent_score = *seen.parent_score};
  while (waiting_.size() > remembered_attempts) waiting_.erase(waiting_.begin());
}

void skill_tracker::observe_event(const event& each) {
  const std::scoped_lock lock(guard_);
  if (const auto* crowned = std::get_if<champion_crowned>(&each.payload)) {
    const auto it = waiting_.find(crowned->candidate);
    if (it == waiting_.end() || !crowned->verdict.confirmed()) return;
    it->second.speedup = crowned->speedup;
    due_.push_back(std::move(it->second));
    waiting_.erase(it);
  } else if (const auto* told = std::get_if<evaluation_told>(&each.payload)) {
    if (!told->result->valid()) return withdraw(told->candidate);
    const auto it = waiting_.find(told->candidate);
    if (it != waiting_.end()) it->second.device = told->result->device;
  }
}

/// The caller holds the lock.
void skill_tracker::withdraw(candidate_id who) {
  waiting_.erase(who);
  std::erase_if(due_, [&](const skill_case& one) { return one.candidate == who; });
  taken_.erase(who);
  const auto page = learned_.find(who);
  if (page == learned_.end()) return;
  pages_->withdraw(page->second);
  learned_.erase(page);
}

std::optional<skill_case> skill_tracker::take_due(std::string_view prompt) {
  const std::scoped_lock lock(guard_);
  const auto it = std::find_if(due_.begin(), due_.end(), [&](const skill_case& one) {
    return prompt.empty() || prompt.find(name_of(one)) != std::string_view::npos;
  });
  if (it == due_.end()) return std::nullopt;
  skill_case taken = std::move(*it);
  due_.erase(it);
  taken_.insert(taken.candidate);
  return taken;
}

void skill_tracker::learn(const skill_case& from, knowledge_page page) {
  const std::scoped_lock lock(guard_);
  if (!pages_ || taken_.erase(from.candidate) == 0) return;
  learned_[from.candidate] = pages_->add_skill(std::move(page));
}

}  // namespace kevo
