#include "src/journal/event_rows.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/json/json_text.hpp"

namespace kevo::detail {
namespace {

namespace json = boost::json;

// In the order of the alternatives of event::what.
constexpr std::array<std::string_view, 11> kinds = {
    "seeded",          "variation_asked", "variation_told",    "evaluation_asked",
    "evaluation_told", "draft_evaluated", "champion_crowned",  "search_stopped",
    "search_resumed",  "baseline_met",    "proposals_filtered"};
static_assert(std::variant_size_v<decltype(event::what)> == kinds.size());

std::string in_quotes(std::string_view text) {
  return json::serialize(json::string_view(text.data(), text.size()));
}
std::string number(double x) {
  std::string text;
  append_exact_number(text, x);
  return text;
}
double number(const json::value& v) {
  if (v.is_string()) {
    const auto& text = v.get_string();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return v.to_number<double>();
}
std::string list(const std::vector<candidate_id>& ids) {
  std::string text = "[";
  for (std::size_t i = 0; i < ids.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{}", i ? "," : "", ids[i]);
  return text += ']';
}
std::vector<candidate_id> list(const json::value& v) {
  std::vector<candidate_id> ids;
  for (const auto& id : v.as_array()) ids.push_back(id.to_number<candidate_id>());
  return ids;
}
memory_scope parse_scope(std::string_view name) {
  for (std::size_t i = 0; i < memory_scope_names.size(); ++i) {
    if (memory_scope_names[i] == name) return static_cast<memory_scope>(i);
  }
  throw error(error_code::input, "unknown memory scope '" + std::string(name) + "'");
}
archive_status parse_archive_status(std::string_view name) {
  for (std::size_t i = 0; i < archive_status_names.size(); ++i) {
    if (archive_status_names[i] == name) return static_cast<archive_status>(i);
  }
  throw error(error_code::input, "unknown archive status '" + std::string(name) + "'");
}
evaluation_stage parse_stage(const std::string& name) {
  if (const auto stage = parse_evaluation_stage(name)) return *stage;
  throw error(error_code::input, "unknown stage '" + name + "'");
}
verdict_reason parse_reason(const std::string& name) {
  if (const auto reason = parse_verdict_reason(name)) return *reason;
  throw error(error_code::input, "unknown reason '" + name + "' of a verdict");
}
std::optional<candidate_id> known(candidate_id id) {
  return id == no_candidate ? std::nullopt : std::optional(id);
}

// In columns for people, what was not measured is NULL.
std::optional<double> measured(double x) {
  return x > 0 ? std::optional(x) : std::nullopt;
}

// The columns of an event's own row; what has a table of its own leaves `detail` empty.
struct columns {
  std::optional<ticket> job;
  std::optional<candidate_id> candidate;
  std::optional<std::string> program;
  std::optional<std::string> detail;
};
columns columns_of(const seeded& e) {
  return {.job = {}, .candidate = known(e.candidate), .program = to_string(e.program), .detail = {}};
}
columns columns_of(const variation_asked& e) {
  return {.job = e.job,
          .candidate = {},
          .program = {},
          .detail =
              fmt::format(R"({{"operator":{},"parents":{},"inspirations":{},"scope":"{}","reevaluate":{}}})",
                          e.op, list(e.selection.parents), list(e.selection.inspirations),
                          to_string(e.selection.scope), e.selection.reevaluate)};
}
columns columns_of(const variation_told& e) {
  columns c{.job = e.job, .candidate = known(e.candidate), .program = {}, .detail = {}};
  if (e.program) c.program = to_string(*e.program);
  if (e.sample > 0 || e.further)
    c.detail = fmt::format(R"({{"sample":{},"further":{}}})", e.sample, e.further);
  return c;
}
columns columns_of(const evaluation_asked& e) {
  return {.job = e.job,
          .candidate = known(e.candidate),
          .program = {},
          .detail = fmt::format(R"({{"wanted":"{}","fresh":{}}})", to_string(e.wanted), e.fresh)};
}
columns columns_of(const evaluation_told& e) {
  return {.job = e.job, .candidate = known(e.candidate), .program = {}, .detail = {}};
}
columns columns_of(const draft_evaluated& e) {
  return {.job = e.job, .candidate = {}, .program = to_string(e.program), .detail = {}};
}
columns columns_of(const champion_crowned& e) {
  return {.job = {},
          .candidate = known(e.candidate),
          .program = {},
          .detail = fmt::format(
              R"({{"speedup":{},"interval":[{},{}],"verdict":"{}","reason":"{}","widest":{}}})",
              number(e.speedup), number(e.speedup_interval.low), number(e.speedup_interval.high),
              to_string(e.verdict.word()), to_string(e.verdict.reason), number(e.verdict.widest))};
}
columns columns_of(const baseline_met& e) {
  return {.job = {},
          .candidate = known(e.candidate),
          .program = {},
          .detail = "{\"baseline\":" + in_quotes(e.baseline) + "}"};
}
columns columns_of(const proposals_filtered& e) {
  std::string dropped;
  for (const auto& one : e.dropped) {
    dropped += fmt::format(R"({}{{"candidate":{},"reason":{}}})", dropped.empty() ? "" : ",", one.candidate,
                           in_quotes(one.reason));
  }
  return {.job = {},
          .candidate = {},
          .program = {},
          .detail = fmt::format(R"({{"passed":{},"dropped":[{}]}})", list(e.passed), dropped)};
}
columns columns_of(const search_stopped& e) {
  return {.job = {},
          .candidate = {},
          .program = {},
          .detail = fmt::format(R"({{"reason":{},"external":{}}})", in_quotes(e.reason), e.external)};
}
columns columns_of(const search_resumed& e) {
  return {.job = {}, .candidate = {}, .program = {}, .detail = "{\"reason\":" + in_quotes(e.reason) + "}"};
}

}  // namespace

row_writer::row_writer(sqlite::connection& database)
    : database_(&database),
      program_(database.prepare("INSERT OR IGNORE INTO programs(id, language) VALUES (?, ?)")),
      file_(database.prepare("INSERT INTO program_files VALUES (?, ?, ?, ?)")),
      event_(database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)")),
      candidate_(database.prepare("INSERT INTO candidates VALUES (?, ?, ?, ?)")),
      edge_(database.prepare("INSERT INTO edges VALUES (?, ?, ?, ?)")),
      variation_(
          database.prepare("INSERT INTO variations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")),
      evaluation_(database.prepare(
          "INSERT INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")),
      ledger_(database.prepare("INSERT INTO ledger VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")),
      call_(database.prepare(
          "INSERT INTO model_calls VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
          "?, ?, ?, ?)")) {}

void row_writer::write(const content_id& id, const program& source) {
  program_.run(to_string(id), source.language);
  if (database_->changes() == 0) return;
  const std::int64_t number = database_->last_row();
  for (std::size_t i = 0; i < source.files.size(); ++i) {
    file_.run(number, i, source.files[i].path, source.files[i].text);
  }
}

void row_writer::write(const event& what, const std::optional<variation_origin>& origin) {
  const columns c = std::visit([](const auto& e) { return columns_of(e); }, what.what);
  event_.run(what.sequence, what.time_s, kinds[what.what.index()], c.job, c.candidate, c.program, c.detail);
  if (const auto* seed = std::get_if<seeded>(&what.what)) {
    candidate_.run(seed->candidate, to_string(seed->program), std::string_view("seed"), what.sequence);
  } else if (const auto* varied = std::get_if<variation_told>(&what.what)) {
    write_told(what, *varied,
               origin.value_or(variation_origin{.asked = 0, .operator_name = "unknown", .selection = {}}));
  } else if (const auto* evaluated = std::get_if<evaluation_told>(&what.what)) {
    write_evaluation(what, *evaluated->result, evaluated->candidate, evaluated->wanted, evaluated->archived);
  } else if (const auto* draft = std::get_if<draft_evaluated>(&what.what)) {
    write_evaluation(what, *draft->result, std::nullopt, evaluation_stage::timed_full, std::nullopt);
  }
}

void row_writer::write_told(const event& at, const variation_told& told, const variation_origin& origin) {
  const bool born = told.candidate != no_candidate && !told.duplicate;
  const std::string_view result = told.duplicate ? "known" : born ? "candidate" : "nothing";
  const auto asked = origin.asked > 0 ? std::optional(origin.asked) : std::nullopt;
  const auto transcript =
      told.transcript.empty() ? std::nullopt : std::optional<std::string_view>(told.transcript);
  variation_.run(at.sequence, asked, origin.operator_name, list(origin.selection.parents),
                 to_string(origin.selection.scope), result, known(told.candidate), told.exhausted,
                 told.summary, told.cost.wall_s, told.cost.device_s, told.cost.money, told.cost.tokens_in,
                 told.cost.tokens_out, transcript);
  if (!born) return;
  candidate_.run(told.candidate, told.program ? to_string(*told.program) : std::string(),
                 origin.operator_name, at.sequence);
  const auto write_edges = [&](std::string_view role, const std::vector<candidate_id>& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) edge_.run(told.candidate, role, i, ids[i]);
  };
  write_edges("parent", origin.selection.parents);
  write_edges("inspiration", origin.selection.inspirations);
}

void row_writer::write_evaluation(const event& at, const evaluation& result,
                                  std::optional<candidate_id> candidate, evaluation_stage wanted,
                                  const std::optional<archive_result>& archived) {
  evaluation_json_options exact;
  exact.exact = true;
  std::optional<std::string_view> status;
  std::optional<double> value;
  if (archived) status = to_string(archived->status), value = archived->value;
  evaluation_.run(at.sequence, candidate, to_string(wanted), to_string(result.outcome),
                  to_string(result.stage), result.score, measured(result.speedup),
                  measured(result.speedup_interval.low), measured(result.speedup_interval.high),
                  measured(result.sol_fraction), result.cached, status, value, result.cost.wall_s,
                  result.cost.device_s, result.device, result.backend, result.protocol,
                  to_json(result, exact));
}

void row_writer::write(const ledger& now, std::uint64_t sequence) {
  spending all = now.variation;
  all += now.evaluation;
  ledger_.run(sequence, now.elapsed_s, now.proposals, now.duplicates, now.no_proposals, now.evaluations,
              now.confirmations, now.valid, now.variation.wall_s, now.evaluation.wall_s, all.device_s,
              all.money, all.tokens_in, all.tokens_out);
}

void row_writer::write(ticket job, double time_s, const model_call& call) {
  const auto given = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
  };
  call_.run(job, time_s, call.operator_name, call.model, given(call.group), call.turn, given(call.messages),
            given(call.response), given(call.prompt_token_ids), given(call.token_ids),
            given(call.log_probabilities), given(call.sampling), given(call.policy_version),
            given(call.reward_terms), given(call.request_key), call.tokens_in, call.tokens_out, call.money,
            call.wall_s);
}

namespace {
constexpr std::string_view event_columns =
    "SELECT e.sequence, e.time_s, e.kind, e.job, e.candidate, e.program, e.detail,"
    " v.result, v.exhausted, v.summary, v.wall_s, v.device_s, v.money, v.tokens_in, v.tokens_out, "
    "v.transcript,"
    " x.wanted, x.archive_status, x.archive_value, x.evaluation"
    " FROM events e LEFT JOIN variations v ON v.sequence = e.sequence"
    " LEFT JOIN evaluations x ON x.sequence = e.sequence";
}  // namespace

sqlite::statement select_events(sqlite::connection& database) {
  return database.prepare(std::string(event_columns) + " ORDER BY e.sequence");
}
sqlite::statement select_asked_variation(sqlite::connection& database) {
  return database.prepare(std::string(event_columns) + " WHERE e.kind = 'variation_asked' AND e.job = ?");
}

namespace {

/// One row of `event_columns`, its fields by name.
class event_row {
 public:
  explicit event_row(const sqlite::statement& row) : row_(row) {}

