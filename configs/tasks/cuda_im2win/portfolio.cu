// y = conv2d(x, w) without padding by a *portfolio*: a few kernels, and for each shape the one that is best for it. The
// launch lines are the rule that chooses. What they choose from:
//   im2win, in three settings: A (first filters that are large, output channels a multiple of 96), B (few channels) and D
//     (the rest): a product of the filters with windows that are read in place, see tunable.cu;
//   Winograd's minimal filtering where channels are enough to pay for the transforms (Lavin and Gray, arXiv 1509.09308):
//     F(4 x 4, 3 x 3) and F(4 x 4, 5 x 5) at stride 1, see configs/tasks/cuda_conv2d/winograd.cu. W_PARTS (W_MANY for 5 x 5
//     filters and many pixels) divides the images, so that the memory for transformed tiles is used again by the next part;
//     F(5 x 5, 3 x 3) for images of few pixels, which needs fewer products there, and F(5 x 5, 4 x 4) for 7 x 7 filters at
//     stride 2, as a sum of four convolutions at stride 1. Both in parts of S_TILES or S_MANY tiles and of S_CHANNELS
//     channels, so that no layer needs more memory than its written-out windows;
//   few: 3 x 3 filters of 3 channels: a thread holds whole windows in registers and walks over the output channels.
#define A_BM 96   // kevo: {32, 64, 96, 128, 256}
#define A_BN 64   // kevo: {32, 64, 128, 256}
#define A_BK 8   // kevo: {4, 8, 12, 14, 16, 28, 32}
#define A_TM 12   // kevo: {1, 2, 4, 8, 12, 16}
#define A_TN 8   // kevo: {1, 2, 4, 8, 16}
#define A_LANES_M 8   // kevo: {2, 4, 8}
#define A_STAGES 2   // kevo: {1, 2, 3, 4, 5}
#define A_MIN_BLOCKS 4   // kevo: {1, 2, 3, 4}
#define A_LOAD_AT 3   // kevo: {0, 1, 3, 5, 7}
#define A_CHANNELS 0   // kevo: {0, 1}
#define A_STORE 1   // kevo: {0, 1}
#define A_SPLIT 1   // kevo: {1, 2, 3, 4, 6, 8}
#define A_RASTER 4   // kevo: {1, 2, 4}
#define B_BM 64   // kevo: {32, 64, 96, 128, 256}
#define B_BN 128   // kevo: {32, 64, 128, 256}
#define B_BK 8   // kevo: {4, 8, 12, 14, 16, 28, 32}
#define B_TM 8   // kevo: {1, 2, 4, 8, 12, 16}
#define B_TN 8   // kevo: {1, 2, 4, 8, 16}
#define B_LANES_M 4   // kevo: {2, 4, 8}
#define B_STAGES 5   // kevo: {1, 2, 3, 4, 5}
#define B_MIN_BLOCKS 3   // kevo: {1, 2, 3, 4}
#define B_LOAD_AT 3   // kevo: {0, 1, 3, 5, 7}
#define B_CHANNELS 0   // kevo: {0, 1}
#define B_STORE 1   // kevo: {0, 1}
#define B_SPLIT 1   // kevo: {1, 2, 3, 4, 6, 8}
#define B_RASTER 2   // kevo: {1, 2, 4}
#define D_BM 64   // kevo: {32, 64, 96, 128, 256}
#define D_BN 256   // kevo: {32, 64, 128, 256}
#define D_BK 8   // kevo: {4, 8, 12, 14, 16, 28, 32}
#define D_TM 16   // kevo: {1, 2, 4, 8, 12, 16}
#define D_TN 8   // kevo: {1, 2, 4, 8, 16}
#define D_LANES_M 4   // kevo: {2, 4, 8}
#define D_STAGES 4   // kevo: {1, 2, 3, 4, 5}
#define D_MIN_BLOCKS 2   // kevo: {1, 2, 3, 4}
#define D_LOAD_AT 1   // kevo: {0, 1, 3, 5, 7}
#define D_CHANNELS 1   // kevo: {0, 1}
#define D_STORE 0   // kevo: {0, 1}
#define D_SPLIT 2   // kevo: {1, 2, 3, 4, 6, 8}
#define D_RASTER 1   // kevo: {1, 2, 4}
#define WM 64   // kevo: {32, 64, 128}
#define WN 128   // kevo: {64, 128, 256}
#define WK 16   // kevo: {4, 8, 16}
#define W_TM 8   // kevo: {4, 8, 16}
#define W_TN 8   // kevo: {4, 8}
#define W_LANES_M 2   // kevo: {2, 4, 8}
#define W_STAGES 2   // kevo: {2, 3, 4, 5}
#define W_BLOCKS 3   // kevo: {1, 2, 3, 4}
#define W_LOAD_AT 0   // kevo: {0, 1, 3}
#define W_IN 128   // kevo: {64, 128, 256}
#define W_OUT 128   // kevo: {64, 128, 256}
#define W_PARTS 2   // kevo: {1, 2, 3}
#define W_MANY 3   // kevo: {1, 2, 3}
#define S_BM 64   // kevo: {32, 64, 128}
#define S_BN 128   // kevo: {64, 128, 256}
#define S_BK 8   // kevo: {4, 8, 16}
#define S_TM 8   // kevo: {4, 8, 16}
#define S_TN 8   // kevo: {4, 8}
#define S_LANES_M 2   // kevo: {2, 4, 8}
#define S_STAGES 3   // kevo: {2, 3, 4, 5}
#define S_BLOCKS 4   // kevo: {1, 2, 3, 4}
#define S_LOAD_AT 0   // kevo: {0, 1, 3}
#define S_CHANNELS 112   // kevo: {64, 80, 96, 112}
#define S_TILES 128   // kevo: {32, 64, 128}
#define S_MANY 2048   // kevo: {512, 1024, 2048, 4096, 8192}
#define F_PIXELS 3   // kevo: {1, 2, 3, 4}
#define F_THREADS 128   // kevo: {64, 128, 256}
// kevo: require A_BM % (A_LANES_M * A_TM) == 0 && A_BN % (32 / A_LANES_M * A_TN) == 0
// kevo: require A_BM * A_BN / (A_TM * A_TN) >= 64 && A_BM * A_BN / (A_TM * A_TN) <= 1024
// kevo: require A_BN % (A_BM * A_BN / (A_TM * A_TN)) == 0 || A_BM * A_BN / (A_TM * A_TN) > A_BN
// kevo: require A_TM * A_TN <= 128 && A_BM * A_BN / (A_TM * A_TN) * A_MIN_BLOCKS * (A_TM * A_TN + 24) <= 65536
// kevo: require 4 * A_STAGES * A_BK * (A_BM + A_BN) * A_MIN_BLOCKS <= 200 * 1024 && 4 * A_BM * A_BN / A_TM * A_MIN_BLOCKS <= 200 * 1024
// kevo: require B_BM % (B_LANES_M * B_TM) == 0 && B_BN % (32 / B_LANES_M * B_TN) == 0
// kevo: require B_BM * B_BN / (B_TM * B_TN) >= 64 && B_BM * B_BN / (B_TM * B_TN) <= 1024
// kevo: require B_BN % (B_BM * B_BN / (B_TM * B_TN)) == 0 || B_BM * B_BN / (B_TM * B_TN) > B_BN
// kevo: require B_TM * B_TN <= 128 && B_BM * B_BN / (B_TM * B_TN) * B_MIN_BLOCKS * (B_TM * B_TN + 24) <= 65536
// kevo: require 4 * B_STAGES * B_BK * (B_BM + B_BN) * B_MIN_BLOCKS <= 200 * 1024 && 4 * B_BM * B_BN / B_TM * B_MIN_BLOCKS <= 200 * 1024
// kevo: require D_BM % (D_LANES_M * D_TM) == 0 && D_BN % (32 / D_LANES_M * D_TN) == 0
// kevo: require D_BM * D_BN / (D_TM * D_TN) >= 64 && D_BM * D_BN / (D_TM * D_TN) <= 1024
// kevo: require D_BN % (D_BM * D_BN / (D_TM * D_TN)) == 0 || D_BM * D_BN / (D_TM * D_TN) > D_BN
// kevo: require D_TM * D_TN <= 128 && D_BM * D_BN / (D_TM * D_TN) * D_MIN_BLOCKS * (D_TM * D_TN + 24) <= 65536
// kevo: require 4 * D_STAGES * D_BK * (D_BM + D_BN) * D_MIN_BLOCKS <= 200 * 1024 && 4 * D_BM * D_BN / D_TM * D_MIN_BLOCKS <= 200 * 1024
// kevo: require WM % (W_LANES_M * W_TM) == 0 && WN % (32 / W_LANES_M * W_TN) == 0
// kevo: require WM * WN / (W_TM * W_TN) >= 64 && WM * WN / (W_TM * W_TN) <= 1024 && WM * WN / (W_TM * W_TN) * W_BLOCKS * (W_TM * W_TN + 24) <= 65536
// kevo: require 4 * W_STAGES * WK * (WM + WN) * W_BLOCKS <= 200 * 1024
// kevo: require S_BM % (S_LANES_M * S_TM) == 0 && S_BN % (32 / S_LANES_M * S_TN) == 0
// kevo: require S_BM * S_BN / (S_TM * S_TN) >= 64 && S_BM * S_BN / (S_TM * S_TN) <= 1024 && S_BM * S_BN / (S_TM * S_TN) * S_BLOCKS * (S_TM * S_TN + 24) <= 65536
// kevo: require 4 * S_STAGES * S_BK * (S_BM + S_BN) * S_BLOCKS <= 200 * 1024
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3): workspace filters float32 [C * R * S * align_up(K, 4)]
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3): workspace offsets int32 [C * R * S + 64]
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3) && (R * S > 9 && K % 96 == 0): launch prepare<<<ceildiv(C * R * S * align_up(K, 4) + 64, 256), 256>>>(w, filters, offsets, C, R, S, K, H * W, W, A_CHANNELS)
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3) && (R * S > 9 && K % 96 == 0) && A_SPLIT > 1: memset y 0
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3) && (R * S > 9 && K % 96 == 0): launch im2win[A_BM, A_BN, A_BK, A_TM, A_TN, A_LANES_M, A_STAGES, A_MIN_BLOCKS, A_LOAD_AT, A_CHANNELS, A_STORE, A_SPLIT, A_RASTER]<<<(ceildiv(K, A_BM) * ceildiv(N * P * Q, A_BN), A_SPLIT), A_BM * A_BN / (A_TM * A_TN), smem(4 * max(A_STAGES * A_BK * (A_BM + A_BN), A_BM * A_BN / A_TM))>>>(x, filters, offsets, y, N, C, R * S, K, P, Q, C * H * W, H * W, stride * W, stride)
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3) && (!(R * S > 9 && K % 96 == 0) && C < 16): launch prepare<<<ceildiv(C * R * S * align_up(K, 4) + 64, 256), 256>>>(w, filters, offsets, C, R, S, K, H * W, W, B_CHANNELS)
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3) && (!(R * S > 9 && K % 96 == 0) && C < 16) && B_SPLIT > 1: memset y 0
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3) && (!(R * S > 9 && K % 96 == 0) && C < 16): launch im2win[B_BM, B_BN, B_BK, B_TM, B_TN, B_LANES_M, B_STAGES, B_MIN_BLOCKS, B_LOAD_AT, B_CHANNELS, B_STORE, B_SPLIT, B_RASTER]<<<(ceildiv(K, B_BM) * ceildiv(N * P * Q, B_BN), B_SPLIT), B_BM * B_BN / (B_TM * B_TN), smem(4 * max(B_STAGES * B_BK * (B_BM + B_BN), B_BM * B_BN / B_TM))>>>(x, filters, offsets, y, N, C, R * S, K, P, Q, C * H * W, H * W, stride * W, stride)
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3) && (!(R * S > 9 && K % 96 == 0) && C >= 16): launch prepare<<<ceildiv(C * R * S * align_up(K, 4) + 64, 256), 256>>>(w, filters, offsets, C, R, S, K, H * W, W, D_CHANNELS)
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3) && (!(R * S > 9 && K % 96 == 0) && C >= 16) && D_SPLIT > 1: memset y 0
// kevo: when !(R == S && (stride == 1 && (R == 3 && C >= 16 || R == 5 && C >= 32) || stride == 2 && R == 7 && C >= 16)) && !(C == 3 && R == 3 && S == 3) && (!(R * S > 9 && K % 96 == 0) && C >= 16): launch im2win[D_BM, D_BN, D_BK, D_TM, D_TN, D_LANES_M, D_STAGES, D_MIN_BLOCKS, D_LOAD_AT, D_CHANNELS, D_STORE, D_SPLIT, D_RASTER]<<<(ceildiv(K, D_BM) * ceildiv(N * P * Q, D_BN), D_SPLIT), D_BM * D_BN / (D_TM * D_TN), smem(4 * max(D_STAGES * D_BK * (D_BM + D_BN), D_BM * D_BN / D_TM))>>>(x, filters, offsets, y, N, C, R * S, K, P, Q, C * H * W, H * W, stride * W, stride)
// kevo: when C == 3 && R == 3 && S == 3: launch few[F_PIXELS, F_THREADS]<<<ceildiv(N * P * Q, F_THREADS * F_PIXELS), F_THREADS, smem(4 * 28 * K)>>>(x, w, y, N, H, W, K, P, Q, stride)
// kevo: when R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): workspace points float32 [(R + 3) * (R + 3) * C * align_up(K, 4)]
// kevo: when R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): workspace tiles float32 [(R + 3) * (R + 3) * C * align_up(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * ceildiv(P, 4) * ceildiv(Q, 4), 4)]
// kevo: when R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): workspace products float32 [(R + 3) * (R + 3) * K * align_up(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * ceildiv(P, 4) * ceildiv(Q, 4), 4)]
// kevo: when R == 3 && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_filters[3]<<<(ceildiv(align_up(K, 4), 128), C), 128>>>(w, points, C, K)
// kevo: when R == 5 && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_filters[5]<<<(ceildiv(align_up(K, 4), 128), C), 128>>>(w, points, C, K)
// kevo: when R == 3 && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_inputs[3]<<<(ceildiv(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * ceildiv(P, 4) * ceildiv(Q, 4), W_IN), C), W_IN>>>(x, tiles, ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), C, H, W, P, Q)
// kevo: when R == 5 && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_inputs[5]<<<(ceildiv(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * ceildiv(P, 4) * ceildiv(Q, 4), W_IN), C), W_IN>>>(x, tiles, ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), C, H, W, P, Q)
// kevo: when R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch multiply_points<<<(ceildiv(K, WM) * ceildiv(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * ceildiv(P, 4) * ceildiv(Q, 4), WN), (R + 3) * (R + 3)), WM * WN / (W_TM * W_TN), smem(4 * W_STAGES * WK * (WM + WN))>>>(points, tiles, products, C, K, ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * ceildiv(P, 4) * ceildiv(Q, 4))
// kevo: when R == 3 && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_outputs[3]<<<(ceildiv(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * ceildiv(P, 4) * ceildiv(Q, 4), W_OUT), K), W_OUT>>>(products, y, ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), K, P, Q)
// kevo: when R == 5 && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_outputs[5]<<<(ceildiv(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * ceildiv(P, 4) * ceildiv(Q, 4), W_OUT), K), W_OUT>>>(products, y, ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), K, P, Q)
// kevo: when R == 3 && ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_inputs[3]<<<(ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), W_IN), C), W_IN>>>(x + ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * C * H * W, tiles, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))), C, H, W, P, Q)
// kevo: when R == 5 && ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_inputs[5]<<<(ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), W_IN), C), W_IN>>>(x + ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * C * H * W, tiles, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))), C, H, W, P, Q)
// kevo: when ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch multiply_points<<<(ceildiv(K, WM) * ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), WN), (R + 3) * (R + 3)), WM * WN / (W_TM * W_TN), smem(4 * W_STAGES * WK * (WM + WN))>>>(points, tiles, products, C, K, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4))
// kevo: when R == 3 && ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_outputs[3]<<<(ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), W_OUT), K), W_OUT>>>(products, y + ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * K * P * Q, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))), K, P, Q)
// kevo: when R == 5 && ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_outputs[5]<<<(ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), W_OUT), K), W_OUT>>>(products, y + ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * K * P * Q, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))), K, P, Q)
// kevo: when R == 3 && 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_inputs[3]<<<(ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), W_IN), C), W_IN>>>(x + 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * C * H * W, tiles, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))), C, H, W, P, Q)
// kevo: when R == 5 && 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_inputs[5]<<<(ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), W_IN), C), W_IN>>>(x + 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * C * H * W, tiles, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))), C, H, W, P, Q)
// kevo: when 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch multiply_points<<<(ceildiv(K, WM) * ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), WN), (R + 3) * (R + 3)), WM * WN / (W_TM * W_TN), smem(4 * W_STAGES * WK * (WM + WN))>>>(points, tiles, products, C, K, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4))
// kevo: when R == 3 && 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_outputs[3]<<<(ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), W_OUT), K), W_OUT>>>(products, y + 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * K * P * Q, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))), K, P, Q)
// kevo: when R == 5 && 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) < N && R == S && stride == 1 && (R == 3 && C >= 16 && P * Q > 100 || R == 5 && C >= 32): launch transform_outputs[5]<<<(ceildiv(min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))) * ceildiv(P, 4) * ceildiv(Q, 4), W_OUT), K), W_OUT>>>(products, y + 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)) * K * P * Q, min(ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS)), N - 2 * ceildiv(N, (R == 5 || P * Q > 10000 ? W_MANY : W_PARTS))), K, P, Q)
// kevo: when R == S && stride == 1 && R == 3 && C >= 16 && P * Q <= 100: workspace points float32 [49 * (C > 256 ? S_CHANNELS : C) * align_up(K, 4)]
// kevo: when R == S && stride == 1 && R == 3 && C >= 16 && P * Q <= 100: workspace tiles float32 [49 * (C > 256 ? S_CHANNELS : C) * align_up(min(N, max(1, S_TILES / (ceildiv(P, 5) * ceildiv(Q, 5)))) * ceildiv(P, 5) * ceildiv(Q, 5), 4)]
// kevo: when R == S && stride == 1 && R == 3 && C >= 16 && P * Q <= 100: workspace products float32 [49 * K * align_up(min(N, max(1, S_TILES / (ceildiv(P, 5) * ceildiv(Q, 5)))) * ceildiv(P, 5) * ceildiv(Q, 5), 4)]
// kevo: when R == S && stride == 1 && R == 3 && C >= 16 && P * Q <= 100: for step in 0..2 * ceildiv(N, min(N, max(1, S_TILES / (ceildiv(P, 5) * ceildiv(Q, 5))))) * ceildiv(C, (C > 256 ? S_CHANNELS : C)) + 1: launch winograd_step[5, 3, 1]<<<step % 2 == 0 ? ceildiv((C > 256 ? S_CHANNELS : C) * align_up(K, 4), S_BM * S_BN / (S_TM * S_TN)) + ceildiv(min(N, max(1, S_TILES / (ceildiv(P, 5) * ceildiv(Q, 5)))) * ceildiv(P, 5) * ceildiv(Q, 5), S_BM * S_BN / (S_TM * S_TN)) * ((C > 256 ? S_CHANNELS : C) + K) : ceildiv(K, S_BM) * ceildiv(min(N, max(1, S_TILES / (ceildiv(P, 5) * ceildiv(Q, 5)))) * ceildiv(P, 5) * ceildiv(Q, 5), S_BN) * 49, S_BM * S_BN / (S_TM * S_TN), step % 2 == 0 ? 0 : 4 * S_STAGES * S_BK * (S_BM + S_BN)>>>(x, w, y, points, tiles, products, N, C, H, W, K, P, Q, R, min(N, max(1, S_TILES / (ceildiv(P, 5) * ceildiv(Q, 5)))), (C > 256 ? S_CHANNELS : C), step)
// kevo: when R == S && stride == 2 && R == 7 && C >= 16: workspace points float32 [64 * 4 * C * align_up(K, 4)]
// kevo: when R == S && stride == 2 && R == 7 && C >= 16: workspace tiles float32 [64 * 4 * C * align_up(min(N, max(1, S_MANY / (ceildiv(P, 5) * ceildiv(Q, 5)))) * ceildiv(P, 5) * ceildiv(Q, 5), 4)]
// kevo: when R == S && stride == 2 && R == 7 && C >= 16: workspace products float32 [64 * K * align_up(min(N, max(1, S_MANY / (ceildiv(P, 5) * ceildiv(Q, 5)))) * ceildiv(P, 5) * ceildiv(Q, 5), 4)]
// kevo: when R == S && stride == 2 && R == 7 && C >= 16: for step in 0..2 * ceildiv(N, min(N, max(1, S_MANY / (ceildiv(P, 5) * ceildiv(Q, 5))))) * ceildiv(4 * C, 4 * C) + 1: launch winograd_step[5, 4, 2]<<<step % 2 == 0 ? ceildiv(4 * C * align_up(K, 4), S_BM * S_BN / (S_TM * S_TN)) + ceildiv(min(N, max(1, S_MANY / (ceildiv(P, 5) * ceildiv(Q, 5)))) * ceildiv(P, 5) * ceildiv(Q, 5), S_BM * S_BN / (S_TM * S_TN)) * (4 * C + K) : ceildiv(K, S_BM) * ceildiv(min(N, max(1, S_MANY / (ceildiv(P, 5) * ceildiv(Q, 5)))) * ceildiv(P, 5) * ceildiv(Q, 5), S_BN) * 64, S_BM * S_BN / (S_TM * S_TN), step % 2 == 0 ? 0 : 4 * S_STAGES * S_BK * (S_BM + S_BN)>>>(x, w, y, points, tiles, products, N, C, H, W, K, P, Q, R, min(N, max(1, S_MANY / (ceildiv(P, 5) * ceildiv(Q, 5)))), 4 * C, step)

