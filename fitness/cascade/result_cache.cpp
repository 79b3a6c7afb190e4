#include "fitness/cascade/result_cache.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

#include <kevo/error.hpp>

#include "src/json/evaluation_json.hpp"

namespace kevo {

namespace fs = std::filesystem;

result_cache::result_cache(std::string folder) : folder_(std::move(folder)) {
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

std::string result_cache::path_of(const content_id& key) const {
  return folder_ + '/' + to_string(key) + ".json";
}

std::optional<evaluation> result_cache::find(const content_id& key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(path_of(key));
  if (!file) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  try {
    auto found = evaluation_from_json(text.str());
    found.cached = true;
    found.cost = {};
    return found;
  } catch (const error&) {
    return std::nullopt;
  }
}

void result_cache::keep(const content_id& key, const evaluation& e) const {
  if (folder_.empty()) return;
  const auto path = path_of(key);
  const auto draft = path + '.' + std::to_string(::getpid()) + '.' +
                     std::to_string(std::hash<std::thread::id>{}(std::this_thread::get_id()));
  std::ofstream file(draft);
  file << to_json(e);
  file.close();
  std::error_code failure;
  if (file) fs::rename(draft, path, failure);
  if (!file || failure) fs::remove(draft, failure);
}

}  // namespace kevo
