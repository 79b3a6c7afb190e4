#pragma once
// What a program may choose of its own compilation, by `// kevo: build {option: value}` lines: an allow-list.
// The lines are text of an untrusted candidate, so that no part of them becomes a word of a compiler's
// command line: each value is looked up in a table, and the words come from the table. No option names a
// file, a folder, a macro, a library or a program.

#include <map>
#include <string>
#include <vector>

#include <kevo/program.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// Who compiles a program: the allow-lists differ.
enum class build_family { cpp, cuda, hosted_cuda, triton, torch };  // of PyTorch there are no options

/// Whether programs may be compiled with fast math, and if not, why.
struct fast_math_permission {
  bool allowed = false;
  std::string why = "no task was given that allows it";
};

/// The task says it: the tolerance of every output that is not an integer has `fast_math: true`, in every
/// workload.
fast_math_permission fast_math_of(const task& t);

/// What a program chose: values by the names of options, as the table spells them.
struct build_choices {
  std::map<std::string, std::string> values;

  bool empty() const { return values.empty(); }
  /// The value of an option; `otherwise` if the program does not choose it.
  std::string value(const std::string& option, const std::string& otherwise = {}) const;
  /// "compiler nvcc, registers 128"; empty if there are none. Equal choices have equal texts.
  std::string text() const;
};

/// The choices of a program. All values of tunables that its lines name must be allowed ones, so that a
/// search cannot run into a value that there is not.
/// @throws kevo::error (input) with file, line and column for malformed annotations, an option or a value
/// that is not in the list, and for fast math that the task does not allow
build_choices build_choices_of(const program& source, build_family family, const fast_math_permission& fast);

/// The words of a choice for NVRTC and nvcc, which spell them alike, and for g++ and clang++. Where a
/// config's flags say something else, the last word counts for all of them.
std::vector<std::string> cuda_words(const build_choices& chosen);
std::vector<std::string> cpp_words(const build_choices& chosen);

/// The same for Triton: what its compiler's options are called, and their values as JSON literals.
std::map<std::string, std::string> triton_words(const build_choices& chosen);

}  // namespace kevo
