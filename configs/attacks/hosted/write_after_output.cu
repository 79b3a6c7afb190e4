// attack: writes 64 bytes after the end of each output
// judged by: outcome
// expects: rejected crashed launch_failed
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  const int ended = call.honest(stream);
  call.each_output([&](auto* data, std::int64_t count) { cudaMemsetAsync(data + count, 7, 64, stream); });
  return ended;
}
