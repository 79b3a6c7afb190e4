#pragma once
// Checks the commands of a page of the documentation that a test cannot run, because they need a GPU, a
// model, a network or hours: bash can parse them, the commands and options of kevo exist, configs are loaded
// with the overrides that the page gives, and the files, scripts, targets, presets and tests that they name
// are there. Used by tests/support/page.hpp.

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/command_splitter.hpp"
#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"

namespace page {

/// What is wrong with commands that are not run. One object checks one page, in its order: what its commands
/// would have written may be named further below.
class unrun_commands {
 public:
  explicit unrun_commands(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::vector<std::string> faults_of(const std::string& commands) {
    faults_.clear();
    const auto parsed = shell::run({"/bin/bash", "-n", "-c", commands}, folder_.string());
    if (parsed.code != 0) faults_.push_back("bash cannot parse it: " + parsed.err);
    for (auto& one : command_splitter(commands, folder_.string()).split()) {
      written_.insert(written_.end(), one.written.begin(), one.written.end());
      check(one.words);
    }
    return faults_;
  }

 private:
  using words = std::vector<std::string>;
  static constexpr const char* source = KEVO_SOURCE_DIR;

  void fault(const std::string& why) { faults_.push_back(why); }

  void check(words all) {
    static const std::regex assignment("[A-Z_]+=.*");
    while (!all.empty() && std::regex_match(all.front(), assignment)) all.erase(all.begin());
    if (all.empty()) return;
    const std::string name = std::filesystem::path(all.front()).filename().string();
    if (name == "kevo") return check_kevo(words(all.begin() + 1, all.end()));
    for (const auto& word : all) check_path(word);
    // This script writes a task into the folder that it is given last.
    if (all.size() > 2 && all[1] == "tests/gpu/draw_settings.py") written_.push_back(all.back());
    if (name == "cmake") return check_cmake(all);
    if (name == "ctest") return check_ctest(all);
    if (name == "kevo-ray") return check_options_in(all, "python/kevo_ray/kevo_ray");
    if (all.front().starts_with("scripts/")) return check_options_in(all, all.front());
    // Programs that are no part of kevo: nothing is known of their options.
    static constexpr std::array others{
        ".",       "cd",  "cp",  "docker", "echo", "export", "g++",  "kubectl", "llama-server", "mkdir",
        "openssl", "pip", "ray", "sbatch", "sed",  "tar",    "vllm", "python",  "python3",      "cpack"};
    const bool built = all.front().starts_with("build/") || all.front().starts_with("./");
    if (!built && std::find(others.begin(), others.end(), name) == others.end())
      fault("there is no program " + all.front());
  }

  /// Whether a command before would have written this file, or the folder that it lies in.
  bool would_be_written(const std::string& path) const {
    const auto holds = [&](const std::string& one) { return path == one || path.starts_with(one + "/"); };
    return std::any_of(written_.begin(), written_.end(), holds) ||
           std::any_of(runs_.begin(), runs_.end(), holds);
  }
  bool exists(const std::string& path) const { return std::filesystem::exists(folder_ / path); }

  /// Of the paths in a word, those in the source tree have to be there.
  void check_path(const std::string& word) {
    static const std::regex path(
        R"re((?:^|=|@|\[)((?:configs|docs|examples|fitness|python|scripts|src|tests)/[-\w./]*))re");
    for (std::sregex_iterator it(word.begin(), word.end(), path), end; it != end; ++it) {
      const std::string named = (*it)[1];
      if (!would_be_written(named) && !exists(named) &&
          !std::filesystem::exists(std::filesystem::path(source) / named))
        fault("there is no file " + named);
    }
  }

  /// A file that a command of kevo reads.
  void check_file(const std::string& path) {
    if (!would_be_written(path) && !exists(path) &&
        !std::filesystem::exists(std::filesystem::path(source) / path))
      fault("there is no file " + path);
  }

  void check_kevo(const words& all) {
    const auto help = help_of(all);
    if (help.empty()) return fault("kevo has no command " + (all.empty() ? std::string() : all.front()));
    for (const auto& word : all) check_path(word);
    words given;  // the positional arguments
    words set{};  // the overrides, each with its option
    for (std::size_t i = depth_; i < all.size(); ++i) {
      const auto& word = all[i];
      if (!word.starts_with("-")) {
        given.push_back(word);
        continue;
      }
      const std::string option = word.substr(0, word.find('='));
      static const std::string end = R"re((?=[\s,]))re";
      std::smatch found;
      const std::regex described("(?:^|[\\s,])" + option + end +
                                 R"re((,-*[a-z-]+)? (TEXT|UINT|INT|FLOAT)?)re");
      if (!std::regex_search(help, found, described)) {
        fault("kevo " + all.front() + " has no option " + option);
      } else if (found[2].matched && option == word && i + 1 < all.size()) {
        if (option == "--set") set.insert(set.end(), {option, all[i + 1]});
        if (option == "-o" || option == "--output") written_.push_back(all[i + 1]);
        ++i;
      }
    }
    check_files_of(all, given, set);
  }

  /// The help of the command, and in `depth_` how many words name it.
  std::string help_of(const words& all) {
    depth_ = 0;
    if (all.empty()) return {};
    words asked;
    std::string help;
    for (const auto& word : all) {
      if (word.starts_with("-") || depth_ == 2) break;
      asked.push_back(word);
      words with_help = asked;
      with_help.push_back("--help");
      const auto printed = shell::run(shell::kevo(with_help));
      // What is no command of its own is an argument.
      const std::string usage = "Usage: kevo" + joined(asked) + " ";
      if (printed.code != 0 || !has(printed.out, usage)) break;
      help = printed.out;
      ++depth_;
    }
    return help;
  }
  static std::string joined(const words& all) {
    std::string text;
    for (const auto& word : all) text += ' ' + word;
    return text;
  }

  void check_files_of(const words& all, const words& given, const words& set) {
    const std::string& command = all.front();
    if (given.empty() && command != "run") return;
    if (command == "run" || command == "bench" || command == "lab") {
      if (!given.empty()) check_file(given.front());
      // What a command that was not run would have written is missing.
      if (written_.empty()) load(all);
    } else if (command == "eval" || command == "attack") {
      for (const auto& file : given) check_file(file);
      if (written_.empty()) check_settings(given.front(), set);
    } else if (command == "rejudge" || command == "export" || command == "import" || command == "serve") {
      if (command != "import") check_file(given.front());
    }
  }

  void load(words all) {
    all.emplace_back("--print-config");
    const auto loaded = shell::run(shell::kevo(all), folder_.string());
    if (loaded.code != 0) fault("the config is refused: " + loaded.err);
    // The folder of a run, which later commands may name.
    static const std::regex output("\n  output: \"?([^\"\n]+)");
    std::smatch found;
    if (all.front() == "run" && std::regex_search(loaded.out, found, output)) runs_.push_back(found[1]);
  }

  /// A task with the settings of an evaluation: the same as those of a config for it.
  void check_settings(const std::string& task, const words& set) {
    const bool on_device = has(shell::read_file(folder_ / task), "language: cuda");
    const auto config = scratch_ / "config.yaml";
    shell::write_file(
        config, std::string("run: {name: a, output: a}\ntask: a\nfitness: {backend: ") +
                    (on_device ? "cuda" : "cpu") +
                    "}\narchive: {type: top_k}\nselect: {type: greedy}\nvary: {operators: [{type: tune}]}\n"
                    "stop: {evaluations: 1}\n");
    words all = {"run", config.string(), "--set", "task=" + task};
    all.insert(all.end(), set.begin(), set.end());
    load(all);
  }

  /// Each option of a script stands in its text, or in a file of its folder.
  void check_options_in(const words& all, const std::string& where) {
    namespace fs = std::filesystem;
    std::string text;
    const fs::path place = fs::path(source) / where;
    if (fs::is_directory(place)) {
      for (const auto& file : fs::recursive_directory_iterator(place)) {
        if (file.path().extension() == ".py") text += shell::read_file(file.path());
      }
    } else {
      text = shell::read_file(place);
    }
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (!all[i].starts_with("--")) continue;
      // Options of a Python program may be made from the names of fields, as `at_once: int`.
      std::string field = all[i].substr(2) + ": ";
      std::replace(field.begin(), field.end(), '-', '_');
      if (!has(text, all[i]) && !has(text, "    " + field)) fault(where + " has no option " + all[i]);
    }
  }

