#pragma once
// What the formats of an export share: a result as a trainer wants it, and a line of JSON.

#include <cstdint>
#include <ostream>
#include <vector>

#include <boost/json.hpp>

#include <kevo/evaluation.hpp>
#include <kevo/journal.hpp>

#include "src/base/json/finite.hpp"
#include "src/base/text/utf8.hpp"

namespace kevo {

/// The latest evaluation before an event, so that a row shows nothing of its future; null if there is none.
inline const recorded_evaluation* latest_before(const std::vector<recorded_evaluation>& all,
                                                std::uint64_t sequence) {
  const recorded_evaluation* found = nullptr;
  for (const auto& one : all) {
    if (one.sequence < sequence) found = &one;
  }
  return found;
}

inline boost::json::object result_json(const evaluation& r) {
  namespace json = boost::json;
  const bool timed = r.speedup > 0;
  return {{"outcome", to_string(r.outcome)},
          {"stage", to_string(r.stage)},
          {"score", finite_or_null(r.score)},
          {"speedup", timed ? finite_or_null(r.speedup) : json::value(nullptr)},
          {"speedup_interval", timed ? json::value{finite_or_null(r.speedup_interval.low),
                                                   finite_or_null(r.speedup_interval.high)}
                                     : json::value(nullptr)},
          {"feedback", r.feedback}};
}

inline void write_line(const boost::json::object& o, std::ostream& out) {
  out << as_utf8(boost::json::serialize(o)) << '\n';
}

}  // namespace kevo
