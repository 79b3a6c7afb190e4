# kevo_precompile(target): parses the standard library and what most units need of other libraries once for all units of a
# target. Nothing of kevo, so that a unit still has to include what it needs of it; header_alone has no precompiled header.
option(KEVO_PRECOMPILE "Precompile the standard headers" ON)
set(KEVO_STANDARD_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <concepts> <cstdint> <filesystem> <fstream>
                          <functional> <map> <memory> <mutex> <optional> <set> <span> <sstream> <stdexcept> <string>
                          <string_view> <thread> <unordered_map> <utility> <variant> <vector>)
set(KEVO_FOREIGN_HEADERS <boost/graph/adjacency_list.hpp> <boost/unordered/unordered_flat_map.hpp> <boost/json.hpp> <fmt/format.h>)

function(kevo_precompile target)
  if(KEVO_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${KEVO_STANDARD_HEADERS} ${KEVO_FOREIGN_HEADERS} ${ARGN})
  endif()
endfunction()

# The same, sharing what another target precompiled: both need the same options and definitions.
function(kevo_precompile_as target other)
  if(KEVO_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()
