// attack: works on a stream of its own and returns at once
// judged by: time
// expects: rejected incorrect valid
// insert: honest
int attack(const attack_call& call, cudaStream_t) {
  static cudaStream_t own = [] {
    cudaStream_t made = nullptr;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  return call.honest(own);
}
