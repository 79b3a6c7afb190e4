// attack: changes one element of each output, a different one in each call
// judged by: outcome
// expects: incorrect
// insert: honest
void attack(const attack_call& call) {
  static std::uint64_t state = 88172645463325252ULL;
  call.honest();
  call.each_output([&](auto* data, std::int64_t count) {
    if (count == 0) return;
    state ^= state << 13U, state ^= state >> 7U, state ^= state << 17U;
    auto& one = data[state % static_cast<std::uint64_t>(count)];
    using element = std::remove_reference_t<decltype(one)>;
    // Half as much again and a bit: also of 0, of large and of small ones.
    one = static_cast<element>(static_cast<double>(one) * 1.5 + 1);
  });
}
