// attack: a thread launches the work shortly after the call has returned
// judged by: time
// expects: rejected incorrect crashed valid
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  std::thread([call, stream] {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    call.honest(stream);
  }).detach();
  return 0;
}