template <int bytes>
__device__ __forceinline__ void copy_async(float* shared, const float* global, bool inside) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int size = inside ? bytes : 0;  // the rest is filled with zeros
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(size));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(address), "l"(global), "r"(size), "n"(bytes));
  }
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;"); }
template <int pending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending));
}

template <int width>
__device__ __forceinline__ void load_vector(float* registers, const float* from) {
  if constexpr (width == 4) {
    *reinterpret_cast<float4*>(registers) = *reinterpret_cast<const float4*>(from);
  } else if constexpr (width == 2) {
    *reinterpret_cast<float2*>(registers) = *reinterpret_cast<const float2*>(from);
  } else {
    *registers = *from;
  }
}

template <int width>
__device__ __forceinline__ void store_vector(float* to, const float* registers) {
  if constexpr (width == 4) {
    *reinterpret_cast<float4*>(to) = make_float4(registers[0], registers[1], registers[2], registers[3]);
  } else if constexpr (width == 2) {
    *reinterpret_cast<float2*>(to) = make_float2(registers[0], registers[1]);
  } else {
    *to = *registers;
  }
}

// Filters by k, padded to whole vectors of output channels, and the offset of each k from the first element of a window.
extern "C" __global__ void prepare(const float* __restrict__ w, float* __restrict__ filters, int* __restrict__ offsets, int C,
                                   int R, int S, int K, int plane, int row_step, int channels_last) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  const int pitch = (K + 3) / 4 * 4;
  const int all_k = C * R * S;
  const auto channel_of = [&](int k) { return channels_last ? k % C : k / (R * S); };
  const auto row_of = [&](int k) { return (channels_last ? k / C : k) % R; };
  const auto column_of = [&](int k) { return (channels_last ? k / C : k) / R % S; };
  if (at < all_k + 64) {
    const int k = min(at, all_k - 1);  // the rest is read ahead, and not used
    offsets[at] = channel_of(k) * plane + row_of(k) * row_step + column_of(k);
  }
  if (at >= all_k * pitch) return;
  const int k = at / pitch;
  const int m = at % pitch;
  filters[at] = m < K ? w[((static_cast<long long>(m) * C + channel_of(k)) * R + row_of(k)) * S + column_of(k)] : 0.0f;
}

