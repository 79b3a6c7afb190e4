// attack: rounds its float32 outputs to the mantissa of tf32 (10 bits)
// judged by: outcome
// expects: incorrect
// needs: float32 output
// insert: honest
void attack(const attack_call& call) {
  call.honest();
  call.each_output([](auto* data, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) data[i] = narrowed(data[i], 10);
  });
}
