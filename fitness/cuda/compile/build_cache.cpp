#include "fitness/cuda/compile/build_cache.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <kevo/error.hpp>

#include "fitness/cuda/launch/wire.hpp"

namespace kevo::cuda {
namespace fs = std::filesystem;
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

build_cache::build_cache(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (!failure) fs::permissions(folder_, fs::perms::owner_all, failure);
  if (failure || ::access(folder_.c_str(), W_OK) != 0) {
    throw error(error_code::environment,
                "the cache folder " + folder_ +
                    " cannot be used: " + (failure ? failure.message() : std::string("it is not writable")));
  }
}

std::string build_cache::path_of(const content_id& key) const {
  return folder_ + '/' + to_string(key) + ".build";
}

std::optional<cuda_build_result> build_cache::find(const content_id& key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(path_of(key), std::ios::binary);
  if (!file) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  try {
    return decode(text.str());
  } catch (const error&) {
    return std::nullopt;
  }
}

void build_cache::keep(const content_id& key, const cuda_build_result& build) const {
  if (folder_.empty()) return;
  static std::atomic<std::uint64_t> number{0};
  const auto path = path_of(key);
  const auto draft = path + '.' + std::to_string(::getpid()) + '.' + std::to_string(++number);
  std::ofstream file(draft, std::ios::binary);
  file << encode(build);
  file.close();
  std::error_code failure;
  if (file) fs::rename(draft, path, failure);
  if (!file || failure) fs::remove(draft, failure);
}

}  // namespace kevo::cuda