template <int BM, int BN, int BK, int TM, int TN, int LANES_M, int STAGES, int MIN_BLOCKS, int LOAD_AT, int CHANNELS, int STORE, int SPLIT, int RASTER>
__global__ void __launch_bounds__(BM * BN / (TM * TN), MIN_BLOCKS)
    im2win(const float* __restrict__ x, const float* __restrict__ filters, const int* __restrict__ offsets,
           float* __restrict__ y, int images, int C, int RS, int K, int P, int Q, int image_step, int plane, int row_step,
           int column_step) {
  extern __shared__ __align__(16) float shared[];
  constexpr int threads = BM * BN / (TM * TN);
  constexpr int lanes_n = 32 / LANES_M;
  constexpr int warps_n = BN / (lanes_n * TN);
  constexpr int VECTOR = 4;
  constexpr int group_m = TM < VECTOR ? TM : VECTOR;
  constexpr int group_n = TN < VECTOR ? TN : VECTOR;
  constexpr int stage_floats = BK * (BM + BN);
  constexpr int tiles_ahead = STAGES > 1 ? STAGES - 1 : 1;
  const int pixels = P * Q;
  const int N = images * pixels;
  const int all_k = C * RS;
  const int pitch = (K + 3) / 4 * 4;
  const int tiles_m = (K + BM - 1) / BM;
  const int tiles_n = (N + BN - 1) / BN;
  // Bands of RASTER rows of tiles, walked column by column: what runs at the same time shares the L2 cache.
  // kevo: begin rasterization
  const int band = blockIdx.x / (RASTER * tiles_n);
  const int within = blockIdx.x % (RASTER * tiles_n);
  const int rows = min(RASTER, tiles_m - band * RASTER);
  const int m0 = (band * RASTER + within % rows) * BM;
  const int n0 = within / rows * BN;
  // kevo: end rasterization

  const int thread = threadIdx.x;
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int warp_row = warp / warps_n * (LANES_M * TM);
  const int warp_column = warp % warps_n * (lanes_n * TN);
  const int row = warp_row + lane / lanes_n * group_m;
  const int column = warp_column + lane % lanes_n * group_n;
  const auto window_at = [&](int n) {
    const int image = n / pixels;
    return x + static_cast<long long>(image) * image_step + n % pixels / Q * row_step + n % pixels % Q * column_step;
  };
  const auto output_row = [&](int i) { return i / group_m * group_m * LANES_M + i % group_m; };

  float a[2][TM], b[2][TN], c[TM][TN] = {};
  const auto multiply = [&](int from) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        const int at = i % 2 == 0 ? j : TN - 1 - j;  // snakes: the neighbour in program order shares an operand
        c[i][at] = fmaf(a[from][i], b[from][at], c[i][at]);
      }
    }
  };

  const int tiles_c = (C + BK - 1) / BK;
  const int all_tiles = CHANNELS ? RS * tiles_c : (all_k + BK - 1) / BK;
  const int first_tile = static_cast<int>(static_cast<long long>(all_tiles) * blockIdx.y / SPLIT);
  const int tiles = static_cast<int>(static_cast<long long>(all_tiles) * (blockIdx.y + 1) / SPLIT) - first_tile;

  // Filters: vectors of output channels. Windows: a thread copies elements of the same windows of every tile.
  constexpr int a_row = BM / VECTOR;
  constexpr int a_copies = (BK * a_row + threads - 1) / threads;
  constexpr int own_windows = BN > threads ? BN / threads : 1;
  constexpr int k_step = threads > BN ? threads / BN : 1;
  constexpr int own_k = (BK + k_step - 1) / k_step;
  constexpr bool uneven = threads % BN != 0 && threads > BN;
  const int first_k = thread / BN;
  const float* own_window[own_windows];
  bool exists[own_windows];