  std::uint64_t sequence() const { return static_cast<std::uint64_t>(row_.integer(column::sequence)); }
  double time_s() const { return row_.real(column::time_s); }
  std::string kind() const { return row_.text(column::kind); }
  ticket job() const { return static_cast<ticket>(row_.integer(column::job)); }
  candidate_id candidate() const {
    return row_.is_null(column::candidate) ? no_candidate
                                           : static_cast<candidate_id>(row_.integer(column::candidate));
  }
  std::optional<content_id> program() const {
    return row_.is_null(column::program) ? std::nullopt : parse_content_id(row_.text(column::program));
  }
  std::shared_ptr<const evaluation> result() const {
    return std::make_shared<const evaluation>(evaluation_from_json(row_.text(column::evaluated)));
  }
  evaluation_stage wanted() const { return parse_stage(row_.text(column::wanted)); }
  archive_result archived() const {
    return {parse_archive_status(row_.text(column::status)), row_.real(column::value)};
  }
  json::object detail() const { return parse_json_exactly(row_.text(column::detail), true).as_object(); }

  variation_asked asked() const {
    const auto d = detail();
    variation_asked turn{.job = job(), .selection = {}, .op = d.at("operator").to_number<operator_index>()};
    turn.selection = {list(d.at("parents")), list(d.at("inspirations")),
                      parse_scope(d.at("scope").as_string()), d.at("reevaluate").as_bool()};
    return turn;
  }
  variation_told told() const {
    variation_told e = last_told();
    if (row_.is_null(column::detail)) return e;
    const auto d = detail();
    e.sample = d.at("sample").to_number<std::uint32_t>();
    e.further = d.at("further").as_bool();
    return e;
  }
  variation_told last_told() const {
    return {.job = job(),
            .program = program(),
            .candidate = candidate(),
            .duplicate = row_.text(column::result) == "known",
            .summary = row_.text(column::summary),
            .exhausted = row_.integer(column::exhausted) != 0,
            .cost = {row_.real(column::wall_s), row_.real(column::device_s), row_.real(column::money),
                     row_.integer(column::tokens_in), row_.integer(column::tokens_out)},
            .transcript = row_.text(column::transcript)};
  }
  evaluation_asked evaluation_wanted() const {
    const auto d = detail();
    return {job(), candidate(), parse_stage(std::string(d.at("wanted").as_string())),
            d.at("fresh").as_bool()};
  }
  proposals_filtered filtered() const {
    const auto d = detail();
    proposals_filtered e{.passed = list(d.at("passed")), .dropped = {}};
    for (const auto& one : d.at("dropped").as_array()) {
      e.dropped.push_back({one.as_object().at("candidate").to_number<candidate_id>(),
                           std::string(one.as_object().at("reason").as_string())});
    }
    return e;
  }
  champion_crowned crowned() const {
    const auto d = detail();
    const auto& ends = d.at("interval").as_array();
    champion_crowned e{candidate(), number(d.at("speedup")), {number(ends.at(0)), number(ends.at(1))}};
    if (const auto* reason = d.if_contains("reason"))  // older journals: every champion was called confirmed
      e.verdict = {parse_reason(std::string(reason->as_string())), number(d.at("widest"))};
    return e;
  }

