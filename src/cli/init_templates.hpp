#pragma once
// The projects that `kevo init` writes.

#include <string>
#include <string_view>
#include <vector>

namespace kevo::cli {

/// One file of a project.
struct project_file {
  std::string name;
  std::string text;
};

/// The names of the templates, the default first.
const std::vector<std::string>& init_templates();

/// The files of a project called `name`; "task.yaml" and "config.yaml" are among them.
/// @throws kevo::error (usage) for a template that does not exist
std::vector<project_file> project_of(std::string_view chosen, const std::string& name);

}  // namespace kevo::cli
