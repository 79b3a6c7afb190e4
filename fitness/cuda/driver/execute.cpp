#include "fitness/cuda/driver/execute.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <kevo/error.hpp>

namespace kevo::cuda {
namespace {

constexpr int default_dynamic_shared = 48 << 10;
// Variables of one section that the driver has laid out in an order of its own lie this close together.
constexpr std::uint64_t most_scattered_bytes = 64 << 10;

driver_failure bad(const char* what) {
  return {error_invalid_value, what};
}

// Before the clock: attributes and, by asking, whatever the driver does lazily.
driver_failure set_attributes(const driver& d, function kernel, const kernel_launch& launch) {
  const auto set = [&](function_attribute which, int value) {
    return d.function_set(kernel, static_cast<int>(which), value);
  };
  if (launch.dynamic_shared_bytes > 0) {
    int fixed = 0;
    d.function_get(&fixed, static_cast<int>(function_attribute::shared_bytes), kernel);
    if (static_cast<int>(launch.dynamic_shared_bytes) + fixed > default_dynamic_shared) {
      if (const auto code = set(function_attribute::max_dynamic_shared_bytes,
                                static_cast<int>(launch.dynamic_shared_bytes)))
        return {code, "asking for " + std::to_string(launch.dynamic_shared_bytes) +
                          " bytes of dynamic shared memory"};
    }
  }
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 8) {
    if (const auto code = set(function_attribute::non_portable_cluster, 1))
      return {code, "allowing a large cluster"};
  }
  if (launch.carveout) {
    if (const auto code =
            set(function_attribute::preferred_shared_carveout, static_cast<int>(*launch.carveout)))
      return {code, "setting the carveout"};
  }
  return {};
}

driver_failure encode_map(const driver& d, const tensor_map& from, std::span<const address> buffers,
                          tensor_map_bytes& to) {
  if (from.buffer >= buffers.size() || from.dims.empty() || from.dims.size() > 5 ||
      from.strides.size() + 1 != from.dims.size() || from.box.size() != from.dims.size() ||
      from.element_strides.size() != from.dims.size())
    return bad("a tensor map of no known shape");
  const auto code = d.encode_tiled(
      &to, static_cast<int>(from.dtype), static_cast<std::uint32_t>(from.dims.size()),
      reinterpret_cast<void*>(buffers[from.buffer] + from.byte_offset), from.dims.data(), from.strides.data(),
      from.box.data(), from.element_strides.data(), static_cast<int>(from.interleave),
      static_cast<int>(from.swizzle), static_cast<int>(from.l2_promotion), static_cast<int>(from.oob_fill));
  return {code, "encoding a tensor map"};
}

}  // namespace

loaded_module::loaded_module(loaded_module&& other) noexcept
    : driver_(other.driver_),
      handles_(std::exchange(other.handles_, {})),
      kernels_(std::move(other.kernels_)),
      globals_(std::move(other.globals_)) {}

loaded_module& loaded_module::operator=(loaded_module&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(handles_, other.handles_);
  std::swap(kernels_, other.kernels_);
  std::swap(globals_, other.globals_);
  return *this;
}

loaded_module::~loaded_module() {
  for (auto* handle : handles_) driver_->module_unload(handle);
}

driver_failure loaded_module::load(const driver& d, const compiled_module& from) {
  driver_ = &d;
  for (const auto& image : from.images) {
    module_handle handle = nullptr;
    if (const auto code = d.module_load(&handle, image.data(), 0, nullptr, nullptr))
      return {code, "loading the module"};
    handles_.push_back(handle);
  }
  for (const auto& kernel : from.kernels) {
    if (kernel.image >= handles_.size()) return bad("a kernel of an unknown image");
    function found = nullptr;
    if (const auto code = d.module_function(&found, handles_[kernel.image], kernel.mangled.c_str()))
      return {code, "finding the kernel " + kernel.name};
    int registers = 0;  // asking makes a lazy driver load the code
    if (const auto code = d.function_get(&registers, static_cast<int>(function_attribute::registers), found))
      return {code, "loading the kernel " + kernel.name};
    kernels_.push_back(found);
  }
  return find_globals(d, from);
}

// A section lies as the cubin has it if all its variables that the driver knows say so.
driver_failure loaded_module::find_globals(const driver& d, const compiled_module& from) {
  globals_.clear();
  const auto& all = from.globals;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const auto& one) {
      return one.image != first->image || one.section != first->section;
    });
    if (first->image >= handles_.size()) return bad("a variable of an unknown image");
    placed_globals section;
    bool in_order = true;
    for (auto one = first; one != last; ++one) {
      address at = 0;
      std::size_t bytes = 0;
      if (d.module_global(&at, &bytes, handles_[one->image], one->symbol.c_str()) != success) {
        section.all_found = false;
        continue;
      }
      if (section.pieces.empty()) section.whole = {at - one->offset, one->section_bytes};
      in_order = in_order && at - one->offset == section.whole.at;
      section.pieces.push_back({at, bytes});
    }
    if (section.pieces.empty())
      return {error_invalid_value, "finding the variables of the section " + first->section};
    const auto [low, high] = std::minmax_element(section.pieces.begin(), section.pieces.end(),
                                                 [](const auto& a, const auto& b) { return a.at < b.at; });
    section.between = {low->at, high->at + high->bytes - low->at};
    if (section.between.bytes > section.whole.bytes + most_scattered_bytes) section.between.bytes = 0;
    if (!in_order) section.whole.bytes = 0;
    globals_.push_back(std::move(section));
    first = last;
  }
  return {};
}

