#pragma once
// Includes every model that kevo ships in its header-only core: selectors, portfolios, proposal filters,
// archives and stop rules. kevo.hpp has the search and the models that most searches need, because each of
// the others costs a translation unit compile time. Include this header, or the headers of single models, for
// the rest.
//
// Models that learn are in kevo/learn/, which needs Eigen and is not included here.

#include <kevo/kevo.hpp>
// selectors
#include <kevo/select/adaptive_intensity.hpp>
#include <kevo/select/bucket_softmax.hpp>
#include <kevo/select/curiosity.hpp>
#include <kevo/select/island_mix.hpp>
#include <kevo/select/lineage.hpp>
#include <kevo/select/on_islands.hpp>
#include <kevo/select/priority_queue.hpp>
#include <kevo/select/uct.hpp>
// portfolios
#include <kevo/vary/adaptive_pursuit.hpp>
#include <kevo/vary/exp3.hpp>
#include <kevo/vary/thompson.hpp>
// proposal filters
#include <kevo/filter/proposal_net.hpp>
// archives
#include <kevo/archive/cvt.hpp>
#include <kevo/archive/epsilon_net.hpp>
#include <kevo/archive/feature_map.hpp>
#include <kevo/archive/grid.hpp>
#include <kevo/archive/islands.hpp>
#include <kevo/archive/measure_range.hpp>
#include <kevo/archive/novelty.hpp>
#include <kevo/archive/pareto.hpp>
#include <kevo/archive/sliding.hpp>
#include <kevo/archive/soft_threshold.hpp>
#include <kevo/archive/topology.hpp>
