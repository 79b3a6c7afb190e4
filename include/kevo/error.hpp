#pragma once
// Errors of the environment and of the user's input. Failures of candidates are not errors: they are outcomes
// (evaluation.hpp).

#include <stdexcept>
#include <string>
#include <utility>

namespace kevo {

/// What kind of thing went wrong; it decides the exit code of the program.
enum class error_code {
  usage,        ///< the command line or a call of the library was wrong
  input,        ///< a config, task or source file was wrong
  environment,  ///< the machine cannot do it: for example, no disk space, no compiler, no sandbox
  interrupted,  ///< the user stopped it
  internal,     ///< a bug in kevo
};

/// Where an error is. An empty string or zero means that the field does not apply.
struct error_place {
  std::string file;
  int line = 0;     ///< 1-based
  int column = 0;   ///< 1-based
  std::string key;  ///< dotted path of the key at fault, e.g. "archive.measures.code_bytes.bins"
};

/// The only exception type that kevo throws. `what()` is a complete message: file:line:column, key, reason,
/// next step.
class error : public std::runtime_error {
 public:
  error(error_code code, std::string message, error_place place = {}, std::string hint = {})
      : std::runtime_error(compose(message, place, hint)),
        code_(code),
        message_(std::move(message)),
        place_(std::move(place)),
        hint_(std::move(hint)) {}

  error_code code() const noexcept { return code_; }
  /// The reason only, without place and hint.
  const std::string& message() const noexcept { return message_; }
  const error_place& place() const noexcept { return place_; }
  /// The next step for the user; may be empty.
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

/// "usage", "input", ...: the word that JSON output and logs use.
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

/// The exit code of the program: 2 for usage and input, 130 for an interruption, else 1.
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