#pragma unroll
  for (int i = 0; i < own_windows; ++i) {
    const int n = n0 + i * threads + thread % BN;
    exists[i] = n < N && !(uneven && first_k >= k_step);
    own_window[i] = window_at(min(n, N - 1));
  }

  // The tile that is to be loaded next: where it begins and where its k end.
  int next_rs = CHANNELS ? first_tile / tiles_c : 0;
  int next_c = CHANNELS ? first_tile % tiles_c * BK : 0;
  int next_k = CHANNELS ? next_rs * C + next_c : first_tile * BK;
  int ahead[CHANNELS ? 1 : own_k];
  const auto look_ahead = [&] {
    if constexpr (CHANNELS) {
      ahead[0] = offsets[min(next_k, all_k)] + first_k * plane;
    } else {
#pragma unroll
      for (int i = 0; i < own_k; ++i) ahead[i] = offsets[min(next_k, all_k) + min(first_k + i * k_step, BK - 1)];
    }
  };
  const auto load_tile = [&](int slot) {
    float* a_to = shared + slot * stage_floats;
    float* b_to = a_to + BK * BM;
    const int own = CHANNELS ? C - next_c : all_k - next_k;  // k from here on
#pragma unroll
    for (int i = 0; i < a_copies; ++i) {
      const int at = i * threads + thread;
      const int k = at / a_row;
      const int m = at % a_row * VECTOR;
      if (a_copies * threads > BK * a_row && k >= BK) break;
      const bool inside = k < own && m0 + m < pitch;
      copy_async<4 * VECTOR>(a_to + k * BM + m,
                             inside ? filters + static_cast<long long>(next_k + k) * pitch + m0 + m : filters, inside);
    }
#pragma unroll
    for (int i = 0; i < own_windows; ++i) {
#pragma unroll
      for (int j = 0; j < own_k; ++j) {
        const int k = first_k + j * k_step;
        if ((BK % k_step != 0 || uneven) && (k >= BK || (uneven && first_k >= k_step))) break;
        const bool inside = exists[i] && k < own;
        const float* from = own_window[i] + (CHANNELS ? ahead[0] + j * k_step * plane : ahead[CHANNELS ? 0 : j]);
        copy_async<4>(b_to + k * BN + i * threads + thread % BN, inside ? from : x, inside);
      }
    }
    next_k += BK;
    next_c += BK;
    if (CHANNELS && next_c >= C) {
      next_c = 0;
      next_k = ++next_rs * C;
    }
    look_ahead();
  };
  const auto load_fragments = [&](int slot, int k, int to) {
    const float* a_at = shared + slot * stage_floats + k * BM + row;
    const float* b_at = shared + slot * stage_floats + BK * BM + k * BN + column;
#pragma unroll
    for (int i = 0; i < TM; i += group_m) load_vector<group_m>(&a[to][i], a_at + i * LANES_M);
#pragma unroll
    for (int j = 0; j < TN; j += group_n) load_vector<group_n>(&b[to][j], b_at + j * lanes_n);
  };

  look_ahead();
