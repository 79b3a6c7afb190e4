BLOCK = 64  # kevo: {32, 64}
WARPS: tl.constexpr = 4  ## kevo: {1, 2, 4, 8}
MODE = "fast # path" # kevo: {"fast # path", 'slow'}
# EVOLVE-BLOCK-START
x = 1
# EVOLVE-BLOCK-END
# kevo: begin r
# kevo: end r
