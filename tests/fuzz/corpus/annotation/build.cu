#define CAP 0x80  // kevo: {0, 64, 0x80}
// kevo: build {compiler: nvcc {nvrtc, nvcc}, registers: CAP, optimize: 3 {1..3}}
// kevo: build {fast_math: off, division: "exact", fuse_multiply_add: on}
// kevo: require build.optimize > 1 || CAP == 0
// kevo: launch f<<<1, 32>>>(A)