 private:
  struct column {
    enum : int {
      sequence,
      time_s,
      kind,
      job,
      candidate,
      program,
      detail,
      result,
      exhausted,
      summary,
      wall_s,
      device_s,
      money,
      tokens_in,
      tokens_out,
      transcript,
      wanted,
      status,
      value,
      evaluated
    };
  };

  const sqlite::statement& row_;
};

}  // namespace

event read_event(const sqlite::statement& statement) {
  const event_row row(statement);
  event e;
  e.sequence = row.sequence();
  e.time_s = row.time_s();
  const std::string name = row.kind();
  std::size_t index = 0;
  while (index < kinds.size() && kinds[index] != name) ++index;
  switch (index) {
    case 0:
      e.what = seeded{row.candidate(), row.program().value_or(content_id{})};
      break;
    case 1:
      e.what = row.asked();
      break;
    case 2:
      e.what = row.told();
      break;
    case 3:
      e.what = row.evaluation_wanted();
      break;
    case 4:
      e.what = evaluation_told{row.job(), row.candidate(), row.wanted(), row.result(), row.archived()};
      break;
    case 5:
      e.what = draft_evaluated{row.job(), row.program().value_or(content_id{}), row.result()};
      break;
    case 6:
      e.what = row.crowned();
      break;
    case 7: {
      const auto d = row.detail();
      e.what = search_stopped{std::string(d.at("reason").as_string()), d.at("external").as_bool()};
      break;
    }
    case 8:
      e.what = search_resumed{std::string(row.detail().at("reason").as_string())};
      break;
    case 9:
      e.what = baseline_met{row.candidate(), std::string(row.detail().at("baseline").as_string())};
      break;
    case 10:
      e.what = row.filtered();
      break;
    default:
      throw error(error_code::input,
                  "event " + std::to_string(e.sequence) + " has the unknown kind '" + name + "'");
  }
  return e;
}

std::size_t weight_of(const program& source) {
  std::size_t bytes = sizeof source + source.language.size();
  for (const auto& file : source.files) bytes += sizeof file + file.path.size() + file.text.size();
  return bytes;
}

std::size_t weight_of(const evaluation& result) {
  constexpr std::size_t node = 96;  // of a map
  std::size_t bytes = sizeof result + result.feedback.size();
  for (const auto& w : result.workloads) {
    bytes += sizeof w + w.axes.size() * node + w.samples.size() * sizeof(timing_pair);
  }
  for (const auto& reason : result.reasons) bytes += sizeof(std::string) + reason.size();
  for (const auto& [key, value] : result.context) bytes += node + key.size() + value.size();
  return bytes + (result.measures.size() + result.other_speedups.size()) * node;
}

std::size_t weight_of(const model_call& call) {
  return sizeof call + call.messages.size() + call.response.size() + call.prompt_token_ids.size() +
         call.token_ids.size() + call.log_probabilities.size() + call.sampling.size();
}

}  // namespace kevo::detail
