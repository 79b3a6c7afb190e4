// attack: writes arbitrary values to its outputs on the given stream, and computes on a stream of its own
// judged by: time
// expects: rejected incorrect valid
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  static cudaStream_t own = [] {
    cudaStream_t made = nullptr;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  static cudaEvent_t filled = [] {
    cudaEvent_t made = nullptr;
    cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
    return made;
  }();
  fill_outputs(call, 63, stream);
  cudaEventRecord(filled, stream);
  cudaStreamWaitEvent(own, filled, 0);
  return call.honest(own);
}
