"""Judges one candidate: `score.py candidate.py` prints one JSON object.

The candidate runs in a separate process, so that it cannot print a score of its own.
"""
import json
import subprocess
import sys
import zlib

text = "".join(f"{n} times {n % 7} is {n * (n % 7)}, and {n * n} its square.\n" for n in range(3000)).encode()

ended = subprocess.run([sys.executable, sys.argv[1]], input=text, capture_output=True, timeout=10)
packed = ended.stdout
try:
    right = ended.returncode == 0 and zlib.decompress(packed) == text
except zlib.error:
    right = False

if right:
    # Further numbers are measures, by which an archive can sort candidates; here the window size in zlib's header.
    print(json.dumps({"score": len(text) / len(packed), "bytes": len(packed), "window": (packed[0] >> 4) + 8}))
else:
    print(json.dumps({"valid": False, "feedback": "unpacked, it is another text\n" + ended.stderr.decode()[-2000:]}))
