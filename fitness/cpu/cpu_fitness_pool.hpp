#pragma once
// `cpu_fitness_pool` of <kevo/fitness/cpu.hpp> on given cores.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fitness/cpu/cpu_fitness.hpp"

namespace kevo {

/// @param cores as `physical_cores` lists them @param folder of the lock files that claim a place
any_fitness cpu_fitness_pool(std::shared_ptr<const task> t, cpu_settings settings, std::size_t places,
                             const std::vector<std::vector<int>>& cores, const std::string& folder);

}  // namespace kevo
