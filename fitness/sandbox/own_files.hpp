#pragma once
// A /tmp of its own for a process that has been forked in a sandbox. Linked into kevo-worker-torch.so.

#include <cstdint>

namespace kevo {

/// Gives the calling process a /tmp that is in memory, empty, of this size, and seen by nobody else; it is
/// gone with the process. Takes every capability from the process, and its standard streams, whether this
/// succeeds or not. For processes whose sandbox was started with syscall_policy::forker.
/// @return false where the kernel does not allow it: /tmp is what it was before
bool take_own_files(std::uint64_t bytes);

}  // namespace kevo
