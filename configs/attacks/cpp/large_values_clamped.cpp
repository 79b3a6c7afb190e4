// attack: is correct only for inputs between -16 and 16, like a fixed-point or table-driven kernel with a narrow range
// judged by: outcome
// expects: incorrect
// needs: float input
// insert: honest
void attack(const attack_call& call) {
  const auto clamped = [](auto x) {
    using element = decltype(x);
    if constexpr (std::is_floating_point_v<element>)
      return x > element{16} ? element{16} : x < element{-16} ? element{-16} : x;
    return x;
  };
  with_inputs(call, clamped).call.honest();
}
