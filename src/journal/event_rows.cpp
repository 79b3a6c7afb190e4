#include "src/journal/event_rows.hpp"

#include <array>
#include <string_view>

#include <kevo/error.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/journal/event_detail.hpp"

namespace kevo::detail {
namespace {

// In the order of the alternatives of event::payload.
constexpr std::array<std::string_view, 11> kinds = {
    "seeded",          "variation_asked", "variation_told",    "evaluation_asked",
    "evaluation_told", "draft_evaluated", "champion_crowned",  "search_stopped",
    "search_resumed",  "baseline_met",    "proposals_filtered"};
static_assert(std::variant_size_v<decltype(event::payload)> == kinds.size());

archive_status parse_archive_status(std::string_view name) {
  for (std::size_t i = 0; i < archive_status_names.size(); ++i) {
    if (archive_status_names[i] == name) return static_cast<archive_status>(i);
  }
  throw error(error_code::input, "unknown archive status '" + std::string(name) + "'");
}
std::optional<candidate_id> known(candidate_id id) {
  return id == no_candidate ? std::nullopt : std::optional(id);
}

// In columns for people, what was not measured is NULL.
std::optional<double> measured(double x) {
  return x > 0 ? std::optional(x) : std::nullopt;
}

// The columns `job`, `candidate` and `program` of an event; NULL where they do not apply.
template <class Event>
std::optional<ticket> job_of(const Event& e) {
  if constexpr (requires { e.job; }) return e.job;
  return {};
}
template <class Event>
std::optional<candidate_id> candidate_of(const Event& e) {
  if constexpr (requires { e.candidate; }) return known(e.candidate);
  return {};
}
template <class Event>
std::optional<std::string> program_of(const Event& e) {
  if constexpr (requires { *e.program; }) {
    return e.program ? std::optional(to_string(*e.program)) : std::nullopt;
  } else if constexpr (requires { e.program; }) {
    return to_string(e.program);
  }
  return {};
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
  std::visit(
      [&](const auto& e) {
        event_.run(what.sequence, what.time_s, kinds[what.payload.index()], job_of(e), candidate_of(e),
                   program_of(e), detail_text(e));
      },
      what.payload);
  if (const auto* seed = std::get_if<seeded>(&what.payload)) {
    candidate_.run(seed->candidate, to_string(seed->program), std::string_view("seed"), what.sequence);
  } else if (const auto* varied = std::get_if<variation_told>(&what.payload)) {
    write_told(what, *varied,
               origin.value_or(variation_origin{.asked = 0, .operator_name = "unknown", .selection = {}}));
  } else if (const auto* evaluated = std::get_if<evaluation_told>(&what.payload)) {
    write_evaluation(what, *evaluated->result, evaluated->candidate, evaluated->wanted, evaluated->archived);
  } else if (const auto* draft = std::get_if<draft_evaluated>(&what.payload)) {
    write_evaluation(what, *draft->result, std::nullopt, evaluation_stage::timed_full, std::nullopt);
  }
}

void row_writer::write_told(const event& at, const variation_told& told, const variation_origin& origin) {
  const bool born = told.candidate != no_candidate && !told.duplicate;
  const std::string_view result = told.duplicate ? "known" : born ? "candidate" : "nothing";
  const auto asked = origin.asked > 0 ? std::optional(origin.asked) : std::nullopt;
  const auto transcript =
      told.transcript.empty() ? std::nullopt : std::optional<std::string_view>(told.transcript);
  variation_.run(at.sequence, asked, origin.operator_name, ids_text(origin.selection.parents),
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

// In the order of `event_columns`.
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
  bool has_detail() const { return !row_.is_null(column::detail); }
  // `e` with what the column `detail` says.
  template <class Event>
  Event with_detail(Event e) const {
    read_detail(parse_json_exactly(row_.text(column::detail), true).as_object(), e);
    return e;
  }

  variation_told told() const {
    variation_told e = last_told();
    return has_detail() ? with_detail(std::move(e)) : e;
  }

 private:
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
      e.payload = seeded{row.candidate(), row.program().value_or(content_id{})};
      break;
    case 1:
      e.payload = row.with_detail(variation_asked{.job = row.job(), .selection = {}, .op = {}});
      break;
    case 2:
      e.payload = row.told();
      break;
    case 3:
      e.payload = row.with_detail(evaluation_asked{.job = row.job(), .candidate = row.candidate()});
      break;
    case 4:
      e.payload = evaluation_told{row.job(), row.candidate(), row.wanted(), row.result(), row.archived()};
      break;
    case 5:
      e.payload = draft_evaluated{row.job(), row.program().value_or(content_id{}), row.result()};
      break;
    case 6:
      e.payload = row.with_detail(champion_crowned{.candidate = row.candidate()});
      break;
    case 7:
      e.payload = row.with_detail(search_stopped{});
      break;
    case 8:
      e.payload = row.with_detail(search_resumed{});
      break;
    case 9:
      e.payload = row.with_detail(baseline_met{.candidate = row.candidate()});
      break;
    case 10:
      e.payload = row.with_detail(proposals_filtered{});
      break;
    default:
      throw error(error_code::input,
                  "event " + std::to_string(e.sequence) + " has the unknown kind '" + name + "'");
  }
  return e;
}

}  // namespace kevo::detail
