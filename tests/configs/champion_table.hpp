#pragma once
// The table of configs/champions.

#include <map>
#include <string>
#include <vector>

#include <kevo/settings.hpp>

#include "src/base/settings/yaml.hpp"
#include "tests/support/shell.hpp"

namespace champions {

inline const std::string folder = KEVO_SOURCE_DIR "/configs/champions/";

struct champion {
  std::string name, task, seed;  // files as paths from `folder`
  std::map<std::string, std::string> setting;
  std::string build;  // the line of build options with which the file begins; empty: none
  std::string figure, device, date;

  /// The language of its seed.
  std::string language() const { return seed.ends_with(".py") ? "triton" : "cuda"; }
  /// The name of its file.
  std::string file() const { return name + (language() == "triton" ? ".py" : ".cu"); }
};

inline std::vector<champion> all() {
  const auto tree = kevo::parse_yaml(shell::read_file(folder + "champions.yaml"), "champions.yaml");
  kevo::settings root(tree);
  std::vector<champion> found;
  for (auto& one : root.children("champions")) {
    champion made;
    for (const auto& [key, text] : std::map<std::string, std::string*>{{"name", &made.name},
                                                                       {"task", &made.task},
                                                                       {"seed", &made.seed},
                                                                       {"figure", &made.figure},
                                                                       {"device", &made.device},
                                                                       {"date", &made.date}})
      *text = one.text(key, {.doc = "text"});
    auto set = one.child("set", "values of tunables");
    for (const auto& name : set.keys()) made.setting[name] = set.raw().find(name)->text;
    if (one.has("build")) {
      auto build = one.child("build", "build options");
      for (const auto& name : build.keys())
        made.build +=
            (made.build.empty() ? "// kevo: build {" : ", ") + name + ": " + build.raw().find(name)->text;
      made.build += "}\n";
    }
    found.push_back(made);
  }
  return found;
}

}  // namespace champions
