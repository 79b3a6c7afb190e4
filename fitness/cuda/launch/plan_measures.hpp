#pragma once
// What a plan says of a candidate: descriptors for archives and a word for operators.

#include <map>
#include <string>

#include "fitness/cuda/launch/device_facts.hpp"
#include "fitness/cuda/wire/module.hpp"
#include "fitness/cuda/wire/plan.hpp"

namespace kevo::cuda {

/// `occupancy`: share of a multiprocessor's threads that the plan's largest launch (by threads) keeps
/// resident, 0 to 1; `shared_bytes`: the most shared memory of a block, static and dynamic; `launches`:
/// kernels launched a call; `workspace_bytes`. To be put over `measures_of_module`.
std::map<std::string, double> measures_of_plan(const plan& p, const compiled_module& module,
                                               const device_facts& facts);

/// A line for each kernel's largest launch, as in "matmul<64>: grid 64x64, block 256, 16384 bytes of shared
/// memory, 2 blocks a multiprocessor (25 % of its threads)". Not for hidden workloads: it tells sizes.
std::string describe_launches(const plan& p, const compiled_module& module, const device_facts& facts);

}  // namespace kevo::cuda
