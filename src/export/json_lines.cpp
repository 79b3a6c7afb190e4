#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/json/finite.hpp"
#include "src/base/text/verdict_text.hpp"
#include "src/export/export.hpp"
#include "src/export/recorded_result.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

json::array list(const std::vector<candidate_id>& ids) {
  json::array all;
  for (const candidate_id id : ids) all.push_back(id);
  return all;
}
json::value number(double x) {
  return finite_or_null(x);
}
json::value measured(double x) {
  return x > 0 ? number(x) : json::value(nullptr);
}
json::object cost_of(const spending& cost) {
  return {{"wall_s", number(cost.wall_s)},
          {"device_s", number(cost.device_s)},
          {"money", number(cost.money)},
          {"tokens_in", cost.tokens_in},
          {"tokens_out", cost.tokens_out}};
}
void add_source(json::object& to, const content_id& id, const std::shared_ptr<const program>& source) {
  to["program"] = to_string(id);
  to["language"] = source ? json::value(source->language) : json::value(nullptr);
  json::array files;
  if (source) {
    for (const auto& file : source->files)
      files.push_back(json::object{{"path", file.path}, {"text", file.text}});
  }
  to["files"] = std::move(files);
}
json::value result_of(const recorded_evaluation* e) {
  return e == nullptr ? json::value(nullptr) : json::value(result_json(*e->result));
}
double speedup_of(const recorded_evaluation* e) {
  return e != nullptr && e->result->valid() ? e->result->speedup : 0;
}
std::optional<double> score_of(const recorded_evaluation* e) {
  return e != nullptr && format::has_score(e->result->outcome, e->result->stage, e->result->score)
             ? std::optional(e->result->score)
             : std::nullopt;
}
json::value number(const std::optional<double>& x) {
  return x ? number(*x) : json::value(nullptr);
}

class step_writer {
 public:
  step_writer(const journal& record, std::ostream& out)
      : record_(record), store_(record.store()), out_(out) {}

  void see(const event& e) {
    if (const auto* asked = std::get_if<variation_asked>(&e.payload))
      asked_[asked->job] = {e.sequence, *asked};
    const auto* told = std::get_if<variation_told>(&e.payload);
    if (told == nullptr) return;
    const auto begun = asked_.find(told->job);
    if (begun == asked_.end()) return;
    write(e, *told, begun->second.first, begun->second.second);
    if (!told->further) asked_.erase(begun);
  }
  std::size_t lines() const { return lines_; }

 private:
  static constexpr std::uint64_t end_of_time = ~std::uint64_t{0};

  json::object member(candidate_id id, const std::vector<recorded_evaluation>& all,
                      std::uint64_t before) const {
    json::object o{{"candidate", id}};
    const auto known = record_.candidate(id);
    const content_id program = known ? known->program : content_id{};
    add_source(o, program, store_.program_of(program));
    o["result"] = result_of(latest_before(all, before));
    return o;
  }

  void write(const event& at, const variation_told& told, std::uint64_t asked_at,
             const variation_asked& asked) {
    json::object o{
        {"step", at.sequence}, {"time_s", number(at.time_s)}, {"operator", record_.operator_name(asked.op)}};
    o["scope"] = to_string(asked.selection.scope);
    json::array parents;
    double parent_speedup = 0;
    std::optional<double> parent_score;
    for (const candidate_id id : asked.selection.parents) {
      const auto all = record_.evaluations(id);
      parent_speedup = std::max(parent_speedup, speedup_of(latest_before(all, asked_at)));
      parent_score = std::max(parent_score, score_of(latest_before(all, asked_at)));  // none is least
      parents.push_back(member(id, all, asked_at));
    }
    o["parents"] = std::move(parents);
    o["inspirations"] = list(asked.selection.inspirations);
    o["summary"] = told.summary;
    o["transcript"] = told.transcript;
    o["cost"] = cost_of(told.cost);
    const bool born = told.candidate != no_candidate && !told.duplicate;
    o["ended"] = told.duplicate ? "known" : born ? "candidate" : "nothing";

    const auto all = born ? record_.evaluations(told.candidate) : std::vector<recorded_evaluation>();
    const recorded_evaluation* final = latest_before(all, end_of_time);
    o["child"] = born ? json::value(member(told.candidate, all, end_of_time)) : json::value(nullptr);
    json::object reward{{"evaluated", final != nullptr},
                        {"valid", final != nullptr && final->result->valid()}};
    reward["parent_speedup"] = measured(parent_speedup);
    reward["speedup"] = measured(speedup_of(final));
    reward["speedup_over_parent"] = final != nullptr && parent_speedup > 0
                                        ? number(speedup_of(final) / parent_speedup)
                                        : json::value(nullptr);
    const auto score = score_of(final);
    reward["parent_score"] = number(parent_score);
    reward["score"] = number(score);
    reward["score_over_parent"] = final != nullptr && parent_score > 0.0
                                      ? number(score.value_or(0) / *parent_score)
                                      : json::value(nullptr);
    reward["archive_status"] =
        all.empty() ? json::value(nullptr) : json::value(to_string(all.front().archived.status));
    reward["archive_value"] = all.empty() ? json::value(nullptr) : number(all.front().archived.value);
    o["reward"] = std::move(reward);
    write_line(o, out_);
    ++lines_;
  }

  const journal& record_;
  candidate_store store_;
  std::ostream& out_;
  std::map<ticket, std::pair<std::uint64_t, variation_asked>> asked_;
  std::size_t lines_ = 0;
};

}  // namespace

std::size_t export_jsonl(const journal& record, std::ostream& out) {
  const candidate_store store = record.store();
  const candidate_id count = record.candidate_count();
  std::size_t lines = 0;
  for (candidate_id id = 0; id < count; ++id) {
    const auto c = record.candidate(id);
    if (!c) continue;
    json::object o{{"run", record.header().run_name}, {"candidate", id}, {"operator", c->operator_name}};
    o["parents"] = list(c->parents);
    o["inspirations"] = list(c->inspirations);
    o["sequence"] = c->sequence;
    o["born_s"] = number(c->born_s);
    o["summary"] = c->summary;
    o["transcript"] = c->transcript;
    o["cost"] = cost_of(c->cost);
    add_source(o, c->program, store.program_of(c->program));
    json::array evaluations;
    for (const auto& one : record.evaluations(id)) {
      json::object e{
          {"sequence", one.sequence}, {"time_s", number(one.time_s)}, {"wanted", to_string(one.wanted)}};
      e["archive"] =
          json::object{{"status", to_string(one.archived.status)}, {"value", number(one.archived.value)}};
      const auto all = parse_json_exactly(to_json(*one.result), true);
      for (const auto& item : all.as_object()) e[item.key()] = item.value();
      evaluations.push_back(std::move(e));
    }
    o["evaluations"] = std::move(evaluations);
    write_line(o, out);
    ++lines;
  }
  return lines;
}

std::size_t export_steps(const journal& record, std::ostream& out) {
  step_writer writer(record, out);
  record.for_each_event([&writer](const event& e) { writer.see(e); });
  return writer.lines();
}

}  // namespace kevo
