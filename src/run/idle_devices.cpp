#include "src/run/idle_devices.hpp"

#include <iterator>
#include <system_error>

#include <fmt/format.h>

namespace kevo {
namespace {

std::size_t entries_of(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::directory_iterator here(folder, code);
  return code ? 0 : static_cast<std::size_t>(std::distance(begin(here), end(here)));
}

/// How many of them evaluate at the same time, and what they are called.
struct measuring {
  std::size_t count = 0;
  const char* what = "";
};

measuring measuring_at_once(const settings_node& fitness, const std::filesystem::path& gpus) {
  if (const auto* devices = fitness.find("devices")) {
    if (devices->is_list()) return {devices->items.size(), "GPUs"};
    if (devices->type == settings_node::kind::text && devices->text == "all")
      return {entries_of(gpus), "GPUs"};
  }
  const auto* places = fitness.find("places");
  if (places != nullptr && places->type == settings_node::kind::integer && places->integer > 0)
    return {static_cast<std::size_t>(places->integer), "places"};
  return {};
}

}  // namespace

std::string idle_devices(const settings_node& config, std::size_t builds, const std::filesystem::path& gpus) {
  const auto* fitness = config.find("fitness");
  if (fitness == nullptr) return {};
  const auto [count, what] = measuring_at_once(*fitness, gpus);
  if (count <= builds) return {};
  const std::size_t idle = count - builds;
  return fmt::format(
      "the fitness function uses {} {}, but run.parallel.builds: {} allows only {} {} at the same time, so "
      "that "
      "{} of the {} {} always idle; set run.parallel.builds to {}, twice the number of {}",
      count, what, builds, builds, builds == 1 ? "evaluation" : "evaluations", idle, what,
      idle == 1 ? "is" : "are", 2 * count, what);
}

}  // namespace kevo
