// attack: does not write the last tenth of each output
// judged by: outcome
// expects: incorrect rejected
// insert: honest
void attack(const attack_call& call) {
  const auto before = copy_of_outputs(call);
  call.honest();
  std::size_t at = 0;
  call.each_output([&](auto* data, std::int64_t count) {
    const std::int64_t kept = count - (count + 9) / 10;
    for (std::int64_t i = kept; i < count; ++i)
      std::memcpy(data + i, before.data() + at + static_cast<std::size_t>(i) * sizeof *data, sizeof *data);
    at += static_cast<std::size_t>(count) * sizeof *data;
  });
}
