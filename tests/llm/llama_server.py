#!/usr/bin/env python3
"""Runs the server of llama.cpp that is in the Python package xllamacpp, where no `llama-server` is installed.

    llama_server.py -m MODEL.gguf [--host ADDRESS] [--port N] [-c TOKENS] [-np CALLS] [-t THREADS]
        [--embedding --pooling mean]

Needs `pip install xllamacpp`. The options are those of `llama-server` that the test uses.
"""

import argparse
import threading

import xllamacpp

parser = argparse.ArgumentParser(prog="llama_server.py")
parser.add_argument("-m", dest="model", required=True)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=8080)
parser.add_argument("-c", dest="context", type=int, default=0)
parser.add_argument("-np", dest="calls", type=int, default=1)
parser.add_argument("-t", dest="threads", type=int, default=-1)
parser.add_argument("--embedding", action="store_true")
parser.add_argument("--pooling", choices=["mean"])
options = parser.parse_args()

settings = xllamacpp.CommonParams()
settings.model.path = options.model
settings.hostnames = [options.host]
settings.port = options.port
settings.n_ctx = options.context
settings.n_parallel = options.calls
settings.cpuparams.n_threads = options.threads
settings.cpuparams_batch.n_threads = options.threads
settings.embedding = options.embedding
if options.pooling:
    settings.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN

server = xllamacpp.Server(settings)
print("listening at", server.listening_address, flush=True)
threading.Event().wait()  # the server has threads of its own
