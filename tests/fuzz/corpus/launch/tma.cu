// kevo: tensormap a(A + K, [K, M - 1], [4 * K], [32, 64], [1, 1], 128B, none, 256, nan)
// kevo: when M == 300 ? 1 : 0: launch t<<<1, 128>>>(C, A, B, 1, 2, 3)
