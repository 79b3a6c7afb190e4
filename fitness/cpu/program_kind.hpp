#pragma once
// What differs between the kinds of programs that a CPU runs: how a program becomes something that a worker
// process serves. C++ is compiled to an object (cpp_programs.hpp); Python is executed in the worker
// (fitness/torch).

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "fitness/build/compiler.hpp"
#include "fitness/worker/session.hpp"

namespace kevo {

/// Programs that kevo runs for its own purposes. `inputs`: the reference's text, of which a function makes
/// inputs (fitness/oracle/input_maker.hpp); the object is the number of the workload.
enum class trusted_role : std::uint8_t { reference, baseline, pacer, inputs };

/// Another way to run a built program, taken where the usual one gives a wrong result: the program is judged
/// again from the start, in new processes, with contents that it has not had.
struct other_way {
  /// What a process of the program says when it is loaded if the ways differ for it: only then the other is
  /// tried. It may lie, and then fails twice or gets what every program may have.
  std::string differs;
  /// The object to run instead.
  std::function<std::string(const std::string& object)> object;
  std::string subject;  ///< of the remark in `evaluation::context` about which way was taken
  std::string usual;    ///< what that remark says where the usual way was right
  std::string other;    ///< where the other was
  std::string neither;  ///< where none was
};

/// One kind of programs, for one task. The functions may be called from several threads.
struct program_kind {
  std::string backend;      ///< `evaluation::backend`
  std::string protocol;     ///< `evaluation::protocol`
  bool suite_rule = false;  ///< results are compared by the rule of KernelBench, too
  /// No process of a candidate is given a content that another process of it has had: its processes may see
  /// something of each other, as through what the kernel keeps of files in memory.
  bool contents_once = false;
  /// A process has several untimed calls, as it takes PyTorch some until a call is like the one before.
  bool warms_up = false;
  /// Why a program is none of this kind; empty if it is.
  std::function<std::string(const program&)> refusal;
  /// Builds a candidate. A failed build is a value.
  std::function<build_result(const program&, std::stop_token)> build;
  /// Builds a trusted program and gives its object. @param who for messages. @throws kevo::error (input)
  /// where it does not build. Called for several programs at the same time.
  std::function<std::string(trusted_role, const baseline*, std::stop_token, const std::string& who)>
      build_trusted;
  /// Gives objects of a built program whose code and data lie elsewhere: `compiler::place`. Null: there are
  /// none. @param trusted the baseline that the program is; null: it is a candidate
  std::function<std::vector<std::string>(const program&, const baseline* trusted, std::size_t first,
                                         std::size_t count, std::stop_token)>
      place;
  /// Completes the settings of a worker that is to run an object. @param role nothing for a candidate
  std::function<worker_settings(worker_settings, const std::string& object, std::optional<trusted_role>)>
      worker_for;
  /// Nothing: there is one way.
  std::optional<other_way> otherwise;
  /// Whether two objects are the same program.
  std::function<bool(const std::string&, const std::string&)> same;
  /// Measures of a built candidate.
  std::function<std::map<std::string, double>(const build_result&)> measures;
  /// Adds to the context of an evaluation what is known of the kind.
  std::function<void(evaluation&)> tell;
  /// All that results depend on besides program and task.
  std::function<std::string()> identity;
  /// For one line of display: "g++ -O3".
  std::function<std::string()> words;
};

}  // namespace kevo
