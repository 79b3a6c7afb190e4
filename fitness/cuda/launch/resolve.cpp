#include "fitness/cuda/launch/resolve.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>

#include "fitness/cuda/launch/environment.hpp"
#include "fitness/cuda/launch/resolve_parts.hpp"
#include "fitness/cuda/launch/triton_launch.hpp"

namespace kevo::cuda {
namespace {

using detail::environment;
using detail::loop_index;
using detail::scope;

constexpr std::size_t most_steps = 4096;
constexpr std::uint64_t least_alignment = 256;
constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 20U;

template <class Result, class Work>
Result as_value(const Work& work) {
  try {
    return work();
  } catch (const error& e) {
    if (e.code() != error_code::input) throw;
    return launch_failure{e.what()};
  }
}

/// Runs `body(index)` once, or for every index of the line's loop.
template <class Body>
void repeat(const statement_line& line, const environment& names, const Body& body) {
  if (!line.loop) return body(nullptr);
  const auto range = detail::range_of(*line.loop, names);
  for (std::int64_t i = range.from; i < range.to; ++i) {
    const loop_index index{line.loop->id.text, i};
    body(&index);
  }
}

bool holds(const statement_line& line, const environment& names) {
  return !line.condition || names.value(*line.condition) != 0;
}

std::string last_component(const std::string& kernel) {
  const auto at = kernel.rfind("::");
  return at == std::string::npos ? kernel : kernel.substr(at + 2);
}

class resolver {
 public:
  resolver(const declared_launch& lines, const launch_signature& workload, const compiled_module& module,
           const device_facts& facts)
      : lines_(lines),
        workload_(workload),
        module_(module),
        facts_(facts),
        names_(lines, workload, facts, true),
        fixed_(lines, workload, facts, false) {
    names_.occupancy = [this](std::string_view kernel) { return occupancy(kernel); };
    names_.constant = [this](std::string_view kernel, std::string_view name) {
      return constant(kernel, name);
    };
    scope_.names = &names_;
    scope_.workload = &workload_;
  }
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

  /// The variants of Triton kernels that this workload launches, each once. The module may be empty.
  std::vector<std::string> variants() {
    compiled_ = false;
    add_buffers();
    std::vector<std::string> names;
    for (const auto& line : lines_.statements) {
      const auto* launch = std::get_if<launch_line>(&line.body);
      if (launch == nullptr || !holds(line, names_)) continue;
      repeat(line, names_, [&](const loop_index* index) {
        auto name = detail::triton_variant(*launch, lines_, scope_, index);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
      });
    }
    return names;
  }

  plan run() {
    add_buffers();
    for (const auto& line : lines_.statements) {
      if (const auto* map = std::get_if<tensor_map_line>(&line.body)) add_tensor_map(*map, line);
    }
    bool launches = false;
    for (const auto& line : lines_.statements) {
      if (const auto* launch = std::get_if<launch_line>(&line.body)) {
        if (!holds(line, names_)) continue;
        repeat(line, names_, [&](const loop_index* index) {
          add_launch(*launch, line, index);
          launches = true;
        });
      } else if (const auto* set = std::get_if<memset_line>(&line.body)) {
        if (!holds(line, names_)) continue;
        repeat(line, names_, [&](const loop_index* index) { add_memset(*set, line, index); });
      }
    }
    if (!launches) {
      error_place place;
      place.file = lines_.file;
      throw error(error_code::input, "no launch line applies to workload '" + workload_.workload + "'", place,
                  "each workload needs a launch; a last line without 'when' covers the remaining workloads");
    }
    return std::move(result_);
  }

 private:
  void add_buffers() {
    names_.check_all_names();
    add_tensors(workload_.inputs, false);
    add_tensors(workload_.outputs, true);
    result_.inputs = static_cast<std::uint32_t>(workload_.inputs.size());
    result_.outputs = static_cast<std::uint32_t>(workload_.outputs.size());
    for (const auto& line : lines_.statements) {
      if (const auto* space = std::get_if<workspace_line>(&line.body)) add_workspace(*space, line);
    }
  }

