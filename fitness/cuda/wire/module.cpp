#include "fitness/cuda/wire/module.hpp"

#include "fitness/cuda/wire/wire.hpp"

namespace kevo::cuda {
namespace {

constexpr std::uint32_t module_format = 3;

void put_kernel(byte_writer& to, const compiled_kernel& kernel) {
  to.put(kernel.name).put(kernel.mangled);
  to.put_all(kernel.parameters,
             [](byte_writer& w, const kernel_parameter& p) { w.put(p.offset).put(p.size).put(p.type); });
  to.put(kernel.registers).put(kernel.spill_stores).put(kernel.spill_loads).put(kernel.stack_bytes);
  to.put(kernel.static_shared_bytes).put(kernel.constant_bytes).put(kernel.max_threads).put(kernel.barriers);
  to.put(kernel.code_bytes);
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
  return kernel;
}

}  // namespace

std::string encode(const compiled_module& m) {
  byte_writer to;
  to.put(module_format).put(m.architecture).put(m.cubin);
  to.put_all(m.kernels, put_kernel);
  to.put_all(m.lasting, [](byte_writer& w, const std::string& what) { w.put(what); });
  to.put_all(m.globals, [](byte_writer& w, const module_global& g) {
    w.put(g.symbol).put(g.bytes).put(g.section).put(g.offset).put(g.section_bytes);
  });
  to.put(m.log);
  return to.take();
}

compiled_module decode_module(std::string_view bytes) {
  byte_reader from(bytes);
  if (from.get<std::uint32_t>() != module_format) byte_reader::fail("a module of another format");
  compiled_module m;
  m.architecture = from.get_text();
  m.cubin = from.get_text();
  m.kernels = from.get_all<compiled_kernel>(64, get_kernel);
  m.lasting = from.get_all<std::string>(8, [](byte_reader& r) { return r.get_text(); });
  m.globals = from.get_all<module_global>(40, [](byte_reader& r) {
    module_global global;
    global.symbol = r.get_text();
    global.bytes = r.get<std::uint64_t>();
    global.section = r.get_text();
    global.offset = r.get<std::uint64_t>();
    global.section_bytes = r.get<std::uint64_t>();
    return global;
  });
  m.log = from.get_text();
  from.finish();
  return m;
}

}  // namespace kevo::cuda
