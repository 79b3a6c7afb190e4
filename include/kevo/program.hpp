#pragma once
// A program: its source files and their language. Caches, deduplication and lineage identify a program by its
// content id.

#include <string>
#include <string_view>
#include <vector>

#include <kevo/content_id.hpp>

namespace kevo {

/// One source file of a program.
struct source_file {
  std::string path;  ///< relative, with forward slashes ("kernel.cpp")
  std::string text;
  friend bool operator==(const source_file&, const source_file&) = default;
};

/// The complete source of a candidate.
struct program {
  std::string language;            ///< "cpp", "cuda", "python", "triton", ...; not a closed list
  std::vector<source_file> files;  ///< never empty; the first one is the main file

  /// The text of the main file.
  std::string_view text() const {
    return files.empty() ? std::string_view() : std::string_view(files.front().text);
  }
  friend bool operator==(const program&, const program&) = default;
};

/// Makes a program of one file.
inline program single_file_program(std::string language, std::string path, std::string text) {
  return {std::move(language), {{std::move(path), std::move(text)}}};
}

/// The id of a program. Equal programs, and only these, have equal ids. O(size of the text).
inline content_id id_of(const program& p) {
  content_hasher hash;
  hash.text("kevo program 1").text(p.language).number(p.files.size());
  for (const auto& file : p.files) hash.text(file.path).text(file.text);
  return hash.finish();
}

}  // namespace kevo
