#pragma once
// Where the files of a data set of FlashInfer-Bench are, in today's layout and the older one.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kevo::importing {

/// Bytes of the largest file of Definitions, workloads or a Solution that is read.
inline constexpr std::size_t largest_data_set_text = std::size_t{64} << 20U;

/// One Definition with the files that belong to it.
struct data_set_entry {
  std::filesystem::path root;  ///< paths of contents are relative to it, and may not leave it
  std::filesystem::path definition;
  std::vector<std::filesystem::path> workloads;  ///< files; the first that exists counts
  std::vector<std::filesystem::path> solutions;
};

struct data_set_layout {
  std::vector<data_set_entry> entries;
  /// Solutions and files of workloads that belong to no Definition, one sentence each. Untrusted text.
  std::vector<std::string> left_over;
};

/// The files below `folder` whose names end in `ending` (".json"), sorted.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder, std::string_view ending);

/// The Definitions of the data set with the root `path`, or the Definition that the file `path` is, with
/// their files: workloads in workloads/[TYPE/]NAME.jsonl, traces/workloads/[TYPE/]NAME[.workload].jsonl or
/// beside the Definition, where NAME is that of the Definition's file or the Definition's own; and the
/// Solutions that name it.
/// @throws kevo::error (input) if there are no Definitions
data_set_layout flashinfer_layout(const std::string& path);

}  // namespace kevo::importing
