#include "src/serve/fair_queue.hpp"

#include <algorithm>

namespace kevo::serve {

void fair_queue::put(const std::string& key, const std::string& tenant, const terms& at) {
  waiting_job& job = jobs_[key];
  for (const auto& owner : job.tenants) shares_[owner].waiting.erase({job.at, key});
  job.at = place(-at.priority, at.deadline, at.number);
  job.tenants.insert(tenant);
  for (const auto& owner : job.tenants) {
    share& of = shares_[owner];
    if (of.waiting.empty()) of.had_s = std::max(of.had_s, now_s_);
    of.waiting.insert({job.at, key});
  }
}

std::map<std::string, fair_queue::share>::const_iterator fair_queue::next_share() const {
  auto found = shares_.end();
  for (auto each = shares_.begin(); each != shares_.end(); ++each) {
    if (each->second.waiting.empty()) continue;
    if (found == shares_.end() || std::pair(each->second.had_s, each->second.waiting.begin()->first) <
                                      std::pair(found->second.had_s, found->second.waiting.begin()->first))
      found = each;
  }
  return found;
}

std::optional<std::string> fair_queue::next() const {
  const auto found = next_share();
  if (found == shares_.end()) return std::nullopt;
  return found->second.waiting.begin()->second;
}

fair_queue::turn fair_queue::take() {
  const auto found = next_share();
  turn taken{found->second.waiting.begin()->second, found->first, usual_s_};
  const waiting_job& job = jobs_.at(taken.key);
  for (const auto& owner : job.tenants) shares_[owner].waiting.erase({job.at, taken.key});
  jobs_.erase(taken.key);
  share& of = shares_[taken.tenant];
  now_s_ = of.had_s;
  of.had_s += taken.charged_s;
  return taken;
}

void fair_queue::settle(const turn& taken, double needed_s) {
  constexpr double weight = 0.1;
  shares_[taken.tenant].had_s += needed_s - taken.charged_s;
  usual_s_ += weight * (needed_s - usual_s_);
}

std::size_t fair_queue::size_of(const std::string& tenant) const {
  const auto found = shares_.find(tenant);
  return found == shares_.end() ? 0 : found->second.waiting.size();
}

std::size_t fair_queue::tenants() const {
  return static_cast<std::size_t>(std::count_if(shares_.begin(), shares_.end(),
                                                [](const auto& one) { return !one.second.waiting.empty(); }));
}

std::int64_t fair_queue::before(const std::string& tenant, const std::string& key, std::int64_t most) const {
  const auto job = jobs_.find(key);
  const auto of = shares_.find(tenant);
  if (job == jobs_.end() || of == shares_.end() || !job->second.tenants.contains(tenant)) return -1;
  std::int64_t count = 0;
  const std::pair wanted(job->second.at, key);
  for (auto each = of->second.waiting.begin(); *each < wanted && count < most; ++each) ++count;
  return count;
}

}  // namespace kevo::serve
