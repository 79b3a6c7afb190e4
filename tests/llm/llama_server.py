"""Runs llama.cpp's HTTP server from the package xllamacpp, with those options of llama-server that the test uses.

Usage: llama_server.py -m MODEL.gguf --port PORT [-c CONTEXT] [--grammar-file FILE]
"""
import argparse
import signal

import xllamacpp

options = argparse.ArgumentParser()
options.add_argument("-m", required=True)
options.add_argument("--port", type=int, required=True)
options.add_argument("-c", type=int, default=65536)
options.add_argument("--grammar-file")
given = options.parse_args()

params = xllamacpp.CommonParams()
params.model.path = given.m
params.hostnames = ["127.0.0.1"]
params.port = given.port
params.n_ctx = given.c
params.n_parallel = 1
params.warmup = False
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
if given.grammar_file:
    with open(given.grammar_file, encoding="utf-8") as file:
        params.sampling.grammar = xllamacpp.CommonGrammar(
            xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER, file.read())
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.pause()
