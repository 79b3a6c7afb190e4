// Proposal filters by name, and how a config's `filter:` becomes a filtering.

#include <kevo/filter/proposal_net.hpp>

#include "src/plugins/builtin.hpp"
#include "src/plugins/count_setting.hpp"
#include "src/plugins/filter.hpp"
#include "src/plugins/ngrams.hpp"

namespace kevo {

filtering filtering_from(settings& from, const build_context& context, const registry& plugins) {
  filtering made;
  made.batch = count_from(from, "batch", made.batch,
                          {.min = 1,
                           .max = 100'000,
                           .unit = "proposals",
                           .doc = "number of proposals that are filtered together; a smaller group is "
                                  "filtered if no further proposal can be made before an evaluation ends"});
  made.filter = plugins.filters.make(from, context, "type", "epsilon_net");
  return made;
}

void register_filters(registry& all) {
  all.filters.add(
      "epsilon_net",
      [](settings& from, const build_context&) {
        const double epsilon = from.real(
            "epsilon", {.def = 0.1,
                        .min = 0.0,
                        .doc = "greatest distance between embedded sources at which a proposal counts as a "
                               "near duplicate of an evaluated program; 0: every proposal passes"});
        const auto memory = count_from(
            from, "memory", 10000,
            {.min = 0,
             .max = 10'000'000,
             .unit = "programs",
             .doc = "number of most recent programs with which a proposal is compared; 0: all programs"});
        return any_proposal_filter(proposal_net(epsilon, embedding_from(from), memory));
      },
      "drops proposals that are near duplicates of evaluated programs or of each other (POLCA)");
}

}  // namespace kevo