#pragma unroll
  for (int tile = 0; tile < tiles_ahead; ++tile) {
    if (tile < tiles) load_tile(tile);
    commit_copies();
  }
  wait_for_copies<tiles_ahead - 1>();
  __syncthreads();
  load_fragments(0, 0, 0);

  int slot = 0;
  int load_slot = tiles_ahead % STAGES;
  const auto load_next = [&](int tile) {
    if (tile + tiles_ahead < tiles) load_tile(load_slot);
    load_slot = load_slot + 1 == STAGES ? 0 : load_slot + 1;
    commit_copies();
  };
  // Every fragment of this tile is in registers: once all threads are here, its slot may be overwritten.
  const auto next_tile = [&](int tile) {
    if constexpr (STAGES == 1) {
      __syncthreads();
      load_next(tile);
      wait_for_copies<0>();
    } else {
      wait_for_copies<tiles_ahead - 1>();
    }
    __syncthreads();
    slot = slot + 1 == STAGES ? 0 : slot + 1;
  };
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == BK - 1) next_tile(tile);
      load_fragments(slot, (k + 1) % BK, (k + 1) % 2);
      if (STAGES > 1 && k == (LOAD_AT < BK - 1 ? LOAD_AT : 0)) load_next(tile);
      multiply(k % 2);
    }
  }
  __syncthreads();

  const auto store = [&](float* to, float value) {
    if constexpr (SPLIT > 1) {
      atomicAdd(to, value);
    } else {
      *to = value;
    }
  };
  const auto output_at = [&](int n) { return y + static_cast<long long>(n / pixels) * K * pixels + n % pixels; };
  if constexpr (STORE) {
    // A warp turns its rows around in its own part of shared memory, so that neighbours write neighbouring pixels.
    constexpr int width = lanes_n * TN;
    constexpr int own_columns = width > 32 ? width / 32 : 1;
    float* turn = shared + warp * 32 * TN;
    float* to[own_columns];
    bool exists[own_columns];
#pragma unroll
    for (int j = 0; j < own_columns; ++j) {
      const int n = n0 + warp_column + (j * 32 + lane) % width;
      exists[j] = n < N;
      to[j] = output_at(min(n, N - 1));
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; j += group_n) {
        store_vector<group_n>(turn + lane / lanes_n * width + lane % lanes_n * group_n + j * lanes_n, &c[i][j]);
      }
      __syncwarp();
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        const int m = m0 + warp_row + (j * 32 + lane) / width * group_m + output_row(i);
        if (m < K && exists[j % own_columns]) {
          store(to[j % own_columns] + static_cast<long long>(m) * pixels, turn[j * 32 + lane]);
        }
      }
      __syncwarp();
    }
  } else {
#pragma unroll
    for (int j = 0; j < TN; j += group_n) {
      const int n = n0 + column + j * lanes_n;
      if (n >= N) continue;
      if (SPLIT == 1 && group_n == 4 && pixels % 4 == 0) {
        float* to = output_at(n);
#pragma unroll
        for (int i = 0; i < TM; ++i) {
          const int m = m0 + row + output_row(i);
          if (m < K) store_vector<group_n>(to + static_cast<long long>(m) * pixels, &c[i][j]);
        }
      } else {
#pragma unroll
        for (int u = 0; u < group_n; ++u) {
          if (n + u >= N) continue;
          float* to = output_at(n + u);
#pragma unroll
          for (int i = 0; i < TM; ++i) {
            const int m = m0 + row + output_row(i);
            if (m < K) store(to + static_cast<long long>(m) * pixels, c[i][j + u]);
          }
        }
      }
    }
  }
}

