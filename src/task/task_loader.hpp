#pragma once
// Tasks from files: kevo's YAML and the Definition and Workload JSON of FlashInfer-Bench, by one decoder.

#include <functional>
#include <string>
#include <vector>

#include <kevo/load_task.hpp>
#include <kevo/settings_node.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// Gives the program in the file `path` (relative to the task's); empty language: by its ending. `named` is
/// the place of the key that names it.
using source_reader =
    std::function<program(const std::string& path, const std::string& language, const error_place& named)>;

/// Gives the bytes of a file that holds contents of an input, in the same way.
using contents_reader = std::function<std::string(const std::string& path, const error_place& named)>;

/// Decodes a task that was parsed already. `traces` are FlashInfer-Bench workload traces, one each. Without
/// `contents`, a task that names files with contents is refused.
task decode_task(const settings_node& root, const source_reader& read,
                 const std::vector<settings_node>& traces = {}, const contents_reader& contents = {});

}  // namespace kevo
