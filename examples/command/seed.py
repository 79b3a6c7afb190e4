import sys
import zlib

LEVEL = 1  # kevo: {1..9 step 1}
MEMORY = 1  # kevo: {1..9 step 1}
STRATEGY = 2  # kevo: {0..3 step 1}
WINDOW = 9  # kevo: {9..15 step 1}

packer = zlib.compressobj(LEVEL, zlib.DEFLATED, WINDOW, MEMORY, STRATEGY)
data = sys.stdin.buffer.read()
sys.stdout.buffer.write(packer.compress(data) + packer.flush())
