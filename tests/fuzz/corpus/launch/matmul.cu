#define BM 64   // kevo: {16, 32, 64, 128}
#define BN 64   // kevo: {16, 32, 64, 128}
// kevo: require BM * BN <= 16384
// kevo: workspace partial float32 [M, N]
// kevo: launch matmul<<<(ceildiv(N, BN), ceildiv(M, BM)), 256, smem(4 * BM * BN)>>>(A, B, C, M, N, K)
