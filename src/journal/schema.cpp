#include "src/journal/schema.hpp"

namespace kevo::detail {

// Every table is append-only. Large texts are stored once; columns repeat only what people query. Numbers
// that a replay reads back have no declared type: columns declared REAL turn -0.0 into 0.
// NOLINTNEXTLINE(readability-function-size): data, the statements of the schema
std::string_view journal_schema() {
  return R"sql(
CREATE TABLE header (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
  number         INTEGER PRIMARY KEY,
  opened_at      TEXT NOT NULL,
  opened_unix_s  REAL NOT NULL,
  after_sequence INTEGER NOT NULL,
  after_time_s   REAL NOT NULL,
  kevo_version   TEXT NOT NULL,
  host           TEXT NOT NULL,
  process        INTEGER NOT NULL
);

CREATE TABLE operator_names (
  number INTEGER PRIMARY KEY,
  name   TEXT NOT NULL
);

CREATE TABLE events (
  sequence  INTEGER PRIMARY KEY,
  time_s,
  kind      TEXT NOT NULL,
  job       INTEGER,
  candidate INTEGER,
  program   TEXT,
  detail    TEXT
);

CREATE TABLE programs (
  number   INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  language TEXT NOT NULL
);

CREATE TABLE program_files (
  program  INTEGER NOT NULL REFERENCES programs(number),
  position INTEGER NOT NULL,
  path     TEXT NOT NULL,
  text     TEXT NOT NULL,
  UNIQUE (program, position)
);

CREATE TABLE candidates (
  id       INTEGER PRIMARY KEY,
  program  TEXT NOT NULL,
  operator TEXT NOT NULL,
  sequence INTEGER NOT NULL REFERENCES events(sequence)
);

CREATE TABLE edges (
  child    INTEGER NOT NULL REFERENCES candidates(id),
  role     TEXT NOT NULL,
  position INTEGER NOT NULL,
  parent   INTEGER NOT NULL REFERENCES candidates(id),
  PRIMARY KEY (child, role, position)
) WITHOUT ROWID;

CREATE TABLE variations (
  sequence   INTEGER PRIMARY KEY REFERENCES events(sequence),
  asked      INTEGER REFERENCES events(sequence),
  operator   TEXT NOT NULL,
  parents    TEXT NOT NULL,
  scope      TEXT NOT NULL,
  result     TEXT NOT NULL,
  candidate  INTEGER,
  exhausted  INTEGER NOT NULL,
  summary    TEXT NOT NULL,
  wall_s,
  device_s,
  money,
  tokens_in  INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  transcript TEXT
);

CREATE TABLE evaluations (
  sequence        INTEGER PRIMARY KEY REFERENCES events(sequence),
  candidate       INTEGER,
  wanted          TEXT NOT NULL,
  outcome         TEXT NOT NULL,
  stage           TEXT NOT NULL,
  score           REAL,
  speedup         REAL,
  speedup_low     REAL,
  speedup_high    REAL,
  sol_fraction    REAL,
  cached          INTEGER NOT NULL,
  archive_status  TEXT,
  archive_value,
  wall_s          REAL,
  device_s        REAL,
  device          TEXT NOT NULL,
  backend         TEXT NOT NULL,
  protocol        TEXT NOT NULL,
  evaluation      TEXT NOT NULL
);

CREATE TABLE model_calls (
  number            INTEGER PRIMARY KEY,
  job               INTEGER,
  time_s            REAL,
  operator          TEXT,
  model             TEXT,
  group_id          TEXT,
  turn              INTEGER,
  messages          TEXT,
  response          TEXT,
  prompt_token_ids  TEXT,
  token_ids         TEXT,
  log_probabilities TEXT,
  sampling          TEXT,
  policy_version    TEXT,
  reward_terms      TEXT,
  request_key       TEXT,
  tokens_in         INTEGER,
  tokens_out        INTEGER,
  money             REAL,
  wall_s            REAL
);

CREATE TABLE ledger (
  number            INTEGER PRIMARY KEY,
  sequence          INTEGER NOT NULL,
  elapsed_s         REAL,
  proposals         INTEGER NOT NULL,
  duplicates        INTEGER NOT NULL,
  no_proposals      INTEGER NOT NULL,
  evaluations       INTEGER NOT NULL,
  confirmations     INTEGER NOT NULL,
  valid             INTEGER NOT NULL,
  variation_wall_s  REAL,
  evaluation_wall_s REAL,
  device_s          REAL,
  money             REAL,
  tokens_in         INTEGER NOT NULL,
  tokens_out        INTEGER NOT NULL
);

CREATE VIEW results AS
  SELECT c.id AS candidate, c.operator, c.program, born.time_s AS born_s, e.outcome, e.stage, e.score, e.speedup,
         e.speedup_low, e.speedup_high, e.sol_fraction, e.archive_status, e.device, e.sequence AS evaluated,
         json_extract(e.evaluation, '$.feedback') AS feedback
  FROM candidates c
  JOIN events born ON born.sequence = c.sequence
  LEFT JOIN evaluations e ON e.sequence = (SELECT max(sequence) FROM evaluations WHERE candidate = c.id);

CREATE VIEW champions AS
  SELECT sequence, time_s, candidate, nullif(json_extract(detail, '$.speedup'), 0) AS speedup,
         nullif(json_extract(detail, '$.interval[0]'), 0) AS speedup_low,
         nullif(json_extract(detail, '$.interval[1]'), 0) AS speedup_high,
         coalesce(json_extract(detail, '$.verdict'), 'confirmed') AS verdict, json_extract(detail, '$.reason') AS reason
  FROM events WHERE kind = 'champion_crowned';

CREATE VIEW best AS
  SELECT candidate, score, speedup, speedup_low, speedup_high, stage, operator, program
  FROM results WHERE outcome = 'valid'
  ORDER BY candidate = (SELECT candidate FROM champions ORDER BY sequence DESC LIMIT 1) DESC, score DESC, candidate;

CREATE VIEW lineage AS
  WITH RECURSIVE line(generation, candidate) AS (
    SELECT 0, (SELECT candidate FROM best LIMIT 1)
    UNION ALL
    SELECT generation + 1, edges.parent FROM line JOIN edges ON edges.child = line.candidate
    WHERE edges.role = 'parent' AND edges.position = 0
  )
  SELECT line.generation, r.candidate, r.operator, r.outcome, r.speedup, v.summary
  FROM line JOIN results r ON r.candidate = line.candidate
  JOIN candidates c ON c.id = r.candidate
  LEFT JOIN variations v ON v.sequence = c.sequence
  ORDER BY line.generation;

CREATE VIEW operators AS
  SELECT v.operator, count(*) AS turns, sum(v.result = 'candidate') AS candidates, sum(v.result = 'known') AS known,
         sum(v.result = 'nothing') AS fruitless, sum(coalesce(r.outcome = 'valid', 0)) AS valid,
         sum(EXISTS (SELECT 1 FROM evaluations e WHERE e.candidate = v.candidate AND v.result = 'candidate'
                     AND e.archive_status <> 'rejected')) AS archived,
         max(r.speedup) AS best_speedup, sum(v.wall_s) AS wall_s, sum(v.tokens_in) AS tokens_in,
         sum(v.tokens_out) AS tokens_out, sum(v.money) AS money
  FROM variations v LEFT JOIN results r ON r.candidate = v.candidate AND v.result = 'candidate'
  GROUP BY v.operator;

CREATE VIEW sources AS
  SELECT c.id AS candidate, p.language, f.position, f.path, f.text
  FROM candidates c JOIN programs p ON p.id = c.program JOIN program_files f ON f.program = p.number;

CREATE VIEW workloads AS
  SELECT e.sequence, e.candidate, json_extract(w.value, '$.uuid') AS uuid, json_extract(w.value, '$.hidden') AS hidden,
         json_extract(w.value, '$.outcome') AS outcome, json_extract(w.value, '$.axes') AS axes,
         json_extract(w.value, '$.time_ns') AS time_ns, json_extract(w.value, '$.baseline_ns') AS baseline_ns,
         json_extract(w.value, '$.speedup') AS speedup, json_extract(w.value, '$.sol_fraction') AS sol_fraction
  FROM evaluations e, json_each(e.evaluation, '$.workloads') w;

CREATE VIEW samples AS
  SELECT e.sequence, e.candidate, json_extract(w.value, '$.uuid') AS uuid, p.key AS number,
         json_extract(p.value, '$[0]') AS candidate_ns, json_extract(p.value, '$[1]') AS baseline_ns
  FROM evaluations e, json_each(e.evaluation, '$.workloads') w, json_each(w.value, '$.pairs') p;

CREATE VIEW spendings AS
  SELECT v.sequence, 'variation' AS step, v.operator AS what, v.wall_s, v.device_s, v.money, v.tokens_in, v.tokens_out
  FROM variations v
  UNION ALL
  SELECT e.sequence, CASE WHEN e.candidate IS NULL THEN 'draft' ELSE 'evaluation' END, e.backend, e.wall_s, e.device_s,
         0, 0, 0
  FROM evaluations e;
)sql";
}

// The partial indexes hold only what their queries look for, so that other rows cost nothing.
std::string_view journal_indexes() {
  return R"sql(
CREATE INDEX IF NOT EXISTS edges_by_parent ON edges(parent, child);
CREATE INDEX IF NOT EXISTS evaluations_by_candidate ON evaluations(candidate, sequence);
CREATE INDEX IF NOT EXISTS valid_evaluations_by_score ON evaluations(score DESC, candidate)
  WHERE outcome = 'valid' AND candidate IS NOT NULL;
CREATE INDEX IF NOT EXISTS asked_variations_by_job ON events(job) WHERE kind = 'variation_asked';
CREATE INDEX IF NOT EXISTS champions_by_sequence ON events(sequence) WHERE kind = 'champion_crowned';
CREATE INDEX IF NOT EXISTS model_calls_by_job ON model_calls(job, request_key, money);
)sql";
}

}  // namespace kevo::detail
