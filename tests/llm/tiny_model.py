"""Writes a language model of random weights, 250 kB, for tests against a real llama.cpp server.

Usage: tiny_model.py FILE.gguf        needs the packages gguf and numpy

What it says means nothing unless a grammar leaves it no choice. Its tokens are the 256 bytes and three special ones.
"""
import sys

import gguf
import numpy

width, heads, inner, context = 64, 2, 64, 131072
random = numpy.random.default_rng(1)


def weights(*shape):
    return (random.standard_normal(shape) * 0.05).astype(numpy.float32)


writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_name("tiny")
writer.add_context_length(context)
writer.add_embedding_length(width)
writer.add_block_count(1)
writer.add_feed_forward_length(inner)
writer.add_head_count(heads)
writer.add_head_count_kv(heads)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(width // heads)
writer.add_file_type(gguf.LlamaFileType.ALL_F32)

tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256
writer.add_vocab_size(len(tokens))
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores([0.0] * len(tokens))
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_add_space_prefix(False)
writer.add_chat_template(
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}assistant: ")

writer.add_tensor("token_embd.weight", weights(len(tokens), width))
writer.add_tensor("output.weight", weights(len(tokens), width))
writer.add_tensor("output_norm.weight", numpy.ones(width, dtype=numpy.float32))
for name in ("attn_norm", "ffn_norm"):
    writer.add_tensor(f"blk.0.{name}.weight", numpy.ones(width, dtype=numpy.float32))
for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
    writer.add_tensor(f"blk.0.{name}.weight", weights(width, width))
for name in ("ffn_gate", "ffn_up"):
    writer.add_tensor(f"blk.0.{name}.weight", weights(inner, width))
writer.add_tensor("blk.0.ffn_down.weight", weights(width, inner))

writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
