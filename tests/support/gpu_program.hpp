#pragma once
// A program of tests/gpu: what its first lines say of it.
//
//   // verdict: valid|incorrect      outcomes that are right
//   // most_speedup: 1.05            an attack that is valid earns no more
//   // twin: honest/plain.cu         a program, by its path from tests/gpu or tests/gpu/hosted, that it is
//   timed beside
//   // at_most_faster: 0.1           an honest program may be that much faster than its twin, as a share
//   // at_most_slower: 0.1           and that much slower
//   // task: configs/tasks/...       by its path from the repository; else tests/gpu/row_sum.yaml
//   // compiles: no                  it cannot, and must not
//   // because: ...
//
// Programs in Triton (.py, in tests/gpu/triton) say the same behind "# ".

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/support/shell.hpp"

struct gpu_program {
  std::filesystem::path file;
  std::string text;
  std::string language;  ///< "cuda", or "triton" for files of Python
  std::string verdict;
  std::string task;            ///< a path
  std::filesystem::path twin;  ///< empty: none
  double most_speedup = 0;     ///< 0: not stated
  double at_most_faster = 0;   ///< 0: not stated
  double at_most_slower = 0;   ///< 0: not stated
  bool compiles = true;

  bool accepts(const std::string& outcome) const {
    return ("|" + verdict + "|").find("|" + outcome + "|") != std::string::npos;
  }

  static std::string value_of(const std::string& text, const std::string& key) {
    for (const std::string mark : {"// ", "# "}) {
      const std::string start = mark + key + ": ";
      const auto at = text.find(start);
      if (at == std::string::npos) continue;
      return text.substr(at + start.size(), text.find('\n', at) - at - start.size());
    }
    return {};
  }

  /// @param corpus the folder that twins are named from
  static gpu_program read(const std::filesystem::path& corpus, const std::filesystem::path& file) {
    const std::filesystem::path root = KEVO_SOURCE_DIR;
    gpu_program made;
    made.file = file;
    made.text = shell::read_file(file);
    made.language = file.extension() == ".py" ? "triton" : "cuda";
    made.verdict = value_of(made.text, "verdict");
    const auto task = value_of(made.text, "task");
    made.task = (root / (task.empty() ? "tests/gpu/row_sum.yaml" : task)).string();
    if (const auto twin = value_of(made.text, "twin"); !twin.empty()) made.twin = corpus / twin;
    const auto share = [&](const std::string& key) {
      const auto value = value_of(made.text, key);
      return value.empty() ? 0.0 : std::stod(value);
    };
    made.most_speedup = share("most_speedup");
    made.at_most_faster = share("at_most_faster");
    made.at_most_slower = share("at_most_slower");
    made.compiles = value_of(made.text, "compiles") != "no";
    return made;
  }
};
