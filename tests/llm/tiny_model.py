"""Writes a tiny language model with random weights, for tests of a real llama.cpp server.

    python3 tiny_model.py MODEL.gguf

Needs `pip install gguf numpy`. The model is of the llama architecture and knows nothing: a test prescribes its
replies by a grammar. Every byte of a text is one token, so that token counts can be checked by hand.
"""

import sys

import gguf
import numpy as np

SEED = 20240229
LAYERS = 2
WIDTH = 64
HEADS = 2
HIDDEN = 128
CONTEXT = 131072  # a byte is a token, so that prompts have three to four times as many tokens as usual

SPECIAL = ["<|end|>", "<|begin|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"]
# As models with tools have it. Its number is len(SPECIAL); a test makes the model call a tool by a bias for it.
TOOL_CALL = "<tool_call>"
END, BEGIN = 0, 1
# llama.cpp reads from the template how the model writes the call of a tool.
TEMPLATE = """{{- '<|begin|>' -}}
{%- if tools -%}
{{- '<|system|>Tools:\n' -}}
{%- for tool in tools -%}{{- tool | tojson -}}{{- '\n' -}}{%- endfor -%}
{{- '<|end|>' -}}
{%- endif -%}
{%- for m in messages -%}
{{- '<|' + m.role + '|>' + (m.content or '') -}}
{%- for call in m.tool_calls or [] -%}
{{- '<tool_call>{"name": ' + (call.function.name | tojson) + ', "arguments": ' -}}
{{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson -}}
{{- '}</tool_call>' -}}
{%- endfor -%}
{{- '<|end|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}"""


def byte_names():
    """What the tokenizer of GPT-2, which llama.cpp has built in, calls each byte: visible characters of Latin-1
    keep their names, and the others are called by the code points from 256 on."""
    visible = set(range(0x21, 0x7F)) | set(range(0xA1, 0x100)) - {0xAD}
    names, unused = [], 256
    for byte in range(256):
        names.append(chr(byte if byte in visible else unused))
        unused += byte not in visible
    return names


def write(path):
    out = gguf.GGUFWriter(path, "llama")
    out.add_name("tiny")
    out.add_context_length(CONTEXT)
    out.add_embedding_length(WIDTH)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(HIDDEN)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_layer_norm_rms_eps(1e-5)

    names = byte_names()
    # llama.cpp does not load a vocabulary without a merge. This one never applies: no text has two bytes 0xFF.
    pair = names[0xFF] * 2
    tokens = SPECIAL + [TOOL_CALL] + names + [pair]
    out.add_vocab_size(len(tokens))
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list(tokens)
    kinds = gguf.TokenType
    out.add_token_types([kinds.CONTROL] * len(SPECIAL) + [kinds.USER_DEFINED] + [kinds.NORMAL] * (len(names) + 1))
    out.add_token_merges([f"{pair[0]} {pair[1]}"])
    out.add_bos_token_id(BEGIN)
    out.add_eos_token_id(END)
    out.add_add_bos_token(False)  # the template writes it
    out.add_chat_template(TEMPLATE)

    random = np.random.default_rng(SEED)

    def weights(name, rows, columns):
        values = random.standard_normal((rows, columns)) / np.sqrt(columns)
        out.add_tensor(name, values.astype(np.float32))

    def norm(name):
        out.add_tensor(name, np.ones(WIDTH, dtype=np.float32))

    weights("token_embd.weight", len(tokens), WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        norm(block + "attn_norm.weight")
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"{block}{name}.weight", WIDTH, WIDTH)
        norm(block + "ffn_norm.weight")
        weights(block + "ffn_gate.weight", HIDDEN, WIDTH)
        weights(block + "ffn_up.weight", HIDDEN, WIDTH)
        weights(block + "ffn_down.weight", WIDTH, HIDDEN)
    norm("output_norm.weight")
    weights("output.weight", len(tokens), WIDTH)

    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tiny_model.py MODEL.gguf")
    write(sys.argv[1])
