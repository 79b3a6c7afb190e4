#include "fitness/cuda/wire/module.hpp"

#include "fitness/cuda/wire/wire.hpp"

namespace kevo::cuda {
namespace {

constexpr std::uint32_t module_format = 4;

void put_decided(byte_writer& to, const decided_launch& d) {
  to.put_all(d.arguments, [](byte_writer& w, std::uint32_t index) { w.put(index); });
  to.put(d.threads).put(d.dynamic_shared_bytes).put(d.cluster_blocks).put(d.cooperative);
  to.put(d.scratch_bytes).put(d.scratch_align);
  std::vector<std::pair<std::string, std::int64_t>> constants(d.constants.begin(), d.constants.end());
  to.put_all(constants, [](byte_writer& w, const auto& one) { w.put(one.first).put(one.second); });
}

decided_launch get_decided(byte_reader& from) {
  decided_launch d;
  d.arguments = from.get_all<std::uint32_t>(4, [](byte_reader& r) { return r.get<std::uint32_t>(); });
  d.threads = from.get<std::uint32_t>();
  d.dynamic_shared_bytes = from.get<std::uint32_t>();
  d.cluster_blocks = from.get<std::uint32_t>();
  d.cooperative = from.get<bool>();
  d.scratch_bytes = from.get<std::uint64_t>();
  d.scratch_align = from.get<std::uint64_t>();
  const auto constants = from.get_all<std::pair<std::string, std::int64_t>>(16, [](byte_reader& r) {
    auto name = r.get_text();
    return std::pair(std::move(name), r.get<std::int64_t>());
  });
  d.constants.insert(constants.begin(), constants.end());
  return d;
}

void put_kernel(byte_writer& to, const compiled_kernel& kernel) {
  to.put(kernel.name).put(kernel.mangled);
  to.put_all(kernel.parameters,
             [](byte_writer& w, const kernel_parameter& p) { w.put(p.offset).put(p.size).put(p.type); });
  to.put(kernel.registers).put(kernel.spill_stores).put(kernel.spill_loads).put(kernel.stack_bytes);
  to.put(kernel.static_shared_bytes).put(kernel.constant_bytes).put(kernel.max_threads).put(kernel.barriers);
  to.put(kernel.code_bytes).put(kernel.image).put(kernel.hidden).put(kernel.decided.has_value());
  if (kernel.decided) put_decided(to, *kernel.decided);
}

compiled_kernel get_kernel(byte_reader& from) {
  compiled_kernel kernel;
  kernel.name = from.get_text();
  kernel.mangled = from.get_text();
  kernel.parameters = from.get_all<kernel_parameter>(16, [](byte_reader& r) {
    kernel_parameter parameter;
    parameter.offset = r.get<std::uint32_t>();
    parameter.size = r.get<std::uint32_t>();
    parameter.type = r.get_text();
    return parameter;
  });
  for (auto* number :
       {&kernel.registers, &kernel.spill_stores, &kernel.spill_loads, &kernel.stack_bytes,
        &kernel.static_shared_bytes, &kernel.constant_bytes, &kernel.max_threads, &kernel.barriers}) {
    *number = from.get<std::uint32_t>();
  }
  kernel.code_bytes = from.get<std::uint64_t>();
  kernel.image = from.get<std::uint32_t>();
  kernel.hidden = from.get<bool>();
  if (from.get<bool>()) kernel.decided = get_decided(from);
  return kernel;
}

}  // namespace

std::string encode(const compiled_module& m) {
  byte_writer to;
  to.put(module_format).put(m.architecture);
  to.put_all(m.images, [](byte_writer& w, const std::string& image) { w.put(image); });
  to.put_all(m.kernels, put_kernel);
  to.put_all(m.lasting, [](byte_writer& w, const std::string& what) { w.put(what); });
  to.put_all(m.globals, [](byte_writer& w, const module_global& g) {
    w.put(g.symbol).put(g.bytes).put(g.section).put(g.offset).put(g.section_bytes).put(g.image);
  });
  to.put(m.log);
  return to.take();
}

compiled_module decode_module(std::string_view bytes) {
  byte_reader from(bytes);
  if (from.get<std::uint32_t>() != module_format) byte_reader::fail("a module of another format");
  compiled_module m;
  m.architecture = from.get_text();
  m.images = from.get_all<std::string>(8, [](byte_reader& r) { return r.get_text(); });
  m.kernels = from.get_all<compiled_kernel>(64, get_kernel);
  m.lasting = from.get_all<std::string>(8, [](byte_reader& r) { return r.get_text(); });
  m.globals = from.get_all<module_global>(40, [](byte_reader& r) {
    module_global global;
    global.symbol = r.get_text();
    global.bytes = r.get<std::uint64_t>();
    global.section = r.get_text();
    global.offset = r.get<std::uint64_t>();
    global.section_bytes = r.get<std::uint64_t>();
    global.image = r.get<std::uint32_t>();
    return global;
  });
  m.log = from.get_text();
  from.finish();
  return m;
}

}  // namespace kevo::cuda
