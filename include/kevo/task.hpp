#pragma once
// The task: the kernel to optimize, with its inputs, outputs, sizes, reference and tolerances. Field names
// and their meaning follow FlashInfer-Bench's Definition and Workload and SOL-ExecBench's per-workload
// tolerance; `reference`, `generate`, `cost`, `seeds` and `baselines` are kevo's own. docs/tasks.md describes
// the files. task_extents.hpp evaluates the sizes of a task for a workload, and task_id.hpp has its content
// id.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/expression_type.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// A named extent. `value` is set for a constant axis; each workload gives the value of a variable axis.
struct axis {
  std::string name;
  std::optional<std::int64_t> value;  ///< nothing for a variable axis
  std::string description;            ///< may be empty
};

/// How the random values of an input are drawn. Some checks also use other values than these, such as
/// scaled or constant ones. Kinds:
/// - "normal": normally distributed with mean a and standard deviation b.
/// - "uniform": uniform in [a, b).
/// - "integers": integers in [a, b].
/// - "sorted": integers in [a, b], non-decreasing.
/// - "zipf": integers in [a, b]; the frequency of the k-th most frequent one is proportional to k^-parameter.
/// - "permutation": a permutation of 0..n-1 over all n elements.
/// - "offsets": non-decreasing; the first element is 0, the last one is a; if b > 0, neighbours differ by at
///   most b.
/// - "columns": for each row whose offsets the input `rows` holds, distinct integers in [0, a), ascending.
struct generator {
  std::string kind = "normal";  ///< one of the kinds above
  double a = 0;                 ///< first parameter of the kind
  double b = 1;                 ///< second parameter of the kind
  /// Replace `a` and `b` if they depend on the axes of a workload; see `resolved`.
  std::optional<expression> a_of, b_of;
  /// For "offsets": the distribution of the row lengths. "": the ends of the rows are drawn uniformly;
  /// "equal": lengths differ by at most one; "uniform": each length is between 0 and twice the mean;
  /// "power_law": the length of the k-th longest row is proportional to k^-parameter.
  std::string law;
  double parameter = 0;  ///< exponent of "zipf" and of the law "power_law"
  std::string rows;      ///< for "columns": name of the input that holds the offsets
  friend bool operator==(const generator&, const generator&) = default;
};

/// A tensor or scalar that a candidate reads or writes.
struct tensor {
  std::string name;
  std::vector<std::string> shape;  ///< axis names or expressions of axes, outermost first; row-major
  bool scalar = false;             ///< passed by value; FlashInfer's `shape: null`
  std::string dtype;               ///< "float32", "int32", "bfloat16", ...; not a closed list
  generator generate;              ///< inputs only
  std::string description;
};

/// The rule by which an element of an output is accepted.
struct tolerance {
  /// - "accumulation": |error| <= factor * u * sqrt(length) * scale[i] + length * s. u is the unit roundoff
  ///   of the output's type and s its smallest positive number; the reference writes the tensor `scale` as an
  ///   extra output.
  /// - "bounds": |error| <= max_atol + max_rtol * |expected|.
  /// - "exact": equal to the expected value.
  /// - "finite": any finite number is accepted, for outputs that only have to satisfy a contract (below).
  std::string rule = "bounds";
  double max_atol = 1e-5;               ///< for "bounds": absolute part of the bound
  double max_rtol = 1e-5;               ///< for "bounds": relative part of the bound
  double required_matched_ratio = 1.0;  ///< share of elements that must be accepted
  /// Upper limit of the error of every element, including those that need not be accepted.
  std::optional<double> max_error_cap;
  bool allow_negative_inf = false;  ///< whether -inf is accepted where -inf is expected
  std::string scale;    ///< for "accumulation": name of the scale tensor that the reference writes
  double factor = 4.0;  ///< for "accumulation": the factor of the bound
  std::optional<expression> length;  ///< for "accumulation": number of terms summed in an element; none: 1
  /// Conditions on an output as a whole (a contract), as test suites of quantized operators use them
  /// (KernelBench-X). An output must satisfy them in addition to the rule for its elements.
  std::optional<double> min_cosine;       ///< lower limit of the cosine, got * expected / (|got| |expected|)
  std::optional<double> max_relative_l1;  ///< upper limit of sum |error| / sum |expected|
  std::optional<double> max_rmse;  ///< upper limit of the root mean square error, sqrt(mean of error^2)

  /// Whether programs may be compiled with fast math for this output: results that are less exact than the
  /// operations of their sources, and wrong for infinities and values that are not numbers.
  bool fast_math = false;

  /// Whether the output has to satisfy a condition as a whole.
  bool has_contract() const { return min_cosine || max_relative_l1 || max_rmse; }
};

/// Values of an input, read from a file when the task was loaded.
struct tensor_contents {
  std::string file;                 ///< path as written in the task
  std::vector<std::int64_t> shape;  ///< as stated in the file, outermost first
  std::vector<std::byte> bytes;     ///< elements of the input's dtype, row major, little-endian
};

