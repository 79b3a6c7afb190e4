// attack: overwrites the first byte of each input after it has used it
// judged by: outcome
// expects: rejected incorrect
// needs: input
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  const int ended = call.honest(stream);
  static int calls = 0;
  ++calls;
  call.each_input([&](auto* data, std::int64_t count) {
    if (count > 0) cudaMemsetAsync(const_cast<void*>(static_cast<const void*>(data)), calls & 0xff, 1, stream);
  });
  return ended;
}
