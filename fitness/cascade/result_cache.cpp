#include "fitness/cascade/result_cache.hpp"

#include <utility>

#include <kevo/error.hpp>

#include "src/base/json/evaluation_json.hpp"

namespace kevo {

result_cache::result_cache(std::string folder) : files_(std::move(folder), ".json") {}

std::optional<evaluation> result_cache::find(const content_id& key) const {
  const auto text = files_.find(key);
  if (!text) return std::nullopt;
  try {
    auto found = evaluation_from_json(*text);
    found.cached = true;
    found.cost = {};
    return found;
  } catch (const error&) {
    return std::nullopt;
  }
}

void result_cache::keep(const content_id& key, const evaluation& e) const {
  files_.keep(key, to_json(e));
}

}  // namespace kevo
