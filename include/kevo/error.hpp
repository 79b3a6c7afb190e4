#pragma once
// kevo::error: the exception for wrong input and for faults of the environment. Failures of candidates are
// not exceptions, they are outcomes (evaluation.hpp).

#include <stdexcept>
#include <string>
#include <utility>

namespace kevo {

/// Kind of an error; it determines the exit code of the program (`exit_code`).
enum class error_code {
  usage,        ///< the command line or a call of the library is wrong
  input,        ///< a config, task, source or other input file is wrong
  environment,  ///< the machine lacks something or fails: for example, no disk space, compiler or sandbox
  interrupted,  ///< ended early on request, for example by Ctrl-C
  internal,     ///< a bug in kevo
};

/// The place that an error refers to. An empty string or 0 means that the field does not apply.
struct error_place {
  std::string file;
  int line = 0;     ///< number of the line, from 1
  int column = 0;   ///< number of the column, from 1
  std::string key;  ///< dotted path of the key at fault, e.g. "archive.measures.code_bytes.bins"
};

/// The only exception type that kevo throws. `what()` is the complete message: file:line:column, key, reason,
/// and the hint in parentheses.
class error : public std::runtime_error {
 public:
  /// `message` is the reason; `hint` says what the user can do about it.
  error(error_code code, std::string message, error_place place = {}, std::string hint = {})
      : std::runtime_error(compose(message, place, hint)),
        code_(code),
        message_(std::move(message)),
        place_(std::move(place)),
        hint_(std::move(hint)) {}

  /// The kind of the error.
  error_code code() const noexcept { return code_; }
  /// The reason alone, without place and hint.
  const std::string& message() const noexcept { return message_; }
  /// The place that the error refers to; its fields may be empty.
  const error_place& place() const noexcept { return place_; }
  /// What the user can do about it; may be empty.
  const std::string& hint() const noexcept { return hint_; }

 private:
  static std::string compose(const std::string& message, const error_place& place, const std::string& hint) {
    std::string text;
    if (!place.file.empty()) {
      text += place.file;
      if (place.line > 0) text += ':' + std::to_string(place.line);
      if (place.line > 0 && place.column > 0) text += ':' + std::to_string(place.column);
      text += ": ";
    }
    if (!place.key.empty()) text += place.key + ": ";
    text += message;
    if (!hint.empty()) text += " (" + hint + ')';
    return text;
  }

  error_code code_;
  std::string message_;
  error_place place_;
  std::string hint_;
};

/// Name of a code ("usage", "input", ...), as used in JSON output and logs.
inline const char* to_string(error_code code) {
  switch (code) {
    case error_code::usage:
      return "usage";
    case error_code::input:
      return "input";
    case error_code::environment:
      return "environment";
    case error_code::interrupted:
      return "interrupted";
    case error_code::internal:
      return "internal";
  }
  return "internal";
}

/// The exit code of the program: 2 for `usage` and `input`, 130 for `interrupted`, otherwise 1.
inline int exit_code(error_code code) {
  switch (code) {
    case error_code::usage:
    case error_code::input:
      return 2;
    case error_code::interrupted:
      return 130;
    case error_code::environment:
    case error_code::internal:
      return 1;
  }
  return 1;
}

}  // namespace kevo
