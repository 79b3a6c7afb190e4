#include "fitness/cuda/launch/launch_signature.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include <kevo/task_extents.hpp>

#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo::cuda {

launch_signature signature_of(const task& t, const workload& w) {
  launch_signature result;
  result.workload = w.uuid;
  result.hidden = w.hidden;
  result.axes = axis_values(t, w);
  for (const auto& a : t.axes) {
    if (a.value) result.constants[a.name] = *a.value;
  }
  const auto buffer = [&](const tensor& x) {
    static_cast<void>(element_type_of(x));
    return buffer_signature{x.name, x.dtype, element_count(x, result.axes)};
  };
  for (const auto& input : t.inputs) {
    if (!input.scalar) {
      result.inputs.push_back(buffer(input));
      continue;
    }
    const auto& type = element_type_of(input);
    scalar_signature scalar{input.name, input.dtype, {}};
    const auto given = w.inputs.find(input.name);
    const double value = given != w.inputs.end() && given->second.kind == "scalar" ? given->second.value : 1;
    std::array<std::byte, 8> bytes{};
    if (type.kind == element_kind::real) {
      store_values(type, std::span<const double>(&value, 1), bytes.data());
    } else {
      const auto whole = static_cast<std::int64_t>(value);
      store_values(type, std::span<const std::int64_t>(&whole, 1), bytes.data());
    }
    std::memcpy(scalar.bytes.data(), bytes.data(), bytes.size());
    result.scalars.push_back(std::move(scalar));
  }
  for (const auto& output : t.outputs) result.outputs.push_back(buffer(output));
  return result;
}

}  // namespace kevo::cuda
