#pragma once
// kevo's side of kevo-device: starts it and asks it. Needs no CUDA.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "fitness/cuda/device/protocol.hpp"
#include "fitness/cuda/device/socket.hpp"
#include "fitness/process/own_program.hpp"
#include "fitness/process/process.hpp"

namespace kevo::cuda {

/// A running kevo-device. Thread-safe: one request at a time. Every member throws kevo::error: environment if
/// the device, its driver or the process fails, else what kevo-device says.
class device_client {
 public:
  /// @param program path of kevo-device; empty: found
  explicit device_client(int ordinal, const std::string& program = {});
  ~device_client();
  device_client(const device_client&) = delete;
  device_client& operator=(const device_client&) = delete;

  /// What is known of the device; asked once.
  const device_description& facts() const { return facts_; }

  void set_trusted_kernels(const compiled_module& kernels);
  void set_task(const device_task& task);
  contents_made make(const contents_wanted& wanted);
  /// @param inputs the elements of the inputs that are given, behind each other
  contents_made add(const content_given& given, std::string_view inputs);

  struct opened_arena {
    std::uint32_t number = 0;
    std::uint64_t bytes = 0;
    detail::descriptor memory;
  };
  opened_arena open_arena(std::uint64_t bytes);
  /// Gives the memory back once nobody else has it mapped or holds its descriptor.
  void close_arena(std::uint32_t arena);
  worker_answer attach(std::uint32_t arena, int region, int process);
  void detach(std::uint32_t arena);
  worker_answer load(std::uint32_t arena, const compiled_module& candidate);
  /// The object of a hosted program; empty: the trusted empty program.
  worker_answer load_object(std::uint32_t arena, std::string_view object);
  call_result call(const call_wanted& wanted);
  device_ceilings calibrate();
  /// Who computes on the device besides kevo.
  device_users users();

 private:
  std::string ask(device_request kind, std::uint64_t number, std::string_view payload,
                  std::vector<detail::descriptor>* sent = nullptr,
                  std::vector<detail::descriptor>* got = nullptr);

  std::mutex mutex_;
  child_process process_;
  message_socket socket_;
  device_description facts_;
};

}  // namespace kevo::cuda
