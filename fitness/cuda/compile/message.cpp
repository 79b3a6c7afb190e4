#include "fitness/cuda/compile/message.hpp"

#include "fitness/cuda/wire/wire.hpp"

namespace kevo::cuda {
namespace {

constexpr std::uint32_t job_format = 0x6b6a0001;
constexpr std::uint32_t answer_format = 0x6b610001;

void put_texts(byte_writer& to, const std::vector<std::string>& texts) {
  to.put_all(texts, [](byte_writer& w, const std::string& text) { w.put(std::string_view(text)); });
}
std::vector<std::string> get_texts(byte_reader& from) {
  return from.get_all<std::string>(8, [](byte_reader& r) { return r.get_text(); });
}

}  // namespace

std::string encode(const compile_job& job) {
  byte_writer to;
  to.put(job_format);
  put_texts(to, job.options);
  put_texts(to, job.kernels);
  to.put_all(job.sources, [](byte_writer& w, const source_text& s) { w.put(s.name).put(s.text); });
  return to.take();
}

compile_job decode_compile_job(std::string_view bytes) {
  byte_reader from(bytes);
  if (from.get<std::uint32_t>() != job_format) byte_reader::fail("a job of another format");
  compile_job job;
  job.options = get_texts(from);
  job.kernels = get_texts(from);
  job.sources = from.get_all<source_text>(16, [](byte_reader& r) {
    auto name = r.get_text();
    return source_text{std::move(name), r.get_text()};
  });
  from.finish();
  return job;
}

std::string encode(const compile_answer& answer) {
  byte_writer to;
  to.put(answer_format).put(answer.status).put(answer.message).put(answer.log);
  to.put(answer.cubin).put(answer.ptx);
  put_texts(to, answer.symbols);
  to.put(answer.major).put(answer.minor);
  return to.take();
}

compile_answer decode_compile_answer(std::string_view bytes) {
  byte_reader from(bytes);
  if (from.get<std::uint32_t>() != answer_format) byte_reader::fail("an answer of another format");
  compile_answer answer;
  answer.status = from.get(compile_status::unavailable);
  answer.message = from.get_text();
  answer.log = from.get_text();
  answer.cubin = from.get_text();
  answer.ptx = from.get_text();
  answer.symbols = get_texts(from);
  answer.major = from.get<std::int32_t>();
  answer.minor = from.get<std::int32_t>();
  from.finish();
  return answer;
}

}  // namespace kevo::cuda
