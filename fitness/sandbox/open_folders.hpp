#pragma once
// A read-only folder of the host in whose subfolders new files can be made inside a sandbox.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fitness/process/process.hpp"

namespace kevo {

/// How many files and folders are mounted one by one at most: each mount takes the longer the more there are.
inline constexpr std::size_t most_folder_parts = 256;

/// The parts of a folder for launch_spec::parts, or the reason why it cannot be shown so.
struct opened_folder {
  std::vector<folder_part> parts;  ///< empty if no subfolder is open
  std::string refused;             ///< empty if it can be shown so
};

/// A folder in which everything that the host has is read-only, file by file, and some subfolders take new
/// files. What is written there is in memory and ends with the sandbox. Files of the host cannot be changed,
/// replaced, removed or renamed there, nor can a folder that contains some: each is a mount.
/// @param folder absolute, and mounted under the same path
/// @param open   paths of subfolders relative to it; those that the host has not are made
/// @param bytes  how much can be written to all of them together
/// Refused: a subfolder that holds links (which can be replaced) or that the sandbox's user cannot enter, a
/// file in place of a subfolder, more than `most_folder_parts`. O(files that are mounted).
opened_folder open_subfolders(const std::string& folder, const std::vector<std::string>& open,
                              std::uint64_t bytes);

}  // namespace kevo