  void check_cmake(const words& all) {
    static const std::string files =
        all_of("cmake", ".cmake") + shell::read_file(std::string(source) + "/CMakeLists.txt");
    static const std::string presets = shell::read_file(std::string(source) + "/CMakePresets.json");
    for (std::size_t i = 1; i < all.size(); ++i) {
      std::string word = all[i];
      if ((word == "-D" || word == "--preset" || word == "--target") && i + 1 < all.size()) {
        const std::string value = all[++i];
        if (word == "--preset" && !has(presets, "{\"name\": \"" + value + "\""))
          fault("there is no preset " + value);
        for (; word == "--target" && i < all.size() && !all[i].starts_with("-"); ++i)
          check_target(all[i], files);
        word += value;
      }
      static const std::regex setting("-D(KEVO_[A-Z_]+)=.*");
      std::smatch found;
      if (std::regex_match(word, found, setting) && !has(files, found[1].str()))
        fault("CMake knows no " + found[1].str());
    }
  }

  void check_target(const std::string& name, const std::string& files) {
    static const std::map<std::string, std::string> sources = {{"bench", "bench/NAME.bench.cpp"},
                                                               {"example", "examples/NAME.cpp"},
                                                               {"fuzz", "tests/fuzz/NAME.fuzz.cpp"}};
    const auto dot = name.find('.');
    const std::string kind = name.substr(0, dot);
    if (kind == "test") return check_test(name.substr(dot + 1));
    if (const auto pattern = sources.find(kind); dot != std::string::npos && pattern != sources.end()) {
      std::string path = pattern->second;
      path.replace(path.find("NAME"), 4, name.substr(dot + 1));
      if (!std::filesystem::exists(std::filesystem::path(source) / path))
        fault("there is no target " + name + ": no file " + path);
    } else if (!std::regex_search(files, std::regex("\\(" + name + "[\\s)]"))) {
      fault("there is no target " + name);
    }
  }

  void check_ctest(const words& all) {
    for (std::size_t i = 1; i + 1 < all.size(); ++i) {
      if (all[i] != "-R") continue;
      std::string name = all[i + 1];
      std::erase_if(name, [](char c) { return c == '^' || c == '$' || c == '\\'; });
      check_test(name);
    }
  }
  void check_test(std::string name) {
    std::replace(name.begin(), name.end(), '.', '/');
    if (!std::filesystem::exists(std::filesystem::path(source) / "tests" / (name + ".test.cpp")))
      fault("there is no test " + name);
  }

  static std::string all_of(const std::string& folder, const std::string& extension) {
    std::string text;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(source) / folder)) {
      if (file.path().extension() == extension) text += shell::read_file(file.path());
    }
    return text;
  }

  std::filesystem::path folder_;
  shell::scratch scratch_;
  std::vector<std::string> faults_;
  std::vector<std::string> written_;
  std::vector<std::string> runs_;  // folders of runs
  std::size_t depth_ = 0;
};

}  // namespace page
