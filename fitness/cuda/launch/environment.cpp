#include "fitness/cuda/launch/environment.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <kevo/detail/literal.hpp>
#include <kevo/detail/nearest.hpp>

namespace kevo::cuda::detail {
namespace {

constexpr std::int64_t most_rounds = 4096;

std::optional<std::string_view> occupancy_argument(std::string_view name) {
  if (!name.starts_with("occupancy(")) return std::nullopt;
  return name.substr(10, name.size() - 11);
}

std::string last_component(const std::string& kernel) {
  const auto at = kernel.rfind("::");
  return at == std::string::npos ? kernel : kernel.substr(at + 2);
}

/// The kernel and the constant of "kernel.NAME"; nothing for other names.
std::optional<std::pair<std::string_view, std::string_view>> kernel_constant(std::string_view name) {
  const auto dot = name.find('.');
  if (dot == std::string_view::npos || name == "device.sms") return std::nullopt;
  return std::pair(name.substr(0, dot), name.substr(dot + 1));
}

}  // namespace

std::string with_tunables(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = kevo::detail::end_of_name(text, at);
    if (end == at) {
      result += text[at++];
      // A digit after which letters come is one token: 0x10, 4u.
      while (kevo::detail::is_name_char(result.back()) && at < text.size() &&
             kevo::detail::is_name_char(text[at]))
        result += text[at++];
      continue;
    }
    const std::string word(text.substr(at, end - at));
    const auto found = values.find(word);
    result += found == values.end() ? word : found->second;
    at = end;
  }
  return result;
}

std::size_t find_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !kevo::detail::is_name_char(text[at - 1]);
    if (starts && (end >= text.size() || !kevo::detail::is_name_char(text[end]))) return at;
  }
  return std::string_view::npos;
}

error_place place_of_word(const statement_line& line, std::string_view word) {
  auto place = line.place;
  if (const auto at = find_word(line.text, word); at != std::string_view::npos)
    place.column += static_cast<int>(at);
  return place;
}

void for_each_expression(const statement_line& line, const std::function<void(const expression&)>& f) {
  const auto all = [&](const auto& list) {
    for (const auto& e : list) f(e);
  };
  const auto maybe = [&](const std::optional<expression>& e) {
    if (e) f(*e);
  };
  const auto mode = [&](const std::optional<mode_line>& m) {
    if (m && std::holds_alternative<expression>(*m)) f(std::get<expression>(*m));
  };
  maybe(line.condition);
  if (line.loop) f(line.loop->from), f(line.loop->to);
  if (const auto* launch = std::get_if<launch_line>(&line.body)) {
    all(launch->grid), all(launch->block), all(launch->cluster);
    maybe(launch->shared_bytes), maybe(launch->carveout);
    if (launch->triton) {
      for (const auto* setting : {&launch->triton->warps, &launch->triton->stages, &launch->triton->ctas,
                                  &launch->triton->registers, &launch->triton->config})
        maybe(*setting);
    }
    for (const auto& argument : launch->arguments) {
      if (const auto* plain = std::get_if<plain_argument>(&argument.value)) {
        maybe(plain->offset);
        if (!plain->name) maybe(plain->value);
      } else if (const auto* typed = std::get_if<typed_argument>(&argument.value)) {
        if (const auto* e = std::get_if<expression>(&typed->value)) f(*e);
      }
    }
  } else if (const auto* set = std::get_if<memset_line>(&line.body)) {
    f(set->byte), maybe(set->bytes);
  } else if (const auto* space = std::get_if<workspace_line>(&line.body)) {
    all(space->shape), maybe(space->align);
  } else if (const auto* map = std::get_if<tensor_map_line>(&line.body)) {
    maybe(map->offset);
    all(map->dims), all(map->strides), all(map->box), all(map->element_strides);
    mode(map->swizzle), mode(map->interleave), mode(map->l2_promotion), mode(map->oob_fill);
  }
}

environment::environment(const declared_launch& lines, const launch_signature& workload,
                         const device_facts& facts, bool all_axes)
    : lines_(&lines),
      workload_(&workload),
      axes_(all_axes ? &workload.axes : &workload.constants),
      sms_(facts.sms) {
  for (const auto& [name, literal] : lines.tunables) {
    if (const auto number = integer_literal(literal)) tunables_[name] = *number;
  }
  for (const auto& line : lines.statements) {
    if (const auto* launch = std::get_if<launch_line>(&line.body)) {
      kernels_.insert(last_component(launch->kernel.text));
      if (launch->triton) triton_kernels_.insert(launch->kernel.text);
    }
  }
}

std::optional<std::int64_t> environment::find(std::string_view name, const loop_index* index) const {
  if (index != nullptr && name == index->name) return index->value;
  if (name == "device.sms") return sms_;
  if (const auto kernel = occupancy_argument(name)) {
    if (!occupancy) return std::nullopt;
    return occupancy(*kernel);
  }
  if (const auto asked = kernel_constant(name)) {
    if (!constant) return std::nullopt;
    return constant(asked->first, asked->second);
  }
  const std::string key(name);
  if (const auto axis = axes_->find(key); axis != axes_->end()) return axis->second;
  if (const auto value = tunables_.find(key); value != tunables_.end()) return value->second;
  return std::nullopt;
}

