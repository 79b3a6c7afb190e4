// kevo-device: the trusted process on one GPU. It links no CUDA, loads the driver, and serves one kevo over
// the local socket at descriptor 3. Usage: kevo-device ORDINAL, or kevo-device --facts ORDINAL for one line
// of text.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <kevo/error.hpp>

#include "fitness/cuda/device/engine.hpp"
#include "fitness/cuda/device/foreign_processes.hpp"
#include "fitness/cuda/device/socket.hpp"
#include "fitness/cuda/wire/wire.hpp"
#include "fitness/process/mapped_file.hpp"

namespace {

using namespace kevo;
using namespace kevo::cuda;
using detail::mapped_file;

constexpr int socket_descriptor = 3;

class server {
 public:
  explicit server(int ordinal) : ordinal_(ordinal) {}

  /// The reply to one request. @throws kevo::error
  message answer(message& request);

 private:
  engine& device() {
    if (!engine_) engine_ = std::make_unique<engine>(ordinal_);
    return *engine_;
  }
  // Asked once: the facts take a while.
  const std::string& uuid() {
    if (uuid_.empty()) uuid_ = device().facts().uuid;
    return uuid_;
  }

  int ordinal_;
  std::unique_ptr<engine> engine_;
  std::string uuid_;
};

template <class T>
T decoded(const std::string& bytes) {
  T value;
  decode(bytes, value);
  return value;
}

message server::answer(message& request) {
  byte_reader from(request.bytes);
  const auto kind = from.get(device_request::close_arena);
  const auto number = from.get<std::uint64_t>();
  const std::string payload = from.get_text();
  from.finish();
  const auto arena = static_cast<std::uint32_t>(number);
  switch (kind) {
    case device_request::hello:
      if (number != device_protocol)
        throw error(error_code::environment, "kevo-device and kevo have different versions", {},
                    "install both from the same build");
      return {encode(device().facts()), {}};
    case device_request::set_trusted_kernels:
      device().set_trusted_kernels(decode_module(payload));
      return {};
    case device_request::set_task:
      device().set_task(decoded<device_task>(payload));
      return {};
    case device_request::make:
      return {encode(device().make(decoded<contents_wanted>(payload))), {}};
    case device_request::add: {
      if (request.descriptors.size() != 1) throw error(error_code::internal, "add needs one descriptor");
      const mapped_file inputs(request.descriptors[0].get());
      return {encode(device().add(decoded<content_given>(payload), inputs.bytes())), {}};
    }
    case device_request::open_arena: {
      const auto opened = device().open_arena(number);
      message reply;
      reply.bytes = byte_writer().put(opened).put(device().arena_bytes(opened)).take();
      reply.descriptors.push_back(device().arena_descriptor(opened));
      return reply;
    }
    case device_request::attach:
      if (request.descriptors.size() != 2) throw error(error_code::internal, "attach needs two descriptors");
      return {encode(device().attach(arena, std::move(request.descriptors[0]),
                                     std::move(request.descriptors[1]))),
              {}};
    case device_request::detach:
      device().detach(arena);
      return {};
    case device_request::load:
      return {encode(device().load(arena, decode_module(payload))), {}};
    case device_request::load_object:
      return {encode(device().load_object(arena, payload)), {}};
    case device_request::call:
      return {encode(device().call(decoded<call_wanted>(payload))), {}};
    case device_request::calibrate:
      return {encode(device().calibrate()), {}};
    case device_request::users:
      return {encode(users_of_device(uuid())), {}};
    case device_request::close_arena:
      device().close_arena(arena);
      return {};
  }
  throw error(error_code::internal, "an unknown request");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: kevo-device ORDINAL (internal; started by kevo)\n", stderr);
    return 2;
  }
  server here(std::atoi(argv[1]));
  message_socket socket{detail::descriptor(socket_descriptor)};
  for (message request; socket.receive(request, std::chrono::hours(24 * 365));) {
    message reply;
    try {
      reply = here.answer(request);
      reply.bytes = byte_writer().put(true).put(std::string_view(reply.bytes)).take();
    } catch (const error& failure) {
      reply = {byte_writer()
                   .put(false)
                   .put(static_cast<std::uint32_t>(failure.code()))
                   .put(std::string_view(failure.message()))
                   .put(std::string_view(failure.hint()))
                   .take(),
               {}};
    } catch (const std::exception& failure) {
      reply = {byte_writer()
                   .put(false)
                   .put(static_cast<std::uint32_t>(error_code::internal))
                   .put(std::string_view(failure.what()))
                   .put(std::string_view())
                   .take(),
               {}};
    }
    if (!socket.send(reply)) break;
  }
  std::fflush(nullptr);
  ::_exit(0);  // contexts end with the process
}