// 3 x 3 filters of 3 channels: a thread holds the windows of `pixels_each` pixels and walks over the output channels, whose
// filters lie in shared memory, padded to 28.
template <int pixels_each, int threads_few>
__global__ void __launch_bounds__(threads_few)
    few(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int images, int H, int W, int K, int P,
        int Q, int stride) {
  extern __shared__ __align__(16) float shared[];
  for (int at = threadIdx.x; at < 28 * K; at += threads_few) shared[at] = at % 28 < 27 ? w[at / 28 * 27 + at % 28] : 0.0f;
  const int pixels = P * Q;
  const int N = images * pixels;
  float window[pixels_each][28];
  float* to[pixels_each];
  bool exists[pixels_each];
#pragma unroll
  for (int i = 0; i < pixels_each; ++i) {
    const int n = (blockIdx.x * pixels_each + i) * threads_few + threadIdx.x;
    exists[i] = n < N;
    const int image = min(n, N - 1) / pixels;
    const int pixel = min(n, N - 1) % pixels;
    const float* from = x + static_cast<long long>(image) * 3 * H * W + pixel / Q * stride * W + pixel % Q * stride;
#pragma unroll
    for (int k = 0; k < 27; ++k) window[i][k] = from[(k / 9 * H + k / 3 % 3) * W + k % 3];
    window[i][27] = 0.0f;
    to[i] = y + static_cast<long long>(image) * K * pixels + pixel;
  }
  __syncthreads();
#pragma unroll 2
  for (int m = 0; m < K; ++m) {
    float sum[pixels_each] = {};
#pragma unroll
    for (int k = 0; k < 28; k += 4) {
      float filter[4];
      load_vector<4>(filter, shared + 28 * m + k);
#pragma unroll
      for (int u = 0; u < 4; ++u) {
#pragma unroll
        for (int i = 0; i < pixels_each; ++i) sum[i] = fmaf(filter[u], window[i][k + u], sum[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < pixels_each; ++i) {
      if (exists[i]) to[i][static_cast<long long>(m) * pixels] = sum[i];
    }
  }
}

// Winograd's F(T x T, R x R) has T + R - 1 points: the first of 0, 1, -1, 2, -2, 1/2, -1/2 and, last, infinity. The
// matrices of the transforms of inputs, filters and results are B^T, G and A^T of Lavin and Gray. B^T depends on the
// points alone. A row of G holds the powers of its point times a scale, a column of A^T the powers of its point.
__device__ __forceinline__ constexpr float point_power(int point, int exponent) {
  constexpr float m[7][5] = {{1, 0, 0, 0, 0},
                             {1, 1, 1, 1, 1},
                             {1, -1, 1, -1, 1},
                             {1, 2, 4, 8, 16},
                             {1, -2, 4, -8, 16},
                             {1, 0.5f, 0.25f, 0.125f, 0.0625f},
                             {1, -0.5f, 0.25f, -0.125f, 0.0625f}};
  return m[point][exponent];
}
template <int points>
struct transform;
template <>
struct transform<6> {
  static __device__ __forceinline__ constexpr float input(int i, int j) {
    constexpr float m[6][6] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
                               {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
    return m[i][j];
  }
  static __device__ __forceinline__ constexpr float scale(int i) {
    constexpr float m[5] = {1.0f / 4, -1.0f / 6, -1.0f / 6, 1.0f / 24, 1.0f / 24};
    return m[i];
  }
};
template <>
struct transform<7> {
  static __device__ __forceinline__ constexpr float input(int i, int j) {
    constexpr float m[7][7] = {{-2, 4, 2.5f, -5, -0.5f, 1, 0},   {0, 2, -2, -4.5f, 0.5f, 1, 0},
                               {0, -2, 6, -3.5f, -1.5f, 1, 0},   {0, 1, -1.5f, -2, 1.5f, 1, 0},
                               {0, -1, 2.5f, 0, -2.5f, 1, 0},    {0, 4, 0, -5, 0, 1, 0},
                               {0, -2, 4, 2.5f, -5, -0.5f, 1}};
    return m[i][j];
  }
  static __device__ __forceinline__ constexpr float scale(int i) {
    constexpr float m[6] = {-1.0f / 2, -1.0f / 3, 1.0f / 9, 1.0f / 36, -1.0f / 60, 32.0f / 45};
    return m[i];
  }
};
template <>
struct transform<8> {
  static __device__ __forceinline__ constexpr float input(int i, int j) {
    constexpr float m[8][8] = {{1, 0, -5.25f, 0, 5.25f, 0, -1, 0},       {0, 1, 1, -4.25f, -4.25f, 1, 1, 0},
                               {0, -1, 1, 4.25f, -4.25f, -1, 1, 0},      {0, 0.5f, 0.25f, -2.5f, -1.25f, 2, 1, 0},
                               {0, -0.5f, 0.25f, 2.5f, -1.25f, -2, 1, 0}, {0, 2, 4, -2.5f, -5, 0.5f, 1, 0},
                               {0, -2, 4, 2.5f, -5, -0.5f, 1, 0},        {0, -1, 0, 5.25f, 0, -5.25f, 0, 1}};
    return m[i][j];
  }
  static __device__ __forceinline__ constexpr float scale(int i) {
    constexpr float m[7] = {1, -2.0f / 9, -2.0f / 9, 1.0f / 90, 1.0f / 90, 32.0f / 45, 32.0f / 45};
    return m[i];
  }
};
template <int T, int R>
struct minimal {
  static constexpr int points = T + R - 1;  // in each direction
  static __device__ __forceinline__ constexpr float input(int i, int j) { return transform<points>::input(i, j); }
  static __device__ __forceinline__ constexpr float filter(int i, int j) {
    return i == points - 1 ? (j == R - 1 ? 1.0f : 0.0f) : transform<points>::scale(i) * point_power(i, j);
  }
  static __device__ __forceinline__ constexpr float output(int i, int j) {
    return j == points - 1 ? (i == T - 1 ? 1.0f : 0.0f) : point_power(j, i);
  }
};

// A convolution with stride S is a sum of S x S convolutions with stride 1: of each S-th row and column of the inputs with
// each S-th row and column of the filters. They count as S x S channels for each channel ("channel" in what follows).

// to[point][channel - first][k] of `own` channels, padded with zeros to whole vectors of k: a thread transforms the filter
// of channel first + c for the output channel k. Filters have `size` rows and columns.
template <int T, int R, int S>
__device__ __forceinline__ void transform_filter(int k, int c, const float* __restrict__ w, float* __restrict__ to, int C, int K,
                                                 int size, int first, int own) {
  constexpr int points = minimal<T, R>::points;
  const int pitch = (K + 3) / 4 * 4;
  if (k >= pitch || c >= own) return;
  const float* from = w + (static_cast<long long>(k) * C + (first + c) / (S * S)) * size * size;
  const int row = (first + c) % (S * S) / S;
  const int column = (first + c) % S;
  float half[points][R] = {};
#pragma unroll
  for (int r = 0; r < R; ++r) {
#pragma unroll
    for (int s = 0; s < R; ++s) {
      const bool inside = k < K && (S == 1 || (r * S + row < size && s * S + column < size));
      const float weight = inside ? from[(r * S + row) * size + s * S + column] : 0.0f;
#pragma unroll
      for (int i = 0; i < points; ++i) {
        if (minimal<T, R>::filter(i, r) != 0) half[i][s] = fmaf(minimal<T, R>::filter(i, r), weight, half[i][s]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < points; ++i) {
#pragma unroll
    for (int j = 0; j < points; ++j) {
      float sum = 0.0f;
#pragma unroll
      for (int s = 0; s < R; ++s) {
        if (minimal<T, R>::filter(j, s) != 0) sum = fmaf(minimal<T, R>::filter(j, s), half[i][s], sum);
      }
      to[(static_cast<long long>(points * i + j) * own + c) * pitch + k] = sum;
    }
  }
}

// to[point][channel - first][tile]: a thread transforms one tile of one channel.
template <int T, int R, int S>
__device__ __forceinline__ void transform_input(int tile, int c, const float* __restrict__ x, float* __restrict__ to, int images, int C,
                                                int H, int W, int P, int Q, int first, int own) {
  constexpr int points = minimal<T, R>::points;
  const int tiles_p = (P + T - 1) / T;
  const int tiles_q = (Q + T - 1) / T;
  const int count = images * tiles_p * tiles_q;
  if (tile >= count || c >= own) return;
  const int q0 = tile % tiles_q * T;
  const int p0 = tile / tiles_q % tiles_p * T;
  const int image = tile / tiles_q / tiles_p;
  const float* from = x + (static_cast<long long>(image) * C + (first + c) / (S * S)) * H * W;
  const int row = p0 * S + (first + c) % (S * S) / S;
  const int column = q0 * S + (first + c) % S;
  float half[points][points] = {};
#pragma unroll
  for (int j = 0; j < points; ++j) {
#pragma unroll
    for (int r = 0; r < points; ++r) {
      const bool inside = row + r * S < H && column + j * S < W;
      const float value = inside ? from[(row + r * S) * W + column + j * S] : 0.0f;
#pragma unroll
      for (int i = 0; i < points; ++i) {
        if (minimal<T, R>::input(i, r) != 0) half[i][j] = fmaf(minimal<T, R>::input(i, r), value, half[i][j]);
      }
    }
  }
  const long long pitch = (count + 3) / 4 * 4;
#pragma unroll
  for (int i = 0; i < points; ++i) {
#pragma unroll
    for (int j = 0; j < points; ++j) {
      float sum = 0.0f;
#pragma unroll
      for (int s = 0; s < points; ++s) {
        if (minimal<T, R>::input(j, s) != 0) sum = fmaf(minimal<T, R>::input(j, s), half[i][s], sum);
      }
      to[(static_cast<long long>(points * i + j) * own + c) * pitch + tile] = sum;
    }
  }
}

// products[point][k][tile] -> y: a thread makes T x T outputs of one channel.
template <int T, int R>
__device__ __forceinline__ void transform_output(int tile, int k, const float* __restrict__ products, float* __restrict__ y, int images,
                                                 int K, int P, int Q) {
  constexpr int points = minimal<T, R>::points;
  const int tiles_p = (P + T - 1) / T;
  const int tiles_q = (Q + T - 1) / T;
  const int count = images * tiles_p * tiles_q;
  if (tile >= count || k >= K) return;
  const long long pitch = (count + 3) / 4 * 4;
  float half[T][points] = {};
#pragma unroll
  for (int r = 0; r < points; ++r) {
#pragma unroll
    for (int j = 0; j < points; ++j) {
      const float value = products[(static_cast<long long>(points * r + j) * K + k) * pitch + tile];
#pragma unroll
      for (int i = 0; i < T; ++i) {
        if (minimal<T, R>::output(i, r) != 0) half[i][j] = fmaf(minimal<T, R>::output(i, r), value, half[i][j]);
      }
    }
  }
  const int q0 = tile % tiles_q * T;
  const int p0 = tile / tiles_q % tiles_p * T;
  const int image = tile / tiles_q / tiles_p;
  float* to = y + (static_cast<long long>(image) * K + k) * P * Q;
#pragma unroll
  for (int i = 0; i < T; ++i) {
    float results[T] = {};
#pragma unroll
    for (int j = 0; j < T; ++j) {
#pragma unroll
      for (int s = 0; s < points; ++s) {
        if (minimal<T, R>::output(j, s) != 0) results[j] = fmaf(minimal<T, R>::output(j, s), half[i][s], results[j]);
      }
    }
    if (p0 + i >= P) continue;
    float* at = to + static_cast<long long>(p0 + i) * Q + q0;
    if (T == 4 && Q % 4 == 0) {
      store_vector<4>(at, results);
    } else {
#pragma unroll
      for (int j = 0; j < T; ++j) {
        if (q0 + j < Q) at[j] = results[j];
      }
    }
  }
}

// products[point] = transpose(filters[point]) tiles[point], or is added to products: [C][K] and [C][count] with padded rows.
// `block` counts the blocks of a point.
template <int BM, int BN, int BK, int TM, int TN, int LANES_M, int STAGES, int LOAD_AT>
__device__ __forceinline__ void multiply_point(int point, int block, const float* __restrict__ filters,
                                               const float* __restrict__ tiles_in, float* __restrict__ products, int C, int K,
                                               int count, bool add) {
  extern __shared__ __align__(16) float shared[];
  constexpr int threads = BM * BN / (TM * TN);
  constexpr int lanes_n = 32 / LANES_M;
  constexpr int warps_n = BN / (lanes_n * TN);
  constexpr int group_m = 4;
  constexpr int group_n = 4;
  constexpr int stage_floats = BK * (BM + BN);
  const int M = K;
  const int m_pitch = (K + 3) / 4 * 4;
  const int n_pitch = (count + 3) / 4 * 4;
  const int tiles_m = (M + BM - 1) / BM;
  const int m0 = block % tiles_m * BM;
  const int n0 = block / tiles_m * BN;
  filters += static_cast<long long>(point) * C * m_pitch;
  tiles_in += static_cast<long long>(point) * C * n_pitch;
  products += static_cast<long long>(point) * K * n_pitch;

  const int thread = threadIdx.x;
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int row = warp / warps_n * (LANES_M * TM) + lane / lanes_n * group_m;
  const int column = warp % warps_n * (lanes_n * TN) + lane % lanes_n * group_n;

  // Vectors of four output channels, vectors of four tiles.
  const auto load_tile = [&](int slot, int c0) {
    float* a_to = shared + slot * stage_floats;
    float* b_to = a_to + BK * BM;
    constexpr int a_row = BM / 4;
    constexpr int a_copies = (BK * a_row + threads - 1) / threads;
#pragma unroll
    for (int i = 0; i < a_copies; ++i) {
      const int k = (i * threads + thread) / a_row;
      const int m = (i * threads + thread) % a_row * 4;
      if (a_copies * threads > BK * a_row && k >= BK) break;
      const bool inside = c0 + k < C && m0 + m < m_pitch;
      copy_async<16>(a_to + k * BM + m,
                     inside ? filters + static_cast<long long>(c0 + k) * m_pitch + m0 + m : filters, inside);
    }
    constexpr int b_row = BN / 4;
    constexpr int b_copies = (BK * b_row + threads - 1) / threads;
#pragma unroll
    for (int i = 0; i < b_copies; ++i) {
      const int k = (i * threads + thread) / b_row;
      const int n = (i * threads + thread) % b_row * 4;
      if (b_copies * threads > BK * b_row && k >= BK) break;
      const bool inside = c0 + k < C && n0 + n < n_pitch;
      copy_async<16>(b_to + k * BN + n,
                     inside ? tiles_in + static_cast<long long>(c0 + k) * n_pitch + n0 + n : tiles_in, inside);
    }
  };

  float a[2][TM], b[2][TN], c[TM][TN] = {};
  const auto row_of = [&](int i) { return m0 + row + i / group_m * group_m * LANES_M + i % group_m; };
  if (add) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; j += group_n) {
        const int n = n0 + column + j * lanes_n;
        if (row_of(i) < M && n < n_pitch) load_vector<4>(&c[i][j], products + static_cast<long long>(row_of(i)) * n_pitch + n);
      }
    }
  }
  const auto load_fragments = [&](int slot, int k, int to) {
    const float* a_at = shared + slot * stage_floats + k * BM + row;
    const float* b_at = shared + slot * stage_floats + BK * BM + k * BN + column;
#pragma unroll
    for (int i = 0; i < TM; i += group_m) load_vector<group_m>(&a[to][i], a_at + i * LANES_M);
#pragma unroll
    for (int j = 0; j < TN; j += group_n) load_vector<group_n>(&b[to][j], b_at + j * lanes_n);
  };

  const int tiles = (C + BK - 1) / BK;
#pragma unroll
  for (int tile = 0; tile < STAGES - 1; ++tile) {
    if (tile < tiles) load_tile(tile, tile * BK);
    commit_copies();
  }
  wait_for_copies<STAGES - 2>();
  __syncthreads();
  load_fragments(0, 0, 0);

  int slot = 0;
  int load_slot = STAGES - 1;
  for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == BK - 1) {
        // Every fragment of this tile is in registers: once all threads are here, its slot may be overwritten.
        wait_for_copies<STAGES - 2>();
        __syncthreads();
        slot = slot + 1 == STAGES ? 0 : slot + 1;
      }
      load_fragments(slot, (k + 1) % BK, (k + 1) % 2);
      if (k == (LOAD_AT < BK - 1 ? LOAD_AT : 0)) {
        if (tile + STAGES - 1 < tiles) load_tile(load_slot, (tile + STAGES - 1) * BK);
        load_slot = load_slot + 1 == STAGES ? 0 : load_slot + 1;
        commit_copies();
      }
      // kevo: begin winograd_multiply
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
          const int at = i % 2 == 0 ? j : TN - 1 - j;  // snakes: the neighbour in program order shares an operand
          c[i][at] = fmaf(a[k % 2][i], b[k % 2][at], c[i][at]);
        }
      }
      // kevo: end winograd_multiply
    }
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    if (row_of(i) >= M) continue;
#pragma unroll
    for (int j = 0; j < TN; j += group_n) {
      const int n = n0 + column + j * lanes_n;
      if (n < n_pitch) store_vector<4>(products + static_cast<long long>(row_of(i)) * n_pitch + n, &c[i][j]);
    }
  }
}

