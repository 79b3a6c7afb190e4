"""Loads what `kevo export` wrote, as trainers do: load_exports.py FOLDER, with FORMAT.jsonl and FORMAT.parquet in it.

Prints what was loaded, and a line "not there: ..." for packages that this Python lacks. TRL's trainers are made, with a
tiny model of random weights, because they prepare their data sets when they are made; GRPO and verl read prompts.
"""
import importlib.util
import json
import os
import sys

import pyarrow.parquet as pq

folder = sys.argv[1]
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HOME=folder + "/cache", WANDB_MODE="disabled")
FORMATS = ["sft", "dpo", "grpo", "trajectories"]


def lacking(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        print("not there: " + ", ".join(missing))
    return bool(missing)


def lines(name):
    with open(f"{folder}/{name}.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def same(one, other):
    """Whether a row of Parquet is a row of JSON Lines: what is absent is None there, documents are texts."""
    if isinstance(one, dict) and isinstance(other, dict):
        return all(same(one[key], other.get(key)) for key in one) and all(one.get(key) is not None or value is None
                                                                           for key, value in other.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(other, str) and not isinstance(one, str):
        return one is not None and json.loads(other) == one
    return one == other or (one == "" and other is None)


for name in FORMATS:
    table = pq.read_table(f"{folder}/{name}.parquet")
    rows = lines(name)
    assert table.num_rows == len(rows) > 0, name
    for one, other in zip(rows, table.to_pylist()):
        assert same(one, other), (name, one, other)
    print(f"{name}: {len(rows)} rows, the same in both files")


def data_set(name, kind):
    from datasets import load_dataset
    end = "jsonl" if kind == "json" else kind
    return load_dataset(kind, data_files=f"{folder}/{name}.{end}", split="train", cache_dir=folder + "/cache")


if lacking("datasets"):
    sys.exit(0)
for name in FORMATS:
    for kind in ("json", "parquet"):
        loaded = data_set(name, kind)
        assert len(loaded) == len(lines(name))
        print(f"datasets: {name} as {kind}: {len(loaded)} rows")

if lacking("torch", "transformers", "trl", "accelerate"):
    sys.exit(0)


def tiny():
    """A tokenizer of characters with a chat template, and a model of random weights."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    letters = sorted({chr(i) for i in range(32, 127)} | {"\n"})
    words = {word: i for i, word in enumerate(["<pad>", "<eos>", "<unk>", *letters])}
    inner = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
    tokenizer.chat_template = ("{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\n' }}"
                               "{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}")
    size = GPT2Config(vocab_size=len(words), n_positions=512, n_embd=16, n_layer=1, n_head=2, pad_token_id=0,
                      eos_token_id=1, bos_token_id=1)
    return GPT2LMHeadModel(size), tokenizer


def with_trl(kind):
    from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer
    common = {"output_dir": folder + "/out", "report_to": [], "use_cpu": True, "max_steps": 1, "bf16": False,
              "per_device_train_batch_size": 2, "save_strategy": "no"}
    model, tokenizer = tiny()
    trainer = SFTTrainer(model, args=SFTConfig(**common), train_dataset=data_set("sft", kind),
                         processing_class=tokenizer)
    print(f"trl: sft as {kind}: loss {trainer.train().training_loss:.3f}")
    model, tokenizer = tiny()
    trainer = DPOTrainer(model, tiny()[0], args=DPOConfig(**common), train_dataset=data_set("dpo", kind),
                         processing_class=tokenizer)
    print(f"trl: dpo as {kind}: loss {trainer.train().training_loss:.3f}")
    seen = []

    def reward(prompts, completions, **columns):
        seen.append(sorted(columns))
        return [float(len(str(one)) % 5) for one in completions]

    model, tokenizer = tiny()
    arguments = GRPOConfig(**common, num_generations=2, max_completion_length=8)
    trainer = GRPOTrainer(model, reward_funcs=reward, args=arguments, train_dataset=data_set("grpo", kind),
                          processing_class=tokenizer)
    print(f"trl: grpo as {kind}: loss {trainer.train().training_loss:.3f}")
    assert seen and {"extra_info", "reward_model"} <= set(seen[0]), seen


for kind in ("json", "parquet"):
    with_trl(kind)

if lacking("verl", "omegaconf"):
    sys.exit(0)
from omegaconf import OmegaConf  # noqa: E402
from verl.utils.dataset.rl_dataset import RLHFDataset  # noqa: E402

# A token is a character here, and verl leaves out longer prompts.
reader = RLHFDataset(data_files=f"{folder}/grpo.parquet", tokenizer=tiny()[1], processor=None,
                     config=OmegaConf.create({"max_prompt_length": 100000, "cache_dir": folder + "/cache"}))
assert len(reader) == len(lines("grpo")), len(reader)
row = reader[0]
assert row["data_source"].startswith("kevo/") and row["reward_model"]["style"] == "rule", row
assert row["extra_info"]["split"] == "train" and row["index"] == 0, row
print(f"verl: grpo as parquet: {len(reader)} rows")
