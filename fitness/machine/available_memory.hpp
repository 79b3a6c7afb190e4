#pragma once
// How much memory there is to be had.

#include <cstdint>
#include <optional>

namespace kevo {

/// [bytes] that can be used now without killing anything: what the kernel says is available, swap included,
/// and no more than the limit of the container. Nothing where /proc does not say.
std::optional<std::uint64_t> available_memory();

}  // namespace kevo