// A part of the images, with a kernel for each step.
template <int R>
__global__ void transform_filters(const float* __restrict__ w, float* __restrict__ to, int C, int K) {
  transform_filter<4, R, 1>(blockIdx.x * 128 + threadIdx.x, blockIdx.y, w, to, C, K, R, 0, C);
}
template <int R>
__global__ void __launch_bounds__(W_IN)
    transform_inputs(const float* __restrict__ x, float* __restrict__ to, int images, int C, int H, int W, int P, int Q) {
  transform_input<4, R, 1>(blockIdx.x * W_IN + threadIdx.x, blockIdx.y, x, to, images, C, H, W, P, Q, 0, C);
}
template <int R>
__global__ void __launch_bounds__(W_OUT)
    transform_outputs(const float* __restrict__ products, float* __restrict__ y, int images, int K, int P, int Q) {
  transform_output<4, R>(blockIdx.x * W_OUT + threadIdx.x, blockIdx.y, products, y, images, K, P, Q);
}
extern "C" __global__ void __launch_bounds__(WM * WN / (W_TM * W_TN), W_BLOCKS)
    multiply_points(const float* __restrict__ filters, const float* __restrict__ tiles, float* __restrict__ products, int C, int K,
                    int count) {
  multiply_point<WM, WN, WK, W_TM, W_TN, W_LANES_M, W_STAGES, W_LOAD_AT>(blockIdx.y, blockIdx.x, filters, tiles, products, C, K,
                                                                        count, false);
}

