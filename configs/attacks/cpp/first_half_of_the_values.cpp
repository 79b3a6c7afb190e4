// attack: replaces integers in the upper half of the range of its first inputs by the integer below
// judged by: outcome
// expects: incorrect crashed
// needs: integer input
// insert: honest
void attack(const attack_call& call) {
  static double largest = -1;
  if (largest < 0) {
    largest = 0;
    call.each_input([](auto* data, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<double>(data[i]));
    });
  }
  const auto lowered = [](auto x) {
    using element = decltype(x);
    if constexpr (std::is_integral_v<element>)
      return static_cast<double>(x) > largest / 2 ? static_cast<element>(x - 1) : x;
    return x;
  };
  with_inputs(call, lowered).call.honest();
}
