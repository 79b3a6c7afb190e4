// What roles in Python are shown: requests, observations, the population, progress and random numbers.

#include "python/src/views.hpp"

#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <vector>

#include <kevo/select.hpp>
#include <kevo/stop.hpp>

#include "python/src/bind.hpp"
#include "python/src/convert.hpp"

namespace kevo::python {
namespace py = pybind11;
namespace {

std::vector<candidate_snapshot> copies_of(
    const std::vector<std::shared_ptr<const candidate_snapshot>>& from) {
  std::vector<candidate_snapshot> all;
  for (const auto& each : from) all.push_back(*each);
  return all;
}

std::string language_of(const request_handle& r) {
  if (!r.request.parents.empty()) return r.request.parents.front()->program->language;
  return usual_language(r.request.task.get());
}

evaluation evaluate_draft(const request_handle& r, py::handle draft, const std::string& stage) {
  if (!r.request.can_evaluate())
    throw error(error_code::usage, "drafts cannot be evaluated here, or not any more");
  const program source = program_from(draft, language_of(r));
  const evaluation_stage wanted = stage_from(stage);
  const outside_interpreter others_run;
  return r.request.evaluate(source, wanted);
}

template <auto Function>
auto relatives() {
  return [](const request_handle& r, std::size_t limit) {
    const outside_interpreter others_run;  // the search may be at work, and call Python itself
    return (r.request.*Function)(limit);
  };
}

void bind_request(py::module_& module) {
  py::class_<request_handle>(module, "VariationRequest", "What an operator is asked to vary.")
      .def_property_readonly("job", [](const request_handle& r) { return r.request.job; })
      .def_property_readonly("task",
                             [](const request_handle& r) -> std::optional<task_handle> {
                               if (!r.request.task) return std::nullopt;
                               return task_handle{r.request.task};
                             })
      .def_property_readonly("parents", [](const request_handle& r) { return copies_of(r.request.parents); })
      .def_property_readonly("inspirations",
                             [](const request_handle& r) { return copies_of(r.request.inspirations); })
      .def_property_readonly("scope",
                             [](const request_handle& r) { return std::string(to_string(r.request.scope)); })
      .def_property_readonly("known", [](const request_handle& r) { return r.request.known; })
      .def_property_readonly("stop_requested",
                             [](const request_handle& r) {
                               return r.request.stop.stop_requested() || r.request.ending.stop_requested();
                             })
      .def_property_readonly("can_evaluate", [](const request_handle& r) { return r.request.can_evaluate(); })
      .def("lineage", relatives<&variation_request::lineage>(), py::arg("limit") = 32)
      .def("siblings", relatives<&variation_request::siblings>(), py::arg("limit") = 32)
      .def("children", relatives<&variation_request::children>(), py::arg("limit") = 32)
      .def(
          "seen",
          [](const request_handle& r, py::handle source) {
            const content_id id = id_of(program_from(source, language_of(r)));
            const outside_interpreter others_run;
            return r.request.seen(id);
          },
          py::arg("program"))
      .def("evaluate", &evaluate_draft, py::arg("draft"), py::arg("stage") = "timed_full")
      .def(
          "book",
          [](const request_handle& r, double money, std::int64_t tokens_in, std::int64_t tokens_out) {
            r.request.book({.money = money, .tokens_in = tokens_in, .tokens_out = tokens_out});
          },
          py::call_guard<outside_interpreter>(), py::kw_only(), py::arg("money") = 0.0,
          py::arg("tokens_in") = 0, py::arg("tokens_out") = 0)
      .def(
          "note", [](const request_handle& r, std::string text) { r.request.note(std::move(text)); },
          py::call_guard<outside_interpreter>(), py::arg("text"));

  py::class_<evaluation_request>(module, "EvaluationRequest", "A request for one evaluation.")
      .def_property_readonly("program", [](const evaluation_request& r) { return *r.program; })
      .def_property_readonly("text",
                             [](const evaluation_request& r) { return std::string(r.program->text()); })
      .def_property_readonly("wanted",
                             [](const evaluation_request& r) { return std::string(to_string(r.wanted)); })
      .def_readonly("best_speedup", &evaluation_request::best_speedup)
      .def_readonly("fresh", &evaluation_request::fresh)
      .def_property_readonly("stop_requested",
                             [](const evaluation_request& r) { return r.stop.stop_requested(); });
}

void bind_observation(py::module_& module) {
  py::class_<observation>(module, "Observation", "The result of an evaluation of a candidate.")
      .def_readonly("candidate", &observation::candidate)
      .def_readonly("parents", &observation::parents)
      .def_property_readonly("made_by",
                             [](const observation& o) -> std::optional<int> {
                               if (o.made_by == seed_operator) return std::nullopt;
                               return o.made_by;
                             })
      .def_property_readonly("outcome",
                             [](const observation& o) { return std::string(to_string(o.outcome)); })
      .def_readonly("score", &observation::score)
      .def_readonly("parent_score", &observation::parent_score)
      .def_property_readonly("archived",
                             [](const observation& o) { return std::string(to_string(o.archived.status)); })
      .def_property_readonly("archive_value", [](const observation& o) { return o.archived.value; })
      .def_readonly("cost_s", &observation::cost_s)
      .def_readonly("job", &observation::job)
      .def_readonly("measured", &observation::measured)
      .def_readonly("confirmed", &observation::confirmed)
      .def_property_readonly("evaluation",
                             [](const observation& o) -> std::optional<evaluation> {
                               if (!o.result) return std::nullopt;
                               return *o.result;
                             })
      .def_property_readonly("ranked", &observation::ranked)
      .def_property_readonly("gain", &observation::gain);

  py::class_<progress>(module, "Progress", "What a run has spent and reached.")
      .def_property_readonly("evaluations", [](const progress& p) { return p.ledger.evaluations; })
      .def_property_readonly("confirmations", [](const progress& p) { return p.ledger.confirmations; })
      .def_property_readonly("proposals", [](const progress& p) { return p.ledger.proposals; })
      .def_property_readonly("duplicates", [](const progress& p) { return p.ledger.duplicates; })
      .def_property_readonly("no_proposals", [](const progress& p) { return p.ledger.no_proposals; })
      .def_property_readonly("valid", [](const progress& p) { return p.ledger.valid; })
      .def_property_readonly("elapsed_s", [](const progress& p) { return p.ledger.elapsed_s; })
      .def_property_readonly("money", [](const progress& p) { return p.ledger.variation.money; })
      .def_readonly("best_speedup", &progress::best_speedup)
      .def_readonly("best_score", &progress::best_score)
      .def_readonly("best_sol_fraction", &progress::best_sol_fraction)
      .def_readonly("since_improvement", &progress::since_improvement)
      .def_readonly("since_kept", &progress::since_kept)
      .def_readonly("archive_size", &progress::archive_size)
      .def_readonly("archive_cells", &progress::archive_cells);
}

void bind_population(py::module_& module) {
  using id = candidate_id;
  py::class_<view_handle>(module, "PopulationView",
                          "The candidates of a search, during one call of a selector.")
      .def("__len__", [](const view_handle& v) { return v.get().size(); })
      .def_property_readonly("ranked", [](const view_handle& v) { return v.get().ranked(); })
      .def(
          "score", [](const view_handle& v, id one) { return v.get().score(v.checked(one)); },
          py::arg("candidate"))
      .def(
          "outcome",
          [](const view_handle& v, id one) -> std::optional<std::string> {
            const auto& row = v.get().row(v.checked(one));
            if (!row.evaluated) return std::nullopt;
            return std::string(to_string(row.outcome));
          },
          py::arg("candidate"))
      .def(
          "evaluations", [](const view_handle& v, id one) { return v.get().row(v.checked(one)).evaluations; },
          py::arg("candidate"))
      .def(
          "nth_best",
          [](const view_handle& v, std::size_t rank) {
            if (rank >= v.get().ranked()) throw py::index_error("there are not so many ranked candidates");
            return v.get().nth_best(rank);
          },
          py::arg("rank"))
      .def(
          "rank_of",
          [](const view_handle& v, id one) -> std::optional<std::size_t> {
            if (!v.get().row(v.checked(one)).ranked()) return std::nullopt;
            return v.get().rank_of(one);
          },
          py::arg("candidate"))
      .def(
          "parents", [](const view_handle& v, id one) { return v.get().parents(v.checked(one)); },
          py::arg("candidate"))
      .def(
          "children", [](const view_handle& v, id one) { return v.get().children(v.checked(one)); },
          py::arg("candidate"))
      .def_property_readonly("elites", [](const view_handle& v) {
        std::vector<std::pair<id, double>> all;
        const any_archive& kept = v.get().archive();
        for (std::size_t i = 0; i < kept.size(); ++i) all.emplace_back(kept.at(i).id, kept.at(i).score);
        return all;
      });
}

void bind_random(py::module_& module) {
  py::class_<random_handle>(module, "Random", "Random numbers that depend on the seed of the run alone.")
      .def(py::init([](std::uint64_t seed) { return random_handle{rng(seed)}; }), py::arg("seed") = 0)
      .def(
          "uniform", [](random_handle& r, double low, double high) { return r.numbers.uniform(low, high); },
          py::arg("low") = 0.0, py::arg("high") = 1.0)
      .def(
          "below",
          [](random_handle& r, std::uint64_t n) {
            if (n == 0) throw py::value_error("there is no number below 0");
            return r.numbers.below(n);
          },
          py::arg("n"))
      .def(
          "integer",
          [](random_handle& r, std::int64_t low, std::int64_t high) {
            if (high < low) throw py::value_error("high must not be below low");
            return r.numbers.integer(low, high);
          },
          py::arg("low"), py::arg("high"))
      .def(
          "chance", [](random_handle& r, double p) { return r.numbers.chance(p); }, py::arg("p"))
      .def("normal", [](random_handle& r) { return r.numbers.normal(); })
      .def(
          "choice",
          [](random_handle& r, const py::sequence& items) {
            if (items.size() == 0) throw py::index_error("cannot choose from nothing");
            return py::object(items[r.numbers.below(items.size())]);
          },
          py::arg("items"));
}

}  // namespace

void bind_views(py::module_& module) {
  bind_request(module);
  bind_observation(module);
  bind_population(module);
  bind_random(module);
}

}  // namespace kevo::python
