#pragma once
// A config under which devices would rest, because fewer evaluations run at once than there are devices.

#include <cstddef>
#include <filesystem>
#include <string>

#include <kevo/settings_node.hpp>

namespace kevo {

/// A warning for the user where `fitness.devices` or `fitness.places` of a config is larger than
/// `run.parallel.builds`, with the next step; else empty. Says nothing of `places: 0`, whose number kevo
/// chooses.
/// @param config a whole config, with its defaults
/// @param builds `run.parallel.builds`
/// @param gpus a folder that has an entry for each GPU of this machine, which `devices: all` means
std::string idle_devices(const settings_node& config, std::size_t builds,
                         const std::filesystem::path& gpus = "/proc/driver/nvidia/gpus");

}  // namespace kevo
