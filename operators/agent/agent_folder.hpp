#pragma once
// The agent's own folder: the files of one program, in memory. There is nothing outside of it, so that no
// path, link or command of a model's can lead anywhere else.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <kevo/program.hpp>

namespace kevo {

/// Why a path of a model's is refused; empty if it may name a file: relative, of plain characters, without
/// `..`.
std::string path_complaint(const std::string& path);

/// A working copy. Every function gives a complaint, empty if it was done. A value.
class agent_folder {
 public:
  explicit agent_folder(program start) : work_(std::move(start)) {}

  const program& work() const { return work_; }
  /// The program that the folder holds: the files that `parent` has, and those that these name, directly or
  /// not. Other files are the model's scratch.
  program candidate(const program& parent) const;
  std::vector<std::string> paths() const;
  std::string read(const std::string& path, std::string& text) const;
  std::string write(const std::string& path, std::string text);
  /// Replaces `search`, which must fit in one place and need not be whole lines, as an edit of llm_diff does.
  std::string edit(const std::string& path, const std::string& search, const std::string& replace);
  /// The lines that contain a text, as "path:line: text", of one file or, if `path` is empty, of all.
  std::string grep(const std::string& text, const std::string& path) const;
  /// The files with one of them first, which is built as a program of its own; nothing if there is none.
  std::optional<program> beginning_with(const std::string& path) const;
  /// Removes a file, but not the first one, which is what is built.
  std::string remove(const std::string& path);
  /// Goes back to a program.
  void reset(program to) { work_ = std::move(to); }

  static constexpr std::size_t most_files = 16;
  static constexpr std::size_t most_bytes = std::size_t{1} << 20U;

 private:
  const source_file* find(const std::string& path) const;
  program work_;
};

}  // namespace kevo
