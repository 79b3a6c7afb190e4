#include "src/run/relatives.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kevo {
namespace {

constexpr std::size_t most_relatives = 64;

auto fixed(std::vector<candidate_snapshot> all) {
  return [kept = std::make_shared<const std::vector<candidate_snapshot>>(std::move(all))](candidate_id,
                                                                                          std::size_t limit) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(limit, kept->size()));
    return std::vector<candidate_snapshot>(kept->begin(), kept->begin() + count);
  };
}

}  // namespace

std::shared_ptr<const variation_services> settled_relatives(const search& engine,
                                                            const variation_job& asked) {
  const variation_services live = engine.services(asked, [](const auto& call) { call(); });
  const candidate_id first = asked.request.parents.front()->id;
  variation_services settled;
  settled.lineage = fixed(live.lineage(first, most_relatives));
  settled.siblings = fixed(live.siblings(first, most_relatives));
  settled.children = fixed(live.children(first, most_relatives));
  return std::make_shared<const variation_services>(std::move(settled));
}

variation_services with_relatives(variation_services services,
                                  const std::shared_ptr<const variation_services>& settled) {
  if (settled) {
    services.lineage = settled->lineage;
    services.siblings = settled->siblings;
    services.children = settled->children;
  }
  return services;
}

}  // namespace kevo
