#include "fitness/cpu/cpu_fitness_pool.hpp"

#include <utility>

#include <kevo/error.hpp>

#include "fitness/build/running_builds.hpp"
#include "fitness/cpu/cpp_programs.hpp"
#include "fitness/cpu/program_kind.hpp"
#include "fitness/machine/ceilings.hpp"
#include "fitness/machine/core_plan.hpp"
#include "fitness/machine/cores.hpp"
#include "fitness/pool/device_pool.hpp"

namespace kevo {
namespace {

/// What the members have in common. Compilers keep the address of the builds.
struct shared_tools {
  running_builds running;
  std::shared_ptr<const program_kind> kind;
};

/// Measures the ceilings on the cores of one place. Call it while nothing is measured on the others.
std::shared_ptr<const ceilings> ceilings_on(const core_plan& place, const std::string& cache_dir) {
  const measuring_lock lock(place.workers);
  const pinned_thread pin(place.controller);
  return std::make_shared<const ceilings>(ceilings_of(device_name(), cache_dir));
}

}  // namespace

any_fitness cpu_fitness_pool(std::shared_ptr<const task> t, cpu_settings settings, std::size_t places,
                             const std::vector<std::vector<int>>& cores, const std::string& folder) {
  if (!t) throw error(error_code::usage, "the CPU fitness function needs a task");
  const std::size_t most = places > 0 ? places : places_with_build_core(cores, settings.threads);
  auto claims = claim_places(cores, settings.threads, most, folder);
  if (claims.size() == 1) {
    settings.cores = std::move(claims.front());
    return any_fitness(std::make_shared<cpu_fitness>(std::move(t), std::move(settings)));
  }
  settings.build_processors = processors_beside(cores, claims);
  const auto tools = std::make_shared<shared_tools>();
  tools->kind = std::make_shared<const program_kind>(cpp_programs(t, settings, &tools->running));
  // Names `tools`, so that they live as long as the kind is used.
  const std::shared_ptr<const program_kind> kind(tools, tools->kind.get());
  return any_fitness(std::make_shared<device_pool>([t = std::move(t), settings, kind, claims]() mutable {
    settings.measured_ceilings = ceilings_on(claims.front()->plan(), settings.cache_dir);
    std::vector<pooled_device> all;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      settings.cores = claims[i];
      all.push_back({static_cast<int>(i), any_fitness(std::make_shared<cpu_fitness>(t, settings, kind))});
    }
    return all;
  }));
}

any_fitness cpu_fitness_pool(std::shared_ptr<const task> t, cpu_settings settings, std::size_t places) {
  return cpu_fitness_pool(std::move(t), std::move(settings), places, physical_cores(), "/tmp");
}

}  // namespace kevo
