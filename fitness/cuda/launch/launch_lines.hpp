#pragma once
// The `// kevo:` lines that say how to launch a candidate, parsed (design: declared launch). Names are not
// yet looked up and nothing is worked out; `resolve` does that for a workload. Lines of Triton programs begin
// with `# kevo:` and differ in how a launch is written.
//
//   line  = ["when" cond ":"] ["for" id "in" e ".." e ":"] stmt          e .. e: the upper end is left out
//   stmt  = "launch" name ["[" template-args "]"] "<<<" dim3 "," dim3 ["," bytes] ">>>" "(" args ")" {attr}
//         | "memset" buffer byte [bytes]  |  "workspace" id dtype shape ["align" n]
//         | "tensormap" id "(" buffer, dims, strides, box [, element_strides [, swizzle [, interleave [, l2
//           [, oob]]]]] ")"
//         | "launch" name "[" e ["," e ["," e]] "]" "(" args {"," id "=" value} ")" {setting} (Triton)
//   setting = ("warps" | "stages" | "ctas" | "registers" | "config") e      value = e | text in Python
//   attr  = "cluster" dim3 | "cooperative" | "pdl" | "carveout(" e ")"
//   arg   = buffer ["+" e] | type "(" e ")" | "null" | e
//   dim3  = e | "(" e ["," e ["," e]] ")"      bytes = e | "smem(" e ")"      shape, dims, ... = "[" e, ...
//   "]"
//
// Offsets of buffers count elements; strides of tensor maps count bytes, dimensions are innermost first.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kevo/annotation.hpp>
#include <kevo/dtype.hpp>
#include <kevo/expression.hpp>
#include <kevo/program.hpp>

#include "fitness/cuda/launch/real_expression.hpp"
#include "fitness/cuda/wire/plan.hpp"

namespace kevo::cuda {

/// A name as it stands in a line.
struct placed_name {
  std::string text;
  error_place place;
};

/// `type(e)`: an integer expression for integer types and bool, a real one for the others.
struct typed_argument {
  dtype_info type;
  std::variant<expression, real_expression> value;
};
/// `name + e`, `name` alone, or any integer expression: which of them depends on what the name is.
struct plain_argument {
  std::optional<placed_name> name;   ///< the leading name, if the text is `name` or `name + e`
  std::optional<expression> offset;  ///< what follows its '+'
  std::optional<expression> value;   ///< all of it, if it reads as an expression
};
/// One argument of a launch.
struct argument_line {
  error_place place;
  std::string text;
  std::variant<plain_argument, typed_argument, null_argument> value;
};

/// One to three extents; missing ones are 1.
using dim3_line = std::vector<expression>;

/// `NAME=value`: a parameter of a Triton kernel that is a constant (tl.constexpr).
struct constant_line {
  placed_name name;
  placed_name value;  ///< as written: an integer expression, or Python's words
};
/// What a launch line of a Triton kernel says besides grid and arguments. What it leaves out is the
/// compiler's choice.
struct triton_line {
  std::vector<constant_line> constants;
  std::optional<expression> warps;      ///< num_warps
  std::optional<expression> stages;     ///< num_stages
  std::optional<expression> ctas;       ///< num_ctas: blocks of a cluster
  std::optional<expression> registers;  ///< maxnreg: most registers of a thread
  std::optional<expression> config;     ///< number of a configuration of @triton.autotune, from 0
};

struct launch_line {
  placed_name kernel;                      ///< without template arguments, "ns::name" allowed
  std::vector<placed_name> template_args;  ///< each as written
  bool is_template = false;                ///< `name[]` has template arguments, all by default
  dim3_line grid, block;
  std::optional<expression> shared_bytes;
  std::vector<argument_line> arguments;
  dim3_line cluster;  ///< empty: none
  bool cooperative = false;
  bool programmatic = false;
  std::optional<expression> carveout;
  std::optional<triton_line> triton;  ///< a Triton kernel: `block`, shared memory and attributes are empty
};
struct memset_line {
  placed_name buffer;
  expression byte;
  std::optional<expression> bytes;  ///< nothing: all of the buffer
};
struct workspace_line {
  placed_name id;
  dtype_info type;
  std::vector<expression> shape;
  std::optional<expression> align;
};
/// A word such as "128B", or an expression that gives the same number.
using mode_line = std::variant<placed_name, expression>;
struct tensor_map_line {
  placed_name id;
  placed_name buffer;
  std::optional<expression> offset;  ///< [elements]
  std::vector<expression> dims, strides, box, element_strides;
  std::optional<mode_line> swizzle, interleave, l2_promotion, oob_fill;
};

struct loop_line {
  placed_name id;
  expression from, to;
};
/// One line.
struct statement_line {
  std::optional<expression> condition;
  std::optional<loop_line> loop;
  std::variant<launch_line, memset_line, workspace_line, tensor_map_line> body;
  error_place place;
  std::string text;
};

/// All launch lines of a program, in file order, and the values that its tunables have.
struct declared_launch {
  std::vector<statement_line> statements;
  std::map<std::string, std::string> tunables;  ///< literals as written
  std::string file;                             ///< the main file, for messages
};

/// Reads the launch lines of a program. O(length of the text).
/// @throws kevo::error (input) with file, line and column for a malformed annotation or launch line, and if
/// there is no `launch` line at all
declared_launch parse_launch_lines(const program& source);

/// One directive; `place` is where its text begins.
statement_line parse_launch_line(std::string_view text, error_place place);

}  // namespace kevo::cuda