/// The source of the values of an input in a workload: its generator ("random"), a value or a file.
struct workload_input {
  std::string kind;                                 ///< "random", "scalar" or "file"
  double value = 0;                                 ///< for "scalar"
  std::shared_ptr<const tensor_contents> contents;  ///< for "file": the values that were read
  /// For "file": whether calls get the elements of the file in their order. Otherwise each element is drawn
  /// at random from those of the file, so that the input data of a call cannot be known in advance.
  bool kept = true;
  /// For "file" with `kept`: whether some calls get values of the input's generator instead of the file's.
  /// In these calls, the other inputs from files are generated as well, except kept ones without a generator.
  bool alternates = false;
};

/// A value for each variable axis, and how the inputs are made. A hidden workload is used to check
/// correctness only; it is never timed and never shown to operators.
struct workload {
  std::string uuid;                              ///< identifies the workload within the task
  std::map<std::string, std::int64_t> axes;      ///< the variable axes
  std::map<std::string, workload_input> inputs;  ///< by input; inputs without an entry are random
  std::map<std::string, generator> generate;     ///< by input; these replace the task's generators
  std::map<std::string, tolerance> tolerances;   ///< by output; "" applies to all outputs
  std::string cache = "warm";  ///< "warm", or "cold": caches are flushed before each timed call
  bool hidden = false;         ///< whether it is checked only
  double weight = 1;           ///< weight in the geometric mean of the speedups
};

/// The work of a call as expressions of the axes.
struct cost_model {
  std::optional<expression> flops;      ///< floating-point operations of a usual implementation
  std::optional<expression> bytes;      ///< bytes that must be moved to and from memory
  std::optional<expression> min_flops;  ///< lower bound of the operations that any algorithm needs
};

/// The program that defines the correct result. In C++ (language "cpp"): `extern "C" void reference(inputs as
/// const double* or int64_t*..., outputs as double* or int64_t*..., scale tensors as double*..., axes as
/// int64_t...)`. In Python (language "python") it is a class or a function of PyTorch, as KernelBench and
/// FlashInfer-Bench write them.
struct reference_source {
  std::string language;  ///< "cpp" or "python"
  program source;
  std::string form{};   ///< Python: "module" (a class whose instance is called) or "function"
  std::string entry{};  ///< Python: name of the class or function
  std::string init{};  ///< Python: a JSON object; may be empty. Of a module "args" and "kwargs", arguments of
                       ///< the constructor; of a function "calls", how it is called, and "precision",
                       ///< "task" if it computes in the types of the inputs (docs/torch.md)
};

/// A named program to which the speed of candidates is compared. Baselines are trusted.
struct baseline {
  std::string name;
  program source;
  std::vector<std::string> link;  ///< libraries to link, e.g. "openblas"
  bool optional = false;          ///< if it does not build, it is left out with a message instead of an error
};

/// A complete task. A value type. A loader or a program makes it; it is not changed afterwards.
struct task {
  std::string name;
  std::string op_type;            ///< kind of operation, such as "gemm"; may be empty
  std::string description;        ///< for users and language models; may be empty
  std::vector<std::string> tags;  ///< keywords; `kevo bench` groups tasks by those of the form KIND:NAME
  std::vector<axis> axes;  ///< in file order; the kernel takes the variable ones as arguments in this order
  std::vector<tensor> inputs;                   ///< in file order, which is the order of the arguments
  std::vector<tensor> outputs;                  ///< in file order; arguments after the inputs
  std::vector<expression> constraints;          ///< conditions on the axes that every workload must meet
  std::optional<reference_source> reference;    ///< none for a task that a program of the user judges
  std::map<std::string, tolerance> tolerances;  ///< by output; "" applies to all outputs
  std::vector<workload> workloads;              ///< visible and hidden ones, in file order
  cost_model cost;                              ///< without it, no speed-of-light fraction is known
  std::vector<program> seeds;                   ///< programs from which the search starts
  std::vector<baseline> baselines;              ///< speedups are relative to the first one
  std::string file;  ///< path of the task file, for messages; empty if the task was made in code
  std::map<std::string, std::string> extra;  ///< FlashInfer fields that kevo only stores and exports
  /// The files of seeds, baselines and reference, as written in the task, by the content id of the program;
  /// for messages.
  std::map<std::string, std::string> source_files;
};

/// The file of a program of the task, as written in the task; empty if it is not known.
inline std::string source_file_of(const task& t, const program& source) {
  const auto found = t.source_files.find(to_string(id_of(source)));
  return found == t.source_files.end() ? std::string() : found->second;
}

/// The tolerance for an output in a workload: the first that exists of the workload's entry for the output,
/// the workload's entry "", the task's entry for the output, the task's entry ""; else the default.
inline tolerance tolerance_for(const task& t, const workload& w, const std::string& output) {
  for (const auto* map : {&w.tolerances, &t.tolerances}) {
    for (const auto& key : {output, std::string()}) {
      if (const auto it = map->find(key); it != map->end()) return it->second;
    }
  }
  return {};
}

}  // namespace kevo
