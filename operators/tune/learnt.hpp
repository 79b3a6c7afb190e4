#pragma once
// What a run has told about the settings of one source, as the model of `tune` needs it.

#include <cstddef>
#include <set>
#include <vector>

#include <kevo/operators/tune.hpp>

#include "operators/tune/setting_model.hpp"
#include "operators/tune/setting_space.hpp"

namespace kevo {

struct tune::learnt {
  std::set<tunable_setting> known;       ///< all settings of the run, with a result or not
  std::vector<tried_setting> results;    ///< in the order in which they were told
  std::vector<tunable_setting> pending;  ///< the latest settings without a result
  std::size_t valid = 0;                 ///< number of results that are not failures
};

/// Equal for sources that differ in nothing but their setting.
inline content_id skeleton_of(const program& source, const setting_space& space) {
  return id_of(space.apply(source, tunable_setting(space.tunables().size(), 0)));
}

}  // namespace kevo
