"""JSON Lines to Parquet, for `kevo export`: python3 - LINES PARQUET [PACKAGES].

Columns that kevo writes have the same types in every file, also where a file holds nothing in them, so that files of
several runs can be read as one data set. Documents whose shape depends on a server (log-probabilities, sampling) are
texts of JSON. Two passes over the lines, a thousand rows in memory at a time.
"""
import json
import sys

lines, output = sys.argv[1:3]
sys.path[:0] = sys.argv[3:]

import pyarrow as pa  # noqa: E402: the folder of packages is known only now
import pyarrow.parquet as pq  # noqa: E402

TEXT, INTEGER, REAL, TRUTH = pa.string(), pa.int64(), pa.float64(), pa.bool_()
TOKENS = pa.list_(INTEGER)
RESULT = pa.struct([("outcome", TEXT), ("stage", TEXT), ("score", REAL), ("speedup", REAL),
                    ("speedup_interval", pa.list_(REAL)), ("feedback", TEXT)])
TERMS = pa.struct([("built", TRUTH), ("ran", TRUTH), ("correct", TRUTH), ("cheated", TRUTH), ("speedup", REAL),
                   ("parent_speedup", REAL), ("own_kernel_share", REAL),
                   ("broken_rules", pa.list_(pa.struct([("rule", TEXT), ("reason", TEXT)])))])
PLAIN_MESSAGE = [("role", TEXT), ("content", TEXT)]
CALL = pa.struct([("id", TEXT), ("type", TEXT), ("function", pa.struct([("name", TEXT), ("arguments", TEXT)]))])
TOOL_MESSAGE = PLAIN_MESSAGE + [("tool_calls", pa.list_(CALL)), ("tool_call_id", TEXT)]


def types(tools):
    """The types of the columns that kevo writes. tools: whether a message calls a tool."""
    talk = pa.list_(pa.struct(TOOL_MESSAGE if tools else PLAIN_MESSAGE))
    turn = pa.struct([("turn", INTEGER), ("model", TEXT), ("messages", talk), ("reply", TEXT),
                      ("prompt_token_ids", TOKENS), ("token_ids", TOKENS), ("log_probabilities", TEXT),
                      ("sampling", TEXT), ("policy_version", TEXT), ("tokens_in", INTEGER), ("tokens_out", INTEGER)])
    known = dict.fromkeys(["messages", "prompt", "completion", "chosen", "rejected"], talk)
    known.update(dict.fromkeys(["result", "chosen_result", "rejected_result"], RESULT))
    known.update(dict.fromkeys(["step", "candidate", "turn", "group_size"], INTEGER))
    known.update(dict.fromkeys(["reward", "advantage_grpo", "advantage_trloo"], REAL))
    known.update(parents=pa.list_(INTEGER), reward_terms=TERMS, token_ids=TOKENS, log_probabilities=TEXT,
                 turns=pa.list_(turn))
    return known


def as_text(value):
    return None if value is None or value == "" else json.dumps(value)


def rows():
    """The lines as rows, with documents of unknown shape as texts."""
    with open(lines, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            for part in [row, *row.get("turns", [])]:
                for key in ("log_probabilities", "sampling"):
                    if key in part:
                        part[key] = as_text(part[key])
            yield row


def batches():
    batch = []
    for row in rows():
        batch.append(row)
        if len(batch) == 1000:
            yield batch
            batch = []
    if batch:
        yield batch


def calls_tools(row):
    talks = [row.get(key) or [] for key in ("messages", "prompt")] + [t["messages"] for t in row.get("turns", [])]
    return any("tool_calls" in message or "tool_call_id" in message for talk in talks for message in talk)


names, inferred, tools, count = {}, {}, False, 0
for batch in batches():
    for row in batch:
        count += 1
        names.update(dict.fromkeys(row))
        tools = tools or calls_tools(row)
known = types(tools)
for batch in batches():
    for name in names:
        if name not in known:
            found = pa.schema([(name, pa.array([row.get(name) for row in batch]).type)])
            inferred[name] = pa.unify_schemas([inferred.get(name, found), found], promote_options="permissive")
fields = [(name, known[name] if name in known else inferred[name].field(0).type) for name in names]
schema = pa.schema(fields if count else list(known.items()))
with pq.ParquetWriter(output, schema, compression="zstd") as writer:
    for batch in batches():
        writer.write_table(pa.Table.from_pylist(batch, schema))
