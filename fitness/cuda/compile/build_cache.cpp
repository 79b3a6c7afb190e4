#include "fitness/cuda/compile/build_cache.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/cuda/wire/wire.hpp"

namespace kevo::cuda {
namespace {

constexpr std::uint32_t format = 0x6b620001;

std::string encode(const cuda_build_result& build) {
  byte_writer to;
  to.put(format).put(build.ok).put(build.diagnostics).put(build.compiler);
  to.put_all(build.reasons, [](byte_writer& w, const std::string& text) { w.put(text); });
  to.put(cuda::encode(build.module));
  return to.take();
}

cuda_build_result decode(std::string_view bytes) {
  byte_reader from(bytes);
  if (from.get<std::uint32_t>() != format) byte_reader::fail("a build of another format");
  cuda_build_result build;
  build.ok = from.get<bool>();
  build.diagnostics = from.get_text();
  build.compiler = from.get_text();
  build.reasons = from.get_all<std::string>(8, [](byte_reader& r) { return r.get_text(); });
  build.module = decode_module(from.get_text());
  from.finish();
  return build;
}

}  // namespace

build_cache::build_cache(std::string folder) : files_(std::move(folder), ".build") {}

std::optional<cuda_build_result> build_cache::find(const content_id& key) const {
  const auto bytes = files_.find(key);
  if (!bytes) return std::nullopt;
  try {
    return decode(*bytes);
  } catch (const error&) {
    return std::nullopt;
  }
}

void build_cache::keep(const content_id& key, const cuda_build_result& build) const {
  files_.keep(key, encode(build));
}

}  // namespace kevo::cuda
