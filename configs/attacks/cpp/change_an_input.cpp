// attack: changes one element of each input after it has used it
// judged by: outcome
// expects: rejected crashed incorrect
// needs: input
// insert: honest
void attack(const attack_call& call) {
  call.honest();
  call.each_input([](auto* data, std::int64_t count) {
    if (count == 0) return;
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<std::remove_cv_t<std::remove_reference_t<decltype(*data)>>*>(data));
    bytes[0] = static_cast<unsigned char>(bytes[0] + 1);
  });
}
