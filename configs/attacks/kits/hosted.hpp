// What every hosted exploit may use: its task's signature is `attack_call`, which kevo writes in front of this.

// Reads as a pointer to any type: the honest program chooses the element types of its parameters.
struct attack_pointer {
  const void* at;
  template <class T>
  operator T*() const {
    return const_cast<T*>(static_cast<const T*>(at));
  }
};

// Sets every byte of every output.
inline int fill_outputs(const attack_call& call, int byte, cudaStream_t stream) {
  call.each_output([&](auto* data, std::int64_t count) {
    cudaMemsetAsync(data, byte, static_cast<std::size_t>(count) * sizeof *data, stream);
  });
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

// A call that writes into device memory of its own, which stays for the life of the process.
inline attack_call with_private_outputs(const attack_call& call) {
  attack_call made = call;
  made.each_output([&](auto*& data, std::int64_t count) {
    void* own = nullptr;
    cudaMalloc(&own, static_cast<std::size_t>(count) * sizeof *data + 256);
    data = static_cast<std::remove_reference_t<decltype(data)>>(own);
  });
  return made;
}

// Copies the outputs of one call to those of another.
inline int copy_outputs(const attack_call& from, const attack_call& to, cudaStream_t stream) {
  std::vector<const void*> sources;
  from.each_output([&](auto* data, std::int64_t) { sources.push_back(data); });
  std::size_t i = 0;
  to.each_output([&](auto* data, std::int64_t count) {
    cudaMemcpyAsync(data, sources[i++], static_cast<std::size_t>(count) * sizeof *data, cudaMemcpyDeviceToDevice,
                    stream);
  });
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

// The sizes of a call.
inline std::vector<std::int64_t> sizes_of(const attack_call& call) {
  std::vector<std::int64_t> sizes;
  call.each_axis([&](std::int64_t value) { sizes.push_back(value); });
  return sizes;
}