std::int64_t environment::value(const expression& e, const loop_index* index) const {
  return e.evaluate([&](std::string_view name) { return find(name, index); });
}

bool environment::knows(const expression& e, const loop_index* index) const {
  const auto& names = e.names();
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    if (occupancy_argument(name) && !occupancy) return false;
    if (kernel_constant(name))
      return false;  // has a value for one launch only, and is another language's word there
    return find(name, index).has_value();
  });
}

bool environment::varies(std::string_view name) const {
  const std::string key(name);
  return occupancy_argument(name) || (workload_->axes.contains(key) && !workload_->constants.contains(key));
}

std::vector<std::string> environment::known_names(const statement_line& line) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : workload_->axes) names.push_back(name);
  for (const auto& [name, value] : tunables_) names.push_back(name);
  if (line.loop) names.push_back(line.loop->id.text);
  names.emplace_back("device.sms");
  return names;
}

void environment::check_names(const statement_line& line) const {
  const auto check = [&](const expression& e) {
    for (const auto& name : e.names()) {
      if (const auto kernel = occupancy_argument(name)) {
        if (kernels_.contains(std::string(*kernel))) continue;
        throw error(error_code::input, "no launch line names a kernel '" + std::string(*kernel) + "'",
                    place_of_word(line, *kernel), kevo::detail::hint_for(*kernel, kernels_, "kernels"));
      }
      if (const auto asked = kernel_constant(name);
          asked && triton_kernels_.contains(std::string(asked->first)))
        continue;
      if (name == "device.sms" || workload_->axes.contains(name) || tunables_.contains(name)) continue;
      if (line.loop && name == line.loop->id.text) continue;
      const auto place = place_of_word(line, name);
      if (const auto literal = lines_->tunables.find(name); literal != lines_->tunables.end()) {
        throw error(error_code::input, "'" + name + "' is " + literal->second + ", which is not an integer",
                    place);
      }
      throw error(error_code::input, "unknown name '" + kevo::detail::shown(name) + "'", place,
                  kevo::detail::hint_for(name, known_names(line), "names"));
    }
  };
  for_each_expression(line, check);
}

void environment::check_all_names() const {
  std::map<std::string, std::string> meanings;
  const auto meaning = [&](const std::string& name, const std::string& what, const error_place& place) {
    const auto [at, fresh] = meanings.emplace(name, what);
    if (!fresh && at->second != what)
      throw error(error_code::input, "'" + name + "' is " + at->second + " and " + what, place,
                  "rename one of them");
  };
  error_place file;
  file.file = lines_->file;
  for (const auto& [name, value] : workload_->axes) meaning(name, "an axis of the task", file);
  for (const auto& x : workload_->inputs) meaning(x.name, "an input", file);
  for (const auto& x : workload_->outputs) meaning(x.name, "an output", file);
  for (const auto& x : workload_->scalars) meaning(x.name, "a scalar input", file);
  for (const auto& [name, value] : lines_->tunables) meaning(name, "a tunable", file);
  for (const auto& line : lines_->statements) {
    if (const auto* space = std::get_if<workspace_line>(&line.body))
      meaning(space->id.text, "a workspace", space->id.place);
    if (const auto* map = std::get_if<tensor_map_line>(&line.body))
      meaning(map->id.text, "a tensor map", map->id.place);
    if (line.loop) meaning(line.loop->id.text, "a loop's index", line.loop->id.place);
  }
  for (const auto& line : lines_->statements) check_names(line);
}

loop_range range_of(const loop_line& loop, const environment& names) {
  const loop_range range{names.value(loop.from), names.value(loop.to)};
  std::int64_t rounds = 0;
  if (range.to > range.from &&
      (__builtin_sub_overflow(range.to, range.from, &rounds) || rounds > most_rounds)) {
    throw error(error_code::input, "the loop has more than " + std::to_string(most_rounds) + " rounds",
                loop.id.place);
  }
  return range;
}

std::string kernel_name(const launch_line& launch, const declared_launch& lines, const environment& fixed,
                        const loop_index* index) {
  if (!launch.is_template) return launch.kernel.text;
  std::string name;
  for (const auto& argument : launch.template_args) {
    std::string text = with_tunables(argument.text, lines.tunables);
    std::optional<expression> e;
    try {
      e = expression::parse(argument.text, argument.place);
    } catch (const error&) {  // a type, then
    }
    if (e && fixed.knows(*e, index)) {
      text = std::to_string(fixed.value(*e, index));
    } else if (e) {
      for (const auto& word : e->names()) {
        if (!fixed.varies(word)) continue;
        throw error(error_code::input,
                    "a template argument cannot depend on '" + word + "', which varies with the workload",
                    argument.place,
                    "write one line for each case: when " + word + " == 4096: launch f[4096]<<<...>>>(...)");
      }
    }
    name += (name.empty() ? "" : ", ") + text;
  }
  return launch.kernel.text + "<" + name + ">";
}

}  // namespace kevo::cuda::detail
