#include "fitness/machine/core_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sched.h>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "fitness/machine/cores.hpp"

namespace kevo {
namespace {

enum class claim_of { nobody, this_process, another };

struct claim {
  claim_of owner = claim_of::nobody;
  detail::descriptor held;  ///< if nobody had claimed the processor before
};

// The claim is the lock on the file; the process number in it tells this process's own claims from others'.
claim try_claim(const std::string& folder, int cpu) {
  const std::string path = folder + "/kevo-core-" + std::to_string(cpu) + ".lock";
  detail::descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file)
    file =
        detail::descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));  // another user's file
  if (!file) return {claim_of::another, {}};
  ::fchmod(file.get(), 0666);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    char text[32] = {};
    const bool known = ::pread(file.get(), text, sizeof text - 1, 0) > 0;
    return {known && std::atoi(text) == ::getpid() ? claim_of::this_process : claim_of::another, {}};
  }
  const std::string self = std::to_string(::getpid()) + '\n';
  if (::ftruncate(file.get(), 0) == 0)
    static_cast<void>(::pwrite(file.get(), self.data(), self.size(), 0) < 0);
  return {claim_of::nobody, std::move(file)};
}

/// The claims on all of `cpus`; nothing if another process has one of them.
std::optional<std::vector<detail::descriptor>> try_claims(const std::string& folder,
                                                          const std::vector<int>& cpus) {
  std::vector<detail::descriptor> all;
  for (const int cpu : cpus) {
    claim one = try_claim(folder, cpu);
    if (one.owner == claim_of::another) return std::nullopt;
    if (one.held) all.push_back(std::move(one.held));
  }
  return all;
}

/// The processors of the cores that a plan uses.
std::vector<int> whole_cores(const std::vector<std::vector<int>>& cores, const core_plan& plan) {
  std::vector<int> cpus;
  for (const auto& core : cores) {
    const bool used = std::any_of(core.begin(), core.end(), [&plan](int cpu) {
      return cpu == plan.controller || std::count(plan.workers.begin(), plan.workers.end(), cpu) > 0;
    });
    if (used) cpus.insert(cpus.end(), core.begin(), core.end());
  }
  return cpus;
}

}  // namespace

std::vector<std::vector<int>> physical_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(::getpid(), sizeof set, &set) != 0) return {{0}};
  std::map<std::string, std::size_t> known;  // by the kernel's list of a core's hardware threads
  std::vector<std::vector<int>> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::string siblings;
    if (!std::getline(file, siblings) || siblings.empty()) siblings = "cpu " + std::to_string(cpu);
    const auto [at, is_new] = known.try_emplace(siblings, cores.size());
    if (is_new) cores.emplace_back();
    cores[at->second].push_back(cpu);
  }
  return cores;
}

std::size_t measuring_places(const std::vector<std::vector<int>>& cores, int threads) {
  const auto each = static_cast<std::size_t>(std::max(threads, 1)) + 1;
  constexpr std::size_t for_builds = 2;
  if (cores.size() < each + for_builds) return 1;
  return (cores.size() - for_builds) / each;
}

core_plan plan_cores(const std::vector<std::vector<int>>& cores, int threads, std::size_t place) {
  const auto wanted = static_cast<std::size_t>(std::max(threads, 1));
  std::vector<int> all;
  for (const auto& core : cores) all.insert(all.end(), core.begin(), core.end());
  std::sort(all.begin(), all.end());
  core_plan plan;
  plan.shared = all.size() < wanted + 1;
  plan.few = all.size() < wanted + 3;
  // One processor of each core, where there are as many cores.
  std::vector<int> from = all;
  if (cores.size() >= wanted + 1) {
    from.clear();
    for (const auto& core : cores) from.push_back(core.back());
  }
  if (!plan.shared) plan.controller = cores.size() >= wanted + 1 ? cores[place].front() : from.front();
  const std::size_t count = std::min(wanted, from.size());
  const auto end = from.end() - static_cast<std::ptrdiff_t>(place * count);
  plan.workers.assign(end - static_cast<std::ptrdiff_t>(count), end);
  std::sort(plan.workers.begin(), plan.workers.end());
  return plan;
}

core_plan plan_cores(int threads) {
  return plan_cores(physical_cores(), threads, 0);
}

claimed_cores::claimed_cores(const std::vector<std::vector<int>>& cores, int threads,
                             const std::string& folder) {
  const std::size_t places = measuring_places(cores, threads);
  for (std::size_t place = 0; place < places; ++place) {
    plan_ = plan_cores(cores, threads, place);
    if (auto claims = try_claims(folder, whole_cores(cores, plan_))) {
      claims_ = *std::move(claims);
      alone_ = true;
      return;
    }
  }
  plan_ = plan_cores(cores, threads, static_cast<std::size_t>(::getpid()) % places);
}

std::vector<std::shared_ptr<const claimed_cores>> claim_places(const std::vector<std::vector<int>>& cores,
                                                               int threads, std::size_t most,
                                                               const std::string& folder) {
  std::vector<std::shared_ptr<const claimed_cores>> all;
  const std::size_t places = measuring_places(cores, threads);
  for (std::size_t place = 0; place < places && all.size() < most; ++place) {
    core_plan plan = plan_cores(cores, threads, place);
    auto claims = try_claims(folder, whole_cores(cores, plan));
    if (!claims) continue;
    const std::shared_ptr<claimed_cores> one(new claimed_cores);
    one->plan_ = std::move(plan);
    one->alone_ = true;
    one->claims_ = *std::move(claims);
    all.push_back(one);
  }
  if (all.empty()) all.push_back(std::make_shared<const claimed_cores>(cores, threads, folder));
  return all;
}

std::size_t places_with_build_core(const std::vector<std::vector<int>>& cores, int threads) {
  const auto each = static_cast<std::size_t>(std::max(threads, 1)) + 2;
  return std::clamp<std::size_t>(cores.size() / each, 1, measuring_places(cores, threads));
}

std::vector<int> processors_beside(const std::vector<std::vector<int>>& cores,
                                   const std::vector<std::shared_ptr<const claimed_cores>>& places) {
  std::set<int> taken;
  for (const auto& place : places) {
    const auto own = whole_cores(cores, place->plan());
    taken.insert(own.begin(), own.end());
  }
  std::vector<int> rest;
  for (const auto& core : cores) {
    std::copy_if(core.begin(), core.end(), std::back_inserter(rest),
                 [&taken](int cpu) { return taken.count(cpu) == 0; });
  }
  std::sort(rest.begin(), rest.end());
  return rest;
}

}  // namespace kevo
