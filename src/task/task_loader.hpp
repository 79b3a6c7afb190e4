#pragma once
// Tasks from files: kevo's YAML and the Definition and Workload JSON of FlashInfer-Bench, by one decoder.

#include <functional>
#include <string>
#include <vector>

#include <kevo/settings_node.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// Gives the program in the file `path` (relative to the task's); empty language: by its ending. `named` is
/// the place of the key that names it.
using source_reader =
    std::function<program(const std::string& path, const std::string& language, const error_place& named)>;

/// Loads a task. A `.json` file is a FlashInfer-Bench Definition; its workloads come from `workloads` if that
/// is given, else from <name>.jsonl beside it or from the data set's workloads/<op_type>/<name>.jsonl. Throws
/// kevo::error (input) with file, line, column, key and hint for everything that is wrong; says "not
/// supported yet" of the parts of the schema that kevo knows and does not do.
task load_task(const std::string& path, const std::string& workloads = {});

/// Decodes a task that was parsed already. `traces` are FlashInfer-Bench workload traces, one each.
task decode_task(const settings_node& root, const source_reader& read,
                 const std::vector<settings_node>& traces = {});

}  // namespace kevo
