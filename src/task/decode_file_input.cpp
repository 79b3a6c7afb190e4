#include "src/task/decode_file_input.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/dtype.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/oracle/element_type.hpp"
#include "src/base/tensor_file/tensor_file.hpp"

namespace kevo::task_decoding {
namespace {

std::string text_of(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

template <class T>
file_tensor converted(const settings& input, const tensor& declared, const std::vector<T>& values) {
  const auto& type = element_type_of(declared);
  file_tensor made{declared.dtype, {static_cast<std::int64_t>(values.size())}, {}};
  made.bytes.resize(values.size() * type.size);
  store_values(type, std::span<const T>(values), made.bytes.data());
  if (type.kind != element_kind::real) {
    const auto kept = load_integers(type, made.bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (static_cast<T>(kept[i]) != values[i])
        input.fail("path", fmt::format("the value {} does not fit into {}", values[i], declared.dtype));
    }
  }
  return made;
}

file_tensor part_of_matrix(settings& input, const tensor& declared, const std::string& contents,
                           const std::string& file) {
  const auto part = input.text("part", {.doc = "part of the matrix in compressed sparse rows",
                                        .one_of = {"offsets", "columns", "values"}});
  const auto matrix = parse_matrix_market(contents, file);
  if (part != "values" && !is_exact(*find_dtype(declared.dtype)))
    input.fail("part", "'" + declared.name + "' is " + declared.dtype + ", and " + part + " are integers");
  if (part == "offsets") return converted(input, declared, matrix.row_start);
  if (part == "columns") return converted(input, declared, matrix.column);
  return converted(input, declared, matrix.value);
}

file_tensor tensor_of(settings& input, const std::string& type, const tensor& declared,
                      const std::string& contents, const std::string& file) {
  if (type == "matrix_market") return part_of_matrix(input, declared, contents, file);
  auto found = type == "npy"
                   ? parse_npy(contents, file)
                   : parse_safetensors(
                         contents, input.text("tensor_key", {.doc = "name of the tensor in the file"}), file);
  if (found.dtype != declared.dtype) {
    input.fail("path", "the file holds " + found.dtype + ", and '" + declared.name + "' is " + declared.dtype,
               declared.dtype == "bfloat16"
                   ? "save it as bfloat16 in a safetensors file (NumPy has no such type)"
                   : "convert the file, for example with array.astype(numpy." + declared.dtype + ")");
  }
  return found;
}

}  // namespace

bool is_file_type(std::string_view type) {
  return type == "npy" || type == "safetensors" || type == "matrix_market";
}

workload_input decode_file_input(
    settings& input, const std::string& type, const task& t, const tensor& declared, const workload& made,
    const std::function<std::string(const std::string&, const error_place&)>& read, bool generated) {
  const auto path = input.text("path", {.doc = "file with the contents, relative to the task file"});
  const bool exact = is_exact(*find_dtype(declared.dtype));
  const auto contents =
      input.text("contents", {.def = exact ? "kept" : "drawn",
                              .doc = "kept: as they are; drawn: each element is one of the file's, at random",
                              .one_of = {"kept", "drawn"}});
  auto found = [&] {
    try {
      return tensor_of(input, type, declared, read(path, input.place("path")), path);
    } catch (const std::bad_alloc&) {
      input.fail("path", "there is not enough memory to read '" + path + "'",
                 "use a smaller file, or a machine with more memory");
    }
  }();
  const auto wanted = extents(declared, axis_values(t, made));
  if (found.shape != wanted) {
    input.fail("path",
               "the file has the shape " + text_of(found.shape) + ", and '" + declared.name +
                   "' has the shape " + text_of(wanted) + " in this workload",
               "give the axes of the workload the sizes of the file");
  }
  const bool flags = declared.dtype == "bool";
  if (flags &&
      std::any_of(found.bytes.begin(), found.bytes.end(), [](std::byte b) { return b > std::byte{1}; }))
    input.fail("path", "the file holds bool elements that are neither 0 nor 1");
  workload_input recipe;
  recipe.kind = "file";
  recipe.kept = contents == "kept";
  recipe.alternates = recipe.kept && (generated || !exact);
  recipe.contents = std::make_shared<const tensor_contents>(
      tensor_contents{path, std::move(found.shape), std::move(found.bytes)});
  return recipe;
}

void require_some_secret(const settings& one, const task& t, const workload& made) {
  bool known = false;
  for (const auto& input : t.inputs) {
    if (input.scalar) continue;
    const auto given = made.inputs.find(input.name);
    if (given == made.inputs.end() || !given->second.contents || !given->second.kept) return;
    known = true;
  }
  if (!known) return;
  one.fail("inputs",
           "all inputs are read unchanged from files, so that a program that contains the expected output "
           "would pass",
           "write contents: drawn for one of them, or let it be random");
}

}  // namespace kevo::task_decoding
