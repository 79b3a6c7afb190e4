#include "fitness/cuda/device/device_nodes.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <string_view>

namespace kevo::cuda {
namespace {

std::optional<unsigned> number_in(std::string_view text) {
  unsigned number = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

// Of "/dev/nvidia1", and of no other node (nvidiactl, nvidia-uvm, nvidia-caps/...).
std::optional<unsigned> number_of_gpu(std::string_view node) {
  constexpr std::string_view gpu = "/dev/nvidia";
  return node.starts_with(gpu) ? number_in(node.substr(gpu.size())) : std::nullopt;
}

}  // namespace

std::optional<unsigned> node_number(std::string pci_address, const std::filesystem::path& gpus) {
  std::transform(pci_address.begin(), pci_address.end(), pci_address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view key = "Device Minor:";
  std::ifstream file(gpus / pci_address / "information");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find_first_not_of(" \t", key.size());
    if (at == std::string::npos) return std::nullopt;
    return number_in(std::string_view(line).substr(at, line.find_last_not_of(" \t") + 1 - at));
  }
  return std::nullopt;
}

std::vector<std::string> nodes_of_device(std::vector<std::string> used, std::optional<unsigned> number) {
  // Whoever does not know, or sees a node of another name, shows all of them.
  const auto is_own = [number](const std::string& node) { return number_of_gpu(node) == number; };
  if (!number || std::none_of(used.begin(), used.end(), is_own)) return used;
  std::erase_if(used, [&](const std::string& node) { return number_of_gpu(node) && !is_own(node); });
  return used;
}

}  // namespace kevo::cuda
