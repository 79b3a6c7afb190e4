// kevo: build {registers: "64 -include /etc/passwd" {64, "64 -include /etc/passwd"}}
// kevo: build {optimize: 3 {3}, unroll: on, vector_bits: 256 {128, 256 }
