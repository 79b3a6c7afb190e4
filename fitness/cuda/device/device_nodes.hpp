#pragma once
// Which device nodes a context on one GPU needs, where a host has several GPUs.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kevo::cuda {

/// The number of the node of a GPU, 1 of /dev/nvidia1, as the kernel's driver tells it in files. Nothing
/// where it does not.
/// @param pci_address "0000:3B:00.0"
std::optional<unsigned> node_number(std::string pci_address,
                                    const std::filesystem::path& gpus = "/proc/driver/nvidia/gpus");

/// What of the nodes in use a process needs that computes on the GPU of this number alone: all but those of
/// other GPUs. A driver opens every GPU that it sees, which takes time, and a lock of the whole host.
std::vector<std::string> nodes_of_device(std::vector<std::string> used, std::optional<unsigned> number);

}  // namespace kevo::cuda