function loaded_module::find(const compiled_module& from, const std::string& name) const {
  for (std::size_t i = 0; i < from.kernels.size() && i < kernels_.size(); ++i) {
    if (from.kernels[i].name == name) return kernels_[i];
  }
  throw error(error_code::internal, "the trusted module has no kernel '" + name + "'");
}

driver_failure prepared_plan::prepare(const driver& d, const loaded_module& code, const plan& p,
                                      std::span<const address> buffers) {
  values_.clear();
  steps_.clear();
  // A launch that may begin before the one in front of it has ended needs one of its own call in front of it:
  // a first one has none, whatever steps that do nothing stand before it.
  launch_state* in_front = nullptr;
  std::size_t events = 0;
  steps_.reserve(p.steps.size());
  std::vector<tensor_map_bytes> maps(p.tensor_maps.size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (auto failure = encode_map(d, p.tensor_maps[i], buffers, maps[i])) return failure;
  }
  for (const auto& one : p.steps) {
    if (const auto* set = std::get_if<memory_set>(&one)) {
      if (set->buffer >= buffers.size()) return bad("a memset of an unknown buffer");
      if (set->bytes == 0) continue;
      in_front = nullptr;  // only a launch right behind a launch overlaps it
      steps_.emplace_back(set_state{buffers[set->buffer] + set->byte_offset, set->value, set->bytes});
      continue;
    }
    const auto& launch = std::get<kernel_launch>(one);
    if (launch.kernel >= code.size()) return bad("a launch of an unknown kernel");
    launch_state state;
    state.kernel = code.kernel(launch.kernel);
    if (auto failure = set_attributes(d, state.kernel, launch)) return failure;
    state.how = {launch.grid[0],
                 launch.grid[1],
                 launch.grid[2],
                 launch.block[0],
                 launch.block[1],
                 launch.block[2],
                 launch.dynamic_shared_bytes,
                 nullptr,
                 nullptr,
                 0};
    if (launch.cluster[0] > 0) {
      launch_attribute a;
      a.id = launch_cluster;
      a.value.cluster = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
      state.attributes.push_back(a);
    }
    if (launch.cooperative) {
      launch_attribute a;
      a.id = launch_cooperative;
      a.value.cooperative = 1;
      state.attributes.push_back(a);
    }
    if (launch.programmatic && in_front != nullptr) {
      launch_attribute a;
      a.id = launch_programmatic;
      a.value.programmatic = 1;
      state.attributes.push_back(a);
      if (events == events_.size()) {
        event made = nullptr;
        if (const auto failed = d.event_create(&made, event_no_timing)) return {failed, "making an event"};
        events_.push_back(made);
      }
      in_front->overlapped = events_[events++];
    }
    for (const auto& argument : launch.arguments) {
      auto& value = values_.emplace_back();
      if (const auto* buffer = std::get_if<buffer_argument>(&argument)) {
        if (buffer->buffer >= buffers.size()) return bad("an argument that is an unknown buffer");
        value.words[0] = buffers[buffer->buffer] + buffer->byte_offset;
      } else if (const auto* scalar = std::get_if<scalar_argument>(&argument)) {
        std::memcpy(value.words, scalar->bytes.data(), scalar->bytes.size());
      } else if (const auto* map = std::get_if<tensor_map_argument>(&argument)) {
        if (map->index >= maps.size()) return bad("an argument that is an unknown tensor map");
        value = maps[map->index];
      }
      state.arguments.push_back(value.words);
    }
    in_front = &std::get<launch_state>(steps_.emplace_back(std::move(state)));
  }
  return {};
}

driver_failure prepared_plan::enqueue(const driver& d, stream on) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (auto* set = std::get_if<set_state>(&steps_[i])) {
      if (const auto code = d.set_bytes(set->target, set->value, set->bytes, on)) return {code, "a memset"};
      continue;
    }
    auto& launch = std::get<launch_state>(steps_[i]);
    launch.how.stream = on;
    launch.how.attributes = launch.attributes.data();
    launch.how.attribute_count = static_cast<unsigned>(launch.attributes.size());
    if (const auto code = d.launch(&launch.how, launch.kernel, launch.arguments.data(), nullptr))
      return {code, "launch number " + std::to_string(i + 1)};
    if (launch.overlapped != nullptr) {
      if (const auto code = d.event_record(launch.overlapped, on)) return {code, "recording an event"};
    }
  }
  // The last launch may end before one that it overlaps with does: what follows must wait for each of them.
  for (const auto& one : steps_) {
    const auto* launch = std::get_if<launch_state>(&one);
    if (launch == nullptr || launch->overlapped == nullptr) continue;
    if (const auto code = d.stream_wait(on, launch->overlapped, 0)) return {code, "waiting for a launch"};
  }
  return {};
}

}  // namespace kevo::cuda
