// What a journal answers to those who read a run.

#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/journal/event_order.hpp"
#include "src/journal/journal.hpp"
#include "src/journal/journal_state.hpp"
#include "src/llm/recorded_reply.hpp"

namespace kevo {
namespace {

constexpr const char* damaged =
    "the journal is damaged; `sqlite3 FILE .recover` may recover part of the data";

}  // namespace

std::vector<journal_session> journal::sessions() const {
  return state_->query([](sqlite::connection& database) {
    std::vector<journal_session> all;
    auto rows =
        database.prepare("SELECT opened_unix_s, after_sequence, after_time_s FROM sessions ORDER BY number");
    while (rows.step()) {
      all.push_back({rows.real(0), static_cast<std::uint64_t>(rows.integer(1)), rows.real(2)});
    }
    return all;
  });
}

void journal::for_each_event(const std::function<void(const event&)>& visit) const {
  // A writer reads through a connection of its own, so that a long visit does not hold back what others see.
  sqlite::connection own;
  if (!state_->read_only)
    own = detail::translated(state_->path,
                             [&] { return sqlite::connection(state_->path, sqlite::access::read); });
  sqlite::connection& database = state_->read_only ? state_->reader : own;
  auto rows = state_->query([&](sqlite::connection&) { return detail::select_events(database); });
  std::uint64_t expected = 1;
  detail::event_order order(state_->header.operators.size());
  while (true) {
    std::optional<event> next = state_->query([&](sqlite::connection&) -> std::optional<event> {
      if (!rows.step()) return std::nullopt;
      try {
        auto read = detail::read_event(rows);
        order.require(read);
        return read;
      } catch (const std::exception& broken) {
        throw error(error_code::input, fmt::format("event {} cannot be read: {}", expected, broken.what()),
                    {.file = state_->path, .key = {}}, damaged);
      }
    });
    if (!next) break;
    if (next->sequence != expected) {
      throw error(error_code::input, fmt::format("event {} is missing", expected),
                  {.file = state_->path, .key = {}}, damaged);
    }
    ++expected;
    visit(*next);
  }
  const auto waiting = state_->events;  // `visit` may consume
  for (const auto& one : waiting) visit(one.what);
}

// Counted, although the highest number would be found at once: in a journal that somebody has changed it may
// be any number, and readers go through all of them.
candidate_id journal::candidate_count() const {
  return state_->query([](sqlite::connection& database) {
    return static_cast<candidate_id>(database.integer("SELECT count(*) FROM candidates"));
  });
}

std::optional<recorded_candidate> journal::candidate(candidate_id id) const {
  return state_->query([id](sqlite::connection& database) -> std::optional<recorded_candidate> {
    auto row = database.prepare(
        "SELECT c.program, c.operator, c.sequence, e.time_s, v.summary, v.transcript, v.wall_s, v.device_s, "
        "v.money,"
        " v.tokens_in, v.tokens_out FROM candidates c JOIN events e ON e.sequence = c.sequence"
        " LEFT JOIN variations v ON v.sequence = c.sequence WHERE c.id = ?");
    row.bind_all(id);
    if (!row.step()) return std::nullopt;
    recorded_candidate c;
    c.id = id;
    c.program = parse_content_id(row.text(0)).value_or(content_id{});
    c.operator_name = row.text(1);
    c.sequence = static_cast<std::uint64_t>(row.integer(2));
    c.born_s = row.real(3);
    if (!row.is_null(4)) {
      c.summary = row.text(4);
      c.transcript = row.text(5);
      c.cost = {row.real(6), row.real(7), row.real(8), row.integer(9), row.integer(10)};
    }
    auto edges = database.prepare("SELECT role, parent FROM edges WHERE child = ? ORDER BY role, position");
    edges.bind_all(id);
    while (edges.step()) {
      (edges.text(0) == "parent" ? c.parents : c.inspirations)
          .push_back(static_cast<candidate_id>(edges.integer(1)));
    }
    return c;
  });
}

namespace {

constexpr const char* call_columns =
    "m.operator, m.model, m.group_id, m.turn, m.messages, m.response, m.prompt_token_ids, m.token_ids,"
    " m.log_probabilities, m.sampling, m.policy_version, m.reward_terms, m.request_key, m.tokens_in,"
    " m.tokens_out, m.money, m.wall_s";

model_call read_call(const sqlite::statement& row) {
  return {.operator_name = row.text(0),
          .model = row.text(1),
          .group = row.text(2),
          .turn = row.integer(3),
          .sample = sample_of_json(row.text(9)),
          .messages = row.text(4),
          .response = row.text(5),
          .prompt_token_ids = row.text(6),
          .token_ids = row.text(7),
          .log_probabilities = row.text(8),
          .sampling = row.text(9),
          .policy_version = row.text(10),
          .reward_terms = row.text(11),
          .request_key = row.text(12),
          .tokens_in = row.integer(13),
          .tokens_out = row.integer(14),
          .money = row.real(15),
          .wall_s = row.real(16)};
}

}  // namespace

std::vector<model_call> journal::model_calls(candidate_id id) const {
  return state_->query([id](sqlite::connection& database) {
    auto rows = database.prepare(std::string("SELECT ") + call_columns +
                                 " FROM candidates c JOIN events e ON e.sequence = c.sequence"
                                 " JOIN model_calls m ON m.job = e.job WHERE c.id = ? ORDER BY m.number");
    rows.bind_all(id);
    std::vector<model_call> calls;
    while (rows.step()) calls.push_back(read_call(rows));
    return calls;
  });
}

std::vector<model_call> journal::model_calls(const std::vector<std::int64_t>& numbers) const {
  return state_->query([&numbers](sqlite::connection& database) {
    auto row =
        database.prepare(std::string("SELECT ") + call_columns + " FROM model_calls m WHERE m.number = ?");
    std::vector<model_call> calls;
    for (const std::int64_t number : numbers) {
      row.bind_all(number);
      if (row.step()) calls.push_back(read_call(row));
      row.reset();
    }
    return calls;
  });
}

void journal::for_each_model_call(const std::function<void(ticket, std::int64_t)>& visit) const {
  const auto all = state_->query([](sqlite::connection& database) {
    std::vector<std::pair<ticket, std::int64_t>> found;
    // The plus: as for evaluations, the index alone is read.
    auto rows = database.prepare("SELECT job, number FROM model_calls ORDER BY +number");
    while (rows.step()) found.emplace_back(static_cast<ticket>(rows.integer(0)), rows.integer(1));
    return found;
  });
  for (const auto& [job, number] : all) visit(job, number);
}

double journal::model_spending() const {
  return state_->query([](sqlite::connection& database) {
    auto row = database.prepare("SELECT coalesce(sum(money), 0) FROM model_calls");
    return row.step() ? row.real(0) : 0.0;
  });
}

std::vector<std::string> journal::model_call_keys() const {
  return state_->query([](sqlite::connection& database) {
    auto rows = database.prepare("SELECT request_key FROM model_calls WHERE request_key IS NOT NULL");
    std::vector<std::string> keys;
    while (rows.step()) keys.push_back(rows.text(0));
    return keys;
  });
}

namespace {

constexpr const char* evaluation_columns =
    "SELECT x.sequence, e.time_s, x.wanted, x.archive_status, x.archive_value, x.evaluation, x.candidate"
    " FROM evaluations x JOIN events e ON e.sequence = x.sequence";

recorded_evaluation read_evaluation(const sqlite::statement& row) {
  recorded_evaluation one;
  one.sequence = static_cast<std::uint64_t>(row.integer(0));
  one.time_s = row.real(1);
  one.wanted = parse_evaluation_stage(row.text(2)).value_or(evaluation_stage::timed_full);
  for (std::size_t i = 0; i < archive_status_names.size(); ++i) {
    if (archive_status_names[i] == row.text(3)) one.archived.status = static_cast<archive_status>(i);
  }
  one.archived.value = row.real(4);
  one.result = std::make_shared<const evaluation>(evaluation_from_json(row.text(5)));
  one.candidate = static_cast<candidate_id>(row.integer(6));
  return one;
}

}  // namespace

std::vector<recorded_evaluation> journal::evaluations(candidate_id id) const {
  return state_->query([id](sqlite::connection& database) {
    std::vector<recorded_evaluation> all;
    auto rows =
        database.prepare(std::string(evaluation_columns) + " WHERE x.candidate = ? ORDER BY x.sequence");
    rows.bind_all(id);
    while (rows.step()) all.push_back(read_evaluation(rows));
    return all;
  });
}

journal_range<recorded_evaluation> journal::evaluations() const {
  auto sequences = state_->query([](sqlite::connection& database) {
    std::vector<std::int64_t> found;
    // The unary plus makes SQLite sort what the index holds, instead of reading the rows, which are large.
    auto rows =
        database.prepare("SELECT sequence FROM evaluations WHERE candidate IS NOT NULL ORDER BY +sequence");
    while (rows.step()) found.push_back(rows.integer(0));
    return found;
  });
  const std::size_t count = sequences.size();
  return {count, [state = state_, all = std::move(sequences)](std::size_t i) {
            return state->query([&](sqlite::connection& database) {
              auto row = database.prepare(std::string(evaluation_columns) + " WHERE x.sequence = ?");
              row.bind_all(all.at(i));
              if (!row.step()) {
                throw error(error_code::input, fmt::format("evaluation {} is missing", all.at(i)),
                            {.file = state->path, .key = {}}, damaged);
              }
              return read_evaluation(row);
            });
          }};
}

journal_range<recorded_candidate> journal::candidates() const {
  return {candidate_count(), [record = *this](std::size_t i) {
            auto found = record.candidate(static_cast<candidate_id>(i));
            if (!found) {
              throw error(error_code::input, fmt::format("candidate {} is missing", i),
                          {.file = record.state_->path, .key = {}}, damaged);
            }
            return *std::move(found);
          }};
}

std::vector<recorded_candidate> journal::lineage(candidate_id id) const {
  std::vector<recorded_candidate> line;
  for (auto next = candidate(id); next;) {
    line.push_back(*std::move(next));
    const recorded_candidate& last = line.back();
    // Parents are older; a journal that says otherwise is damaged, and its line would not end.
    if (last.parents.empty() || last.parents.front() >= last.id) break;
    next = candidate(last.parents.front());
  }
  return line;
}

std::shared_ptr<const program> journal::source(const content_id& program) const {
  return state_->program_of(program);
}

std::optional<candidate_id> journal::best() const {
  return state_->query([](sqlite::connection& database) -> std::optional<candidate_id> {
    // Views of the file are not run: it may be somebody else's. (And the view `best` would rank every
    // candidate before it finds the champion.)
    constexpr std::string_view latest =
        "SELECT outcome FROM evaluations WHERE candidate = ? ORDER BY sequence DESC LIMIT 1";
    auto champion = database.prepare(
        "SELECT candidate FROM events WHERE kind = 'champion_crowned' ORDER BY sequence DESC LIMIT 1");
    if (champion.step() && !champion.is_null(0)) {  // null: the champion was disqualified
      auto valid = database.prepare(latest);
      const auto id = champion.integer(0);
      valid.bind_all(id);
      if (valid.step() && valid.text(0) == "valid") return static_cast<candidate_id>(id);
    }
    auto row = database.prepare(
        "SELECT e.candidate FROM evaluations e WHERE e.outcome = 'valid' AND e.candidate IS NOT NULL"
        " AND e.sequence = (SELECT max(sequence) FROM evaluations WHERE candidate = e.candidate)"
        " ORDER BY e.score DESC, e.candidate LIMIT 1");
    return row.step() ? std::optional(static_cast<candidate_id>(row.integer(0))) : std::nullopt;
  });
}

std::uint64_t journal::last_sequence() const {
  return state_->last_sequence;
}
double journal::last_time() const {
  return state_->last_time;
}

}  // namespace kevo
