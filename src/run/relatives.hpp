#pragma once
// Lineage, siblings and children as they were when a variation was asked for.

#include <memory>

#include <kevo/search.hpp>

namespace kevo {

/// The relatives of a variation's first parent as of now, for an operator that will look at them while the
/// search goes on: a later replay then shows it the same. At most 64 of each are kept; who asks for more gets
/// these.
std::shared_ptr<const variation_services> settled_relatives(const search& engine, const variation_job& asked);

/// `services` with the relatives that `settled` holds; unchanged if it is null.
variation_services with_relatives(variation_services services,
                                  const std::shared_ptr<const variation_services>& settled);

}  // namespace kevo
