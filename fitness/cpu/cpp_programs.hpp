#pragma once
// Programs in C++: built by the configured compiler, served by kevo-worker-cpu.

#include <memory>

#include <kevo/task.hpp>

#include "fitness/build/running_builds.hpp"
#include "fitness/cpu/cpu_settings.hpp"
#include "fitness/cpu/program_kind.hpp"

namespace kevo {

/// @param running builds that are made to rest while a time is taken; must outlive the result
/// @throws kevo::error: input (a task that C++ programs cannot have), environment
program_kind cpp_programs(const std::shared_ptr<const task>& t, const cpu_settings& settings,
                          running_builds* running);

}  // namespace kevo
