// kevo: workspace w float64 [1 << 62, 1 << 62]
// kevo: for i in -9223372036854775808..9223372036854775807: memset C i
// kevo: launch f<<<(1 << 62) * 4, 1>>>()