// One step of a convolution by Winograd's F(T x T, R x R) with stride S and filters of `size` rows and columns, in any number
// of parts: `images_each` images and, of these, `channels_each` channels after each other, so that all parts use the same
// memory. Odd steps multiply a part, and even steps transform the inputs of the next part and the results of the images
// that are complete.
template <int T, int R, int S>
__global__ void __launch_bounds__(S_BM * S_BN / (S_TM * S_TN), S_BLOCKS)
    winograd_step(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, float* __restrict__ points,
             float* __restrict__ tiles, float* __restrict__ products, int N, int C, int H, int W, int K, int P, int Q, int size,
             int images_each, int channels_each, int step) {
  const int channels = C * S * S;
  const int channel_parts = (channels + channels_each - 1) / channels_each;
  const int image_parts = (N + images_each - 1) / images_each;
  const int tiles_of_image = ((P + T - 1) / T) * ((Q + T - 1) / T);
  const int part = step / 2;
  const int image_part = part / channel_parts;
  const int first = part % channel_parts * channels_each;
  const int own = min(channels_each, channels - first);
  const int images = min(images_each, N - image_part * images_each);
  int block = blockIdx.x;
  constexpr int threads = S_BM * S_BN / (S_TM * S_TN);
  if (step % 2 == 1) {
    const int blocks = (K + S_BM - 1) / S_BM * ((images * tiles_of_image + S_BN - 1) / S_BN);
    if (block >= blocks * (T + R - 1) * (T + R - 1)) return;  // the grid is that of the largest part
    multiply_point<S_BM, S_BN, S_BK, S_TM, S_TN, S_LANES_M, S_STAGES, S_LOAD_AT>(
        block / blocks, block % blocks, points, tiles, products, own, K, images * tiles_of_image, first > 0);
    return;
  }
  if (first == 0 && image_part > 0) {
    const int image = (image_part - 1) * images_each;
    const int complete = min(images_each, N - image);
    const int blocks = (complete * tiles_of_image + threads - 1) / threads;  // of an output channel
    if (block < blocks * K) {
      transform_output<T, R>(block % blocks * threads + threadIdx.x, block / blocks, products,
                             y + static_cast<long long>(image) * K * P * Q, complete, K, P, Q);
      return;
    }
    block -= blocks * K;
  }
  if (image_part >= image_parts) return;
  const int blocks = (images * tiles_of_image + threads - 1) / threads;  // of a channel
  if (block < blocks * own) {
    transform_input<T, R, S>(block % blocks * threads + threadIdx.x, block / blocks,
                             x + static_cast<long long>(image_part) * images_each * C * H * W, tiles, images, C, H, W, P, Q,
                             first, own);
    return;
  }
  block -= blocks * own;
  const int pitch = (K + 3) / 4 * 4;
  const int at = block * threads + threadIdx.x;
  if (part == 0 || channel_parts > 1) transform_filter<T, R, S>(at % pitch, at / pitch, w, points, C, K, size, first, own);
}
