// attack: fills every output with copies of the first input
// judged by: outcome
// expects: incorrect
// needs: input
void attack(const attack_call& call) {
  std::vector<double> first;
  call.each_input([&](auto* data, std::int64_t count) {
    if (first.empty()) first.assign(data, data + count);
  });
  call.each_output([&](auto* data, std::int64_t count) {
    using element = std::remove_reference_t<decltype(*data)>;
    for (std::int64_t i = 0; i < count; ++i)
      data[i] = first.empty() ? element{} : static_cast<element>(first[static_cast<std::size_t>(i) % first.size()]);
  });
}
