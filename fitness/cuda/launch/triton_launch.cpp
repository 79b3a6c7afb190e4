#include "fitness/cuda/launch/triton_launch.hpp"

#include <array>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>

namespace kevo::cuda::detail {
namespace {

struct triton_type {
  std::string_view dtype, name;
};
constexpr std::array<triton_type, 13> types = {{{"float16", "fp16"},
                                                {"bfloat16", "bf16"},
                                                {"float32", "fp32"},
                                                {"float64", "fp64"},
                                                {"int8", "i8"},
                                                {"int16", "i16"},
                                                {"int32", "i32"},
                                                {"int64", "i64"},
                                                {"uint8", "u8"},
                                                {"uint16", "u16"},
                                                {"uint32", "u32"},
                                                {"uint64", "u64"},
                                                {"bool", "i1"}}};
constexpr std::uint64_t known_divisor = 16;  // of addresses and numbers, that Triton makes use of

[[noreturn]] void fail(const argument_line& line, const std::string& message, const std::string& hint = {}) {
  throw error(error_code::input, "argument '" + kevo::detail::shown(line.text, 40) + "': " + message,
              line.place, hint);
}

std::string_view type_name(std::string_view dtype, const argument_line& line) {
  for (const auto& one : types) {
    if (one.dtype == dtype) return one.name;
  }
  fail(line, "Triton kernels cannot be given the type " + std::string(dtype));
}

/// A number of which Triton only knows the type.
std::string of_type(std::string_view dtype, const argument_line& line) {
  if (dtype == "float16" || dtype == "bfloat16")
    fail(line, "a number of type " + std::string(dtype) + " cannot be passed to a Triton kernel",
         "pass float32(...)");
  return std::string(type_name(dtype, line));
}

std::string of_integer(std::int64_t value, std::string_view type) {
  if (value == 1) return "=1";
  return std::string(type) + (value % static_cast<std::int64_t>(known_divisor) == 0 ? ":16" : "");
}

std::string type_of_argument(const argument_line& line, const scope& known, const loop_index* index) {
  if (std::holds_alternative<null_argument>(line.value)) return "=None";
  if (const auto* typed = std::get_if<typed_argument>(&line.value)) {
    auto name = of_type(typed->type.name, line);
    const auto* whole = std::get_if<expression>(&typed->value);
    if (whole == nullptr || typed->type.kind == dtype_kind::boolean) return name;
    return of_integer(known.names->value(*whole, index), name);
  }
  const auto& plain = std::get<plain_argument>(line.value);
  if (plain.name) {
    const auto& name = plain.name->text;
    if (known.buffers.contains(name) || known.absent.contains(name)) {
      const auto& buffer = known.buffer(*plain.name);
      const auto offset = known.byte_offset(buffer, plain.offset, index, line.place);
      return "*" + std::string(type_name(buffer.type.name, line)) +
             (offset % known_divisor == 0 ? ":16" : "");
    }
    for (const auto& scalar : known.workload->scalars) {
      if (scalar.name == name && !plain.offset) return of_type(scalar.dtype, line);
    }
    if (!known.names->find(name, index)) {
      std::vector<std::string> words;
      for (const auto& [word, buffer] : known.buffers) words.push_back(word);
      for (const auto& scalar : known.workload->scalars) words.push_back(scalar.name);
      for (const auto& [word, value] : known.workload->axes) words.push_back(word);
      fail(line, "unknown name '" + kevo::detail::shown(name) + "'",
           kevo::detail::hint_for(name, words, "names"));
    }
  }
  const auto value = known.names->value(*plain.value, index);
  const bool small =
      value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
  return of_integer(value, small ? "i32" : "i64");
}

/// The value of a constant as Python reads it: an integer where it is an expression whose names are known.
std::string constant_text(const placed_name& value, const declared_launch& lines, const scope& known,
                          const loop_index* index) {
  std::optional<expression> e;
  try {
    e = expression::parse(value.text, value.place);
  } catch (const error&) {  // a word of Python's, then
  }
  if (e && known.names->knows(*e, index)) return std::to_string(known.names->value(*e, index));
  return with_tunables(value.text, lines.tunables);
}

}  // namespace

std::string triton_variant(const launch_line& line, const declared_launch& lines, const scope& known,
                           const loop_index* index) {
  std::string call = line.kernel.text + "(";
  const auto add = [&](const std::string& part) {
    if (call.back() != '(') call += ", ";
    call += part;
  };
  for (const auto& argument : line.arguments) add("'" + type_of_argument(argument, known, index) + "'");
  for (const auto& constant : line.triton->constants)
    add(constant.name.text + "=" + constant_text(constant.value, lines, known, index));
  const auto setting = [&](const char* name, const std::optional<expression>& value, std::int64_t least) {
    if (!value) return;
    const auto number = known.names->value(*value, index);
    if (number < least || number > 65536)
      throw error(error_code::input, fmt::format("{} is {}", name, number), line.kernel.place);
    add(fmt::format("{}={}", name, number));
  };
  setting("num_warps", line.triton->warps, 1);
  setting("num_stages", line.triton->stages, 0);
  setting("num_ctas", line.triton->ctas, 1);
  setting("maxnreg", line.triton->registers, 1);
  setting("config", line.triton->config, 0);
  return call + ")";
}

kernel_launch resolve_triton_launch(const launch_line& line, const statement_line& statement,
                                    std::uint32_t kernel, const compiled_kernel& compiled,
                                    const device_facts& facts, const scope& known, const loop_index* index) {
  if (!compiled.decided)
    throw error(error_code::internal, "'" + compiled.name + "' is not a variant of a Triton kernel");
  const auto& decided = *compiled.decided;
  const auto refuse = [&](const std::string& message) {
    throw error(error_code::input, line.kernel.text + ": " + message, line.kernel.place);
  };
  kernel_launch launch;
  launch.kernel = kernel;
  launch.grid = grid_of(line, statement, *known.names, index);
  launch.block = {decided.threads, 1, 1};
  launch.dynamic_shared_bytes = decided.dynamic_shared_bytes;
  if (decided.threads < 1 || decided.threads > facts.threads_per_block)
    refuse(fmt::format("a block has {} threads, but the maximum is {}", decided.threads,
                       facts.threads_per_block));
  const auto shared = std::uint64_t{compiled.static_shared_bytes} + decided.dynamic_shared_bytes;
  if (shared > facts.shared_per_block) {
    refuse(fmt::format("it uses {} bytes of shared memory, but the maximum is {}", shared,
                       facts.shared_per_block));
  }
  const auto resident = blocks_per_sm(facts, compiled, decided.threads, decided.dynamic_shared_bytes);
  if (resident < 1) {
    refuse(
        fmt::format("a block of {} threads with {} registers each and {} bytes of shared memory does not fit "
                    "on a multiprocessor",
                    decided.threads, compiled.registers, shared));
  }
  if (decided.cluster_blocks > 1) {
    if (decided.cluster_blocks > facts.cluster_blocks)
      refuse(fmt::format("the cluster has {} blocks, but the maximum is {}", decided.cluster_blocks,
                         facts.cluster_blocks));
    const auto blocks = std::uint64_t{launch.grid[0]} * decided.cluster_blocks;
    if (blocks > 2147483647U) refuse("the grid is too large");
    launch.grid[0] = static_cast<std::uint32_t>(blocks);
    launch.cluster = {decided.cluster_blocks, 1, 1};
  }
  launch.cooperative = decided.cooperative;
  if (compiled.parameters.size() < decided.arguments.size() ||
      compiled.parameters.size() > decided.arguments.size() + 2)
    refuse("its parameters are not those that its launch line gives");
  for (std::size_t i = 0; i < decided.arguments.size(); ++i) {
    const auto from = decided.arguments[i];
    if (from >= line.arguments.size()) refuse("its parameters are not those that its launch line gives");
    launch.arguments.push_back(
        resolve_argument(line.arguments[from], compiled.parameters[i], from + std::size_t{1}, known, index));
  }
  while (launch.arguments.size() < compiled.parameters.size()) launch.arguments.emplace_back(null_argument{});
  return launch;
}

std::uint64_t scratch_bytes(const kernel_launch& launch, const compiled_kernel& compiled) {
  if (!compiled.decided) return 0;
  std::uint64_t bytes = compiled.decided->scratch_bytes;
  for (const auto extent : launch.grid) {
    if (__builtin_mul_overflow(bytes, std::uint64_t{extent}, &bytes))
      throw error(error_code::input,
                  compiled.name + ": the size of its scratch memory does not fit in 64 bits");
  }
  return bytes;
}

}  // namespace kevo::cuda::detail
