#pragma once
// What kevo asks of kevo-compile-cuda (on its standard input) and what that answers (on its standard output).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kevo::cuda {

/// A text that #include finds by `name`.
struct source_text {
  std::string name;
  std::string text;
  friend bool operator==(const source_text&, const source_text&) = default;
};

/// One compilation.
struct compile_job {
  std::vector<std::string> options;  ///< for the compiler, include folders left out
  std::vector<std::string> kernels;  ///< name expressions
  std::vector<source_text> sources;  ///< the first is compiled
  friend bool operator==(const compile_job&, const compile_job&) = default;
};

enum class compile_status : std::uint8_t {
  compiled,
  failed,      ///< the source is at fault; `log` says how
  unavailable  ///< the library cannot be used; `message` says why
};

struct compile_answer {
  compile_status status = compile_status::unavailable;
  std::string message;
  std::string log;
  std::string cubin;
  std::string ptx;                   ///< the same code, one step earlier; may be empty
  std::vector<std::string> symbols;  ///< of `kernels`, in their order
  std::int32_t major = 0;            ///< version of the library
  std::int32_t minor = 0;
  friend bool operator==(const compile_answer&, const compile_answer&) = default;
};

std::string encode(const compile_job& job);
std::string encode(const compile_answer& answer);
/// The inverses. @throws kevo::error (internal) for anything else
compile_job decode_compile_job(std::string_view bytes);
compile_answer decode_compile_answer(std::string_view bytes);

}  // namespace kevo::cuda
