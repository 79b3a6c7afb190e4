// Events of a search as dicts, for sinks in Python.

#include <pybind11/stl.h>
#include <type_traits>

#include <kevo/content_id.hpp>

#include "python/src/roles.hpp"

namespace kevo::python {
namespace py = pybind11;
namespace {

py::object id_or_none(candidate_id id) {
  if (id == no_candidate) return py::none();
  return py::int_(id);
}

py::object evaluation_or_none(const std::shared_ptr<const evaluation>& result) {
  if (!result) return py::none();
  return py::cast(*result);
}

/// Fills in what an event of one kind has.
struct filler {
  py::dict& to;

  void operator()(const seeded& e) const {
    kind("seeded");
    to["candidate"] = e.candidate;
    to["program"] = to_string(e.program);
  }
  void operator()(const variation_asked& e) const {
    kind("variation_asked");
    to["job"] = e.job;
    to["operator"] = e.op;
    to["parents"] = e.selection.parents;
    to["inspirations"] = e.selection.inspirations;
  }
  void operator()(const variation_told& e) const {
    kind("variation_told");
    to["job"] = e.job;
    to["candidate"] = id_or_none(e.candidate);
    to["program"] = e.program ? py::object(py::str(to_string(*e.program))) : py::none();
    to["duplicate"] = e.duplicate;
    to["summary"] = e.summary;
    to["transcript"] = e.transcript;
    to["wall_s"] = e.cost.wall_s;
  }
  void operator()(const evaluation_asked& e) const {
    kind("evaluation_asked");
    to["job"] = e.job;
    to["candidate"] = e.candidate;
    to["wanted"] = std::string(to_string(e.wanted));
  }
  void operator()(const evaluation_told& e) const {
    kind("evaluation_told");
    to["job"] = e.job;
    to["candidate"] = e.candidate;
    to["wanted"] = std::string(to_string(e.wanted));
    to["evaluation"] = evaluation_or_none(e.result);
    to["archived"] = std::string(to_string(e.archived.status));
    to["archive_value"] = e.archived.value;
  }
  void operator()(const draft_evaluated& e) const {
    kind("draft_evaluated");
    to["job"] = e.job;
    to["program"] = to_string(e.program);
    to["evaluation"] = evaluation_or_none(e.result);
  }
  void operator()(const champion_crowned& e) const {
    kind("champion_crowned");
    to["candidate"] = id_or_none(e.candidate);
    to["speedup"] = e.speedup;
    to["speedup_interval"] = py::make_tuple(e.speedup_interval.low, e.speedup_interval.high);
    to["confirmed"] = e.verdict.confirmed();
  }
  void operator()(const search_stopped& e) const {
    kind("search_stopped");
    to["reason"] = e.reason;
    to["external"] = e.external;
  }
  void operator()(const search_resumed& e) const {
    kind("search_resumed");
    to["reason"] = e.reason;
  }
  void operator()(const baseline_met& e) const {
    kind("baseline_met");
    to["candidate"] = e.candidate;
    to["baseline"] = e.baseline;
  }
  void operator()(const proposals_filtered& e) const {
    kind("proposals_filtered");
    to["passed"] = e.passed;
    py::list dropped;
    for (const auto& each : e.dropped) dropped.append(py::make_tuple(each.candidate, each.reason));
    to["dropped"] = dropped;
  }

 private:
  void kind(const char* name) const { to["kind"] = name; }
};

}  // namespace

py::dict event_dict(const event& what) {
  py::dict made;
  std::visit(filler{made}, what.payload);
  made["sequence"] = what.sequence;
  made["time_s"] = what.time_s;
  return made;
}

}  // namespace kevo::python
