#include "fitness/cuda/tools/replay.hpp"

#include "fitness/cuda/wire/wire.hpp"

namespace kevo::cuda {

std::string encode(const replay& one) {
  byte_writer to;
  to.put(std::string_view(encode(one.code))).put(std::string_view(encode(one.what)));
  to.put_all(one.inputs, [](byte_writer& w, const std::string& bytes) { w.put(std::string_view(bytes)); });
  to.put_all(one.outputs);
  return to.take();
}

replay decode_replay(std::string_view bytes) {
  byte_reader from(bytes);
  replay one;
  one.code = decode_module(from.get_text());
  one.what = decode_plan(from.get_text());
  one.inputs = from.get_all<std::string>(8, [](byte_reader& r) { return r.get_text(); });
  one.outputs = from.get_all<std::uint64_t>();
  from.finish();
  return one;
}

}  // namespace kevo::cuda
