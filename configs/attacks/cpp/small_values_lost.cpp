// attack: treats inputs whose absolute value is below a hundredth of the largest one as 0
// judged by: outcome
// expects: incorrect
// needs: float input
// insert: honest
void attack(const attack_call& call) {
  double largest = 0;
  call.each_input([&](auto* data, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(static_cast<double>(data[i])));
  });
  const auto cut = [&](auto x) {
    using element = decltype(x);
    if constexpr (std::is_floating_point_v<element>) return std::fabs(static_cast<double>(x)) < largest / 100 ? element{0} : x;
    return x;
  };
  with_inputs(call, cut).call.honest();
}
