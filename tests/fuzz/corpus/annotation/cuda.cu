#define BM 64   // kevo: {16, 32, 64, 128}
#define BN 0x40 // kevo: {16..64 step 16}
constexpr float f = 0.5f; // kevo: {0.25f, .5f, 0.5f, 1e-3f}
const auto v = float4; // kevo: {float2, float4, a::b}
// kevo: require BM * BN <= 16384 && (BM % BN == 0 || BN / BM > 1)
// kevo: workspace partial float32 [M, N]
// kevo: when M > 4: for i in 0..3: launch mm<<<(ceildiv(N, BN), 1), 256, smem(4 * BM)>>>(A, B, C, M)
// kevo: memset C 0
// kevo: tensormap t(A)
