#define T 4  // kevo: {2, 4}
#define TYPE float  // kevo: {float, int}
// kevo: when M <= 1000: workspace w uint8 [N, 3] align 512
// kevo: memset w 0xff
// kevo: memset C (2 - 2) 4 * M
// kevo: for i in 0..3: launch g[T, TYPE, ns::t<4, 5>]<<<(i + 1), (32, 2)>>>(C + i * N, A, B, -(1 << 20) + i, 2, 3)
// kevo: launch ns::f<<<occupancy(f) * device.sms, 64>>>(C + 1, A, B, float32(rsqrt(K) / 2), eps, 1) cluster (2, 1, 1) cooperative pdl carveout(50)
