#pragma once
// A cassette: recorded replies of language models, so that a run can be repeated with no model and no
// network. A YAML file that people can read and write; the format is documented in docs/llm.md.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include <kevo/llm/client.hpp>

namespace kevo {

/// Which call it is: the `ordinal`-th, from 0, of an operator or of a sequence of calls
/// (`cassette::sequence`) to a model. Prompts hold measured times, so their text cannot be the key.
struct cassette_key {
  std::string operator_name;  ///< or the name of a sequence
  std::string model;
  std::uint64_t ordinal = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): what the compiler writes here has a zero, no pointer
  friend auto operator<=>(const cassette_key&, const cassette_key&) = default;
};
/// "llm_diff/small/3"
std::string to_string(const cassette_key& key);

struct recorded_reply {
  std::string request;  ///< content id of the request; empty in entries written by hand
  chat_reply reply;
};

/// Thread-safe. Entries are appended as they come, so that a killed run keeps what it paid for.
class cassette {
 public:
  /// Opens a file; `replay` needs it to exist, `record` begins it anew. Throws kevo::error.
  cassette(std::string path, cassette_mode mode);

  cassette_mode mode() const { return mode_; }
  const std::string& path() const { return path_; }
  std::size_t size() const;
  /// The sequence of replies that a call is answered from: the operator's own, unless the file's `calls` name
  /// another one for it. So one file can serve operators that ask for the same, however their turns mix.
  /// @param turn number of the call in its conversation, from 0
  std::string sequence(const std::string& operator_name, std::int64_t turn) const;
  std::optional<recorded_reply> find(const cassette_key& key) const;
  /// Throws kevo::error (environment) if it cannot be written.
  void add(const cassette_key& key, const recorded_reply& what);

 private:
  void load();
  std::string path_;
  cassette_mode mode_;
  std::map<std::string, std::string> sequences_;  ///< by operator, or operator/first and operator/later
  mutable std::mutex guard_;
  std::map<cassette_key, recorded_reply> entries_;
};

}  // namespace kevo
