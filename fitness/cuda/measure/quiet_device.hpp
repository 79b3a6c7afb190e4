#pragma once
// Whether kevo is alone on the device, before anything is measured.

#include <functional>
#include <stop_token>
#include <string>

#include "fitness/cuda/device/protocol.hpp"
#include "fitness/cuda/settings/cuda_settings.hpp"

namespace kevo::cuda {

/// The device's name for measuring_lock: one kevo process at a time measures on it.
std::string lock_name(const device_description& device);

/// Asks `users` until no foreign process is on the device, for `patience_s` at most. With `note`, and where
/// it cannot be told, asks once.
/// @return what is known, in words, for the evaluation's context
/// @throws kevo::error (environment) naming the processes that stayed, with `refuse`; (interrupted) on `stop`
std::string await_quiet_device(const std::function<device_users()>& users, foreign_processes policy,
                               double patience_s, const std::stop_token& stop);

}  // namespace kevo::cuda
