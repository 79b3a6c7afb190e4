#pragma once
// A project whose candidates are one number, judged by a three-line script, and whose operators ask a
// scripted model: what a whole run does with language models, without a compiler.

#include <string>
#include <vector>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/llm_server.hpp"

namespace scripted {

/// "value 17" is worth 17 % 97 + 1 or what `worth` says of n, but a multiple of 5 is wrong. Every judgement
/// leaves a line in `judged`.
struct project {
  shell::scratch folder;

  /// `llm` and `rest` are lines of the config: what stands under `llm:`, and the sections that follow it.
  project(const std::string& llm, const std::string& rest, const std::string& worth = "n % 97 + 1") {
    shell::write_file(folder / "seed.txt", "value 3\n");
    shell::write_file(folder / "reference.cpp", "extern \"C\" void reference() {}\n");
    shell::write_file(folder / "score.sh",
                      "#!/bin/sh\nread word n < \"$1\"\necho \"$n\" >> judged\n"
                      "if [ $((n % 5)) -eq 0 ]; then echo '{\"valid\": false, \"feedback\": \"a multiple of "
                      "five\"}'; else\n"
                      "echo \"{\\\"score\\\": $((" +
                          worth + "))}\"; fi\n");
    shell::write_file(
        folder / "task.yaml",
        "name: toy\nop_type: toy\ndescription: toy\naxes: {K: {type: var}}\n"
        "inputs: {A: {shape: [K], dtype: float32}}\noutputs: {B: {shape: [K], dtype: float32}}\n"
        "reference: {language: cpp, file: reference.cpp}\nworkloads: [{uuid: one, axes: {K: 4}}]\n"
        "tolerance: {max_atol: 1.0e-5, max_rtol: 1.0e-5}\nseeds: [seed.txt]\n");
    shell::write_file(
        folder / "config.yaml",
        "task: task.yaml\nllm:\n" + llm +
            "fitness: {backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off}\n" + rest);
  }
  shell::result kevo(std::vector<std::string> words) const {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
  /// What `--json` says of a verb that succeeds.
  boost::json::object answer(std::vector<std::string> words) const {
    words.emplace_back("--json");
    const auto ended = kevo(std::move(words));
    REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
    return boost::json::parse(ended.out).as_object();
  }
  std::size_t judged() const {
    const std::string all = shell::read_file(folder / "judged");
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
  }
};

/// A reply that is a program.
inline std::string value_reply(long long n, const std::string& summary = "another number") {
  return "Summary: " + summary + "\n\n```\nvalue " + std::to_string(n) + "\n```\n";
}
/// An agent's turn in one message: write, time, submit.
inline std::vector<std::pair<std::string, std::string>> agent_turn(long long n) {
  return {{"write_file", "{\"path\": \"seed.txt\", \"text\": \"value " + std::to_string(n) + "\\n\"}"},
          {"time", "{}"},
          {"submit", R"({"summary": "another number"})"}};
}

}  // namespace scripted
