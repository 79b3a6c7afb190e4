#include "fitness/cuda/device/client.hpp"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <kevo/error.hpp>

#include "fitness/cuda/wire/wire.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/process/memory_file.hpp"

namespace kevo::cuda {
namespace {

constexpr auto answer_limit = std::chrono::minutes(10);

template <class T>
T decoded(const std::string& bytes) {
  T value;
  decode(bytes, value);
  return value;
}

}  // namespace

device_client::device_client(int ordinal, const std::string& program) {
  auto ends = socket_pair();
  launch_spec spec;
  spec.argv = {program.empty() ? own_program("kevo-device", "KEVO_DEVICE") : program,
               std::to_string(ordinal)};
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "HOME"}) {
    if (const char* value = std::getenv(name)) spec.environment.push_back(std::string(name) + "=" + value);
  }
  spec.environment.emplace_back("CUDA_MODULE_LOADING=EAGER");
  spec.file_descriptors = {{ends.second.get(), 3}};
  spec.limits.wall_s = 0;
  spec.sandbox = sandbox_mode::off;  // trusted
  process_ = launch(spec);
  ends.second.reset();
  socket_ = message_socket(std::move(ends.first));
  facts_ = decoded<device_description>(ask(device_request::hello, device_protocol, {}));
}

device_client::~device_client() {
  if (process_) process_.kill();
}

std::string device_client::ask(device_request kind, std::uint64_t number, std::string_view payload,
                               std::vector<detail::descriptor>* sent, std::vector<detail::descriptor>* got) {
  const std::lock_guard one_at_a_time(mutex_);
  message request;
  request.bytes = byte_writer().put(kind).put(number).put(payload).take();
  if (sent != nullptr) request.descriptors = std::move(*sent);
  message reply;
  if (!socket_.send(request) || !socket_.receive(reply, answer_limit)) {
    process_.kill();
    const auto report = process_.wait();
    throw error(error_code::environment,
                "kevo-device has ended (" + describe(report) + ")" +
                    (report.err.empty() ? "" : ": " + report.err.substr(0, 500)),
                {}, "run `kevo doctor`, then continue with `kevo resume`");
  }
  byte_reader from(reply.bytes);
  if (!from.get<bool>()) {
    const auto code = from.get<std::uint32_t>();
    const std::string text = from.get_text();
    const std::string hint = from.get_text();
    throw error(static_cast<error_code>(
                    std::min<std::uint32_t>(code, static_cast<std::uint32_t>(error_code::internal))),
                text, {}, hint);
  }
  if (got != nullptr) *got = std::move(reply.descriptors);
  std::string answer = from.get_text();
  from.finish();
  return answer;
}

void device_client::set_trusted_kernels(const compiled_module& kernels) {
  ask(device_request::set_trusted_kernels, 0, encode(kernels));
}
void device_client::set_task(const device_task& task) {
  ask(device_request::set_task, 0, encode(task));
}
contents_made device_client::make(const contents_wanted& wanted) {
  return decoded<contents_made>(ask(device_request::make, 0, encode(wanted)));
}
// In memory that kevo-device alone is given.
contents_made device_client::add(const content_given& given, std::string_view inputs) {
  std::vector<detail::descriptor> sent;
  sent.push_back(detail::memory_file("kevo-inputs", inputs));
  return decoded<contents_made>(ask(device_request::add, 0, encode(given), &sent));
}
device_client::opened_arena device_client::open_arena(std::uint64_t bytes) {
  std::vector<detail::descriptor> got;
  const std::string answer = ask(device_request::open_arena, bytes, {}, nullptr, &got);
  byte_reader from(answer);
  opened_arena opened;
  opened.number = from.get<std::uint32_t>();
  opened.bytes = from.get<std::uint64_t>();
  if (got.size() != 1) throw error(error_code::internal, "kevo-device sent no arena");
  opened.memory = std::move(got.front());
  return opened;
}
void device_client::close_arena(std::uint32_t arena) {
  ask(device_request::close_arena, arena, {});
}
worker_answer device_client::attach(std::uint32_t arena, int region, int process) {
  std::vector<detail::descriptor> sent;
  sent.emplace_back(::dup(region));
  sent.emplace_back(::dup(process));
  return decoded<worker_answer>(ask(device_request::attach, arena, {}, &sent));
}
void device_client::detach(std::uint32_t arena) {
  ask(device_request::detach, arena, {});
}
worker_answer device_client::load(std::uint32_t arena, const compiled_module& candidate) {
  return decoded<worker_answer>(ask(device_request::load, arena, encode(candidate)));
}
worker_answer device_client::load_object(std::uint32_t arena, std::string_view object) {
  return decoded<worker_answer>(ask(device_request::load_object, arena, object));
}
call_result device_client::call(const call_wanted& wanted) {
  return decoded<call_result>(ask(device_request::call, 0, encode(wanted)));
}
device_ceilings device_client::calibrate() {
  return decoded<device_ceilings>(ask(device_request::calibrate, 0, {}));
}
device_users device_client::users() {
  return decoded<device_users>(ask(device_request::users, 0, {}));
}

}  // namespace kevo::cuda