  void add_launch(const launch_line& launch, const statement_line& line, const loop_index* index) {
    const auto kernel = kernel_of(launch, index);
    const auto& compiled = module_.kernels[kernel];
    if (!launch.triton) {
      add_step(detail::resolve_launch(launch, line, kernel, compiled, facts_, scope_, index), line);
      return;
    }
    launching_ = &compiled;
    launching_name_ = launch.kernel.text;
    auto step = detail::resolve_triton_launch(launch, line, kernel, compiled, facts_, scope_, index);
    launching_ = nullptr;
    const auto bytes = detail::scratch_bytes(step, compiled);
    if (bytes > 0) {
      const auto used = compiled.decided->arguments.size();
      if (step.arguments.size() == used)
        throw error(error_code::input,
                    launch.kernel.text + ": the kernel needs scratch memory and has no parameter for it",
                    line.place);
      step.arguments[used] = buffer_argument{scratch(bytes, compiled.decided->scratch_align, line), 0};
    }
    add_step(std::move(step), line);
  }

  /// The buffer of the scratch memory of Triton kernels, which launches use one after the other.
  std::uint32_t scratch(std::uint64_t bytes, std::uint64_t align, const statement_line& line) {
    if (align > largest_alignment || (align & (align - 1)) != 0)
      throw error(
          error_code::input,
          fmt::format("the scratch memory of the kernel has an alignment of {} bytes, which is not a power "
                      "of two up to {}",
                      align, largest_alignment),
          line.place);
    align = std::max(align, least_alignment);
    const auto first = result_.inputs + result_.outputs;
    if (!scratch_) {
      scratch_ = static_cast<std::uint32_t>(result_.workspaces.size());
      result_.workspaces.push_back({"scratch memory", "uint8", 0, align});
    }
    auto& space = result_.workspaces[*scratch_];
    const auto before = space.bytes;
    space.bytes = std::max(space.bytes, bytes);
    space.align = std::max(space.align, align);
    workspace_bytes_ += space.bytes - before;
    if (workspace_bytes_ > facts_.workspace_bytes) {
      throw error(
          error_code::input,
          fmt::format(
              "the kernel needs {} bytes of scratch memory, but the limit for all workspaces together is {}",
              bytes, facts_.workspace_bytes),
          line.place);
    }
    return first + *scratch_;
  }

  std::int64_t constant(std::string_view kernel, std::string_view name) const {
    if (launching_ == nullptr || kernel != launching_name_) {
      throw error(error_code::input, fmt::format("'{}.{}' can be used only in the grid of a launch of {}",
                                                 kernel, name, kernel));
    }
    const auto& all = launching_->decided->constants;
    if (const auto found = all.find(std::string(name)); found != all.end()) return found->second;
    std::vector<std::string> known;
    known.reserve(all.size());
    for (const auto& [word, value] : all) known.push_back(word);
    throw error(error_code::input, fmt::format("the kernel '{}' has no integer constant '{}'", kernel, name),
                {}, kevo::detail::hint_for(name, known, "constants"));
  }

  void add_tensors(const std::vector<buffer_signature>& tensors, bool writable) {
    for (const auto& x : tensors) {
      const auto type = find_dtype(x.dtype);
      if (!type) throw error(error_code::internal, "a tensor of unknown dtype " + x.dtype);
      scope_.buffers[x.name] = {static_cast<std::uint32_t>(scope_.buffers.size()), x.elements, *type,
                                writable};
    }
  }

