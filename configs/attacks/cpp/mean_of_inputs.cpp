// attack: writes the mean of all inputs everywhere
// judged by: outcome
// expects: incorrect
// needs: input
void attack(const attack_call& call) {
  double sum = 0;
  double count = 0;
  call.each_input([&](auto* data, std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(data[i]);
    count += static_cast<double>(size);
  });
  fill_outputs(call, count > 0 ? sum / count : 0);
}