  void add_workspace(const workspace_line& line, const statement_line& statement) {
    const auto fail = [&](const std::string& message, const std::string& hint = {}) {
      throw error(error_code::input, "workspace '" + line.id.text + "': " + message, line.id.place, hint);
    };
    if (!holds(statement, names_)) {
      scope_.absent.emplace(line.id.text, "workspace");
      return;
    }
    if (scope_.buffers.contains(line.id.text)) fail("the name is already in use");
    std::uint64_t elements = 1;
    for (const auto& e : line.shape) {
      const auto extent = names_.value(e);
      if (extent < 0) fail(fmt::format("the extent '{}' is negative: {}", e.text(), extent));
      if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(extent), &elements))
        fail("its size does not fit in 64 bits");
    }
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(elements, std::uint64_t{line.type.size}, &bytes))
      fail("its size does not fit in 64 bits");
    std::uint64_t align = least_alignment;
    if (line.align) {
      const auto asked = names_.value(*line.align);
      if (asked < 1 || static_cast<std::uint64_t>(asked) > largest_alignment || (asked & (asked - 1)) != 0)
        fail(fmt::format("the alignment is {}, but must be a power of two up to {}", asked,
                         largest_alignment));
      align = std::max(align, static_cast<std::uint64_t>(asked));
    }
    if (bytes > facts_.workspace_bytes || workspace_bytes_ + bytes + align > facts_.workspace_bytes) {
      fail(fmt::format("its size is {} bytes, but the limit for all workspaces together is {}", bytes,
                       facts_.workspace_bytes));
    }
    workspace_bytes_ += bytes + align;
    scope_.buffers[line.id.text] = {static_cast<std::uint32_t>(scope_.buffers.size()), elements, line.type,
                                    true};
    result_.workspaces.push_back({line.id.text, std::string(line.type.name), bytes, align});
  }

  void add_tensor_map(const tensor_map_line& line, const statement_line& statement) {
    if (!holds(statement, names_)) {
      scope_.absent.emplace(line.id.text, "tensor map");
      return;
    }
    if (scope_.tensor_maps.contains(line.id.text))
      throw error(error_code::input, "tensor map '" + line.id.text + "' is already defined", line.id.place);
    if (facts_.cluster_blocks < 2)
      throw error(error_code::input, "tensor maps need compute capability 9 or newer", line.id.place);
    scope_.tensor_maps[line.id.text] = static_cast<std::uint32_t>(result_.tensor_maps.size());
    result_.tensor_maps.push_back(detail::resolve_tensor_map(line, statement, scope_));
  }

  void add_step(plan_step step, const statement_line& line) {
    if (result_.steps.size() == most_steps)
      throw error(error_code::input, fmt::format("a call has more than {} launches", most_steps), line.place);
    result_.steps.push_back(std::move(step));
  }

  void add_memset(const memset_line& line, const statement_line& statement, const loop_index* index) {
    const auto& buffer = scope_.buffer(line.buffer);
    if (!buffer.writable)
      throw error(error_code::input, "'" + line.buffer.text + "' is an input, and inputs must not be changed",
                  line.buffer.place);
    const auto byte = names_.value(line.byte, index);
    if (byte < 0 || byte > 255)
      throw error(error_code::input, fmt::format("the memset value {} is not in 0 .. 255", byte),
                  statement.place);
    const auto bytes =
        line.bytes ? names_.value(*line.bytes, index) : static_cast<std::int64_t>(buffer.bytes());
    if (bytes < 0 || static_cast<std::uint64_t>(bytes) > buffer.bytes()) {
      throw error(error_code::input,
                  fmt::format("memset sets {} bytes of '{}', which has only {} bytes", bytes,
                              line.buffer.text, buffer.bytes()),
                  line.buffer.place);
    }
    add_step(memory_set{buffer.index, 0, static_cast<std::uint8_t>(byte), static_cast<std::uint64_t>(bytes)},
             statement);
  }

  std::uint32_t kernel_of(const launch_line& line, const loop_index* index) const {
    const auto name = line.triton ? detail::triton_variant(line, lines_, scope_, index)
                                  : detail::kernel_name(line, lines_, fixed_, index);
    for (std::size_t i = 0; i < module_.kernels.size(); ++i) {
      if (module_.kernels[i].name == name) return static_cast<std::uint32_t>(i);
    }
    std::vector<std::string> known;
    for (const auto& kernel : module_.kernels) known.push_back(kernel.name);
    throw error(error_code::input, "the program has no kernel '" + kevo::detail::shown(name) + "'",
                line.kernel.place, kevo::detail::hint_for(name, known, "kernels"));
  }

  std::int64_t occupancy(std::string_view kernel) {
    if (!compiled_) {
      throw error(error_code::input,
                  "occupancy(" + std::string(kernel) +
                      ") depends on the compiled kernel: programs in Triton can use it in a grid only");
    }
    for (const auto& line : lines_.statements) {
      const auto* launch = std::get_if<launch_line>(&line.body);
      if (launch == nullptr || last_component(launch->kernel.text) != kernel) continue;
      if (asking_) {
        throw error(error_code::input,
                    "occupancy(" + std::string(kernel) +
                        ") depends on itself: the launch of this kernel must not use its own occupancy",
                    line.place);
      }
      asking_ = true;
      std::optional<std::int64_t> answer;
      try {
        answer = occupancy_of(*launch, line);
      } catch (...) {
        asking_ = false;
        throw;
      }
      asking_ = false;
      if (answer) return *answer;
    }
    throw error(error_code::input,
                "occupancy(" + std::string(kernel) + "): no line launches this kernel on this workload");
  }

  /// Nothing if the line does not hold.
  std::optional<std::int64_t> occupancy_of(const launch_line& launch, const statement_line& line) {
    if (!holds(line, names_)) return std::nullopt;
    std::optional<loop_index> index;
    if (line.loop) {
      const auto range = detail::range_of(*line.loop, names_);
      if (range.from >= range.to) return std::nullopt;
      index = loop_index{line.loop->id.text, range.from};
    }
    const auto* first = index ? &*index : nullptr;
    if (launch.triton) {
      const auto& compiled = module_.kernels[kernel_of(launch, first)];
      return blocks_per_sm(facts_, compiled, compiled.decided->threads,
                           compiled.decided->dynamic_shared_bytes);
    }
    const auto shape = detail::block_of(launch, line, names_, first, facts_);
    return blocks_per_sm(facts_, module_.kernels[kernel_of(launch, first)], shape.threads,
                         shape.dynamic_shared_bytes);
  }

  const declared_launch& lines_;
  const launch_signature& workload_;
  const compiled_module& module_;
  const device_facts& facts_;
  environment names_;
  environment fixed_;
  scope scope_;
  plan result_;
  std::uint64_t workspace_bytes_ = 0;
  bool asking_ = false;
  bool compiled_ = true;                        // the module has the kernels that lines launch
  const compiled_kernel* launching_ = nullptr;  // the Triton kernel whose launch is being worked out
  std::string launching_name_;
  std::optional<std::uint32_t> scratch_;  // in result_.workspaces
};

bool mentions(const launch_line& launch, const std::string& word) {
  return std::any_of(launch.template_args.begin(), launch.template_args.end(),
                     [&](const placed_name& argument) {
                       return detail::find_word(argument.text, word) != std::string::npos;
                     });
}

}  // namespace

launch_reading read_launch_lines(const program& source) {
  return as_value<launch_reading>([&]() -> launch_reading { return parse_launch_lines(source); });
}

kernel_names_result kernel_names(const declared_launch& lines, const launch_signature& any,
                                 const device_facts& facts) {
  return as_value<kernel_names_result>([&]() -> kernel_names_result {
    const environment fixed(lines, any, facts, false);
    fixed.check_all_names();
    std::vector<std::string> names;
    const auto add = [&](const launch_line& launch, const loop_index* index) {
      auto name = detail::kernel_name(launch, lines, fixed, index);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    };
    for (const auto& line : lines.statements) {
      const auto* launch = std::get_if<launch_line>(&line.body);
      if (launch == nullptr) continue;
      if (line.condition && fixed.knows(*line.condition) && fixed.value(*line.condition) == 0) continue;
      if (!line.loop || !mentions(*launch, line.loop->id.text)) {
        add(*launch, nullptr);
      } else if (fixed.knows(line.loop->from) && fixed.knows(line.loop->to)) {
        repeat(line, fixed, [&](const loop_index* index) { add(*launch, index); });
      } else {
        throw error(
            error_code::input,
            "a template argument uses '" + line.loop->id.text + "', whose range varies with the workload",
            line.loop->id.place);
      }
    }
    return names;
  });
}

kernel_names_result triton_variants(const declared_launch& lines, const launch_signature& workload,
                                    const device_facts& facts) {
  return as_value<kernel_names_result>(
      [&]() -> kernel_names_result { return resolver(lines, workload, {}, facts).variants(); });
}

launch_resolution resolve(const declared_launch& lines, const launch_signature& workload,
                          const compiled_module& module, const device_facts& facts) {
  auto result = as_value<launch_resolution>(
      [&]() -> launch_resolution { return resolver(lines, workload, module, facts).run(); });
  if (workload.hidden && std::holds_alternative<launch_failure>(result))
    return launch_failure{"the launch lines do not work on a hidden workload"};
  return result;
}

}  // namespace kevo::cuda
