// kevo-compile-cuda LIBRARY BUILTINS [INCLUDE_FOLDER...]: one compilation by NVRTC, in a process of its own.
// The job comes on standard input, the answer goes to standard output. NVRTC's C interface is declared here,
// so that nothing of CUDA is needed to build this.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <dlfcn.h>
#include <exception>
#include <string>
#include <vector>

#include "fitness/cuda/compile/message.hpp"

// No build has a clock, and NVRTC accepts no other definitions of __TIME__ and __DATE__: it asks this
// function instead of the C library's.
extern "C" __attribute__((visibility("default"))) std::time_t time(std::time_t* now) noexcept {
  if (now != nullptr) *now = 0;
  return 0;
}

namespace {

using kevo::cuda::compile_answer;
using kevo::cuda::compile_job;
using kevo::cuda::compile_status;

using program = struct opaque_program*;
using status = int;  // nvrtcResult; 0 is success

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

struct nvrtc {
  explicit nvrtc(void* library)
      : version(find<status(int*, int*)>(library, "nvrtcVersion")),
        error_string(find<const char*(status)>(library, "nvrtcGetErrorString")),
        create(find<status(program*, const char*, const char*, int, const char* const*, const char* const*)>(
            library, "nvrtcCreateProgram")),
        add_name(find<status(program, const char*)>(library, "nvrtcAddNameExpression")),
        compile(find<status(program, int, const char* const*)>(library, "nvrtcCompileProgram")),
        lowered_name(find<status(program, const char*, const char**)>(library, "nvrtcGetLoweredName")),
        log_size(find<status(program, std::size_t*)>(library, "nvrtcGetProgramLogSize")),
        log(find<status(program, char*)>(library, "nvrtcGetProgramLog")),
        cubin_size(find<status(program, std::size_t*)>(library, "nvrtcGetCUBINSize")),
        cubin(find<status(program, char*)>(library, "nvrtcGetCUBIN")),
        ptx_size(find<status(program, std::size_t*)>(library, "nvrtcGetPTXSize")),
        ptx(find<status(program, char*)>(library, "nvrtcGetPTX")) {}

  bool complete() const {
    return version && error_string && create && add_name && compile && lowered_name && log_size && log &&
           cubin_size && cubin && ptx_size && ptx;
  }

  status (*version)(int*, int*);
  const char* (*error_string)(status);
  status (*create)(program*, const char*, const char*, int, const char* const*, const char* const*);
  status (*add_name)(program, const char*);
  status (*compile)(program, int, const char* const*);
  status (*lowered_name)(program, const char*, const char**);
  status (*log_size)(program, std::size_t*);
  status (*log)(program, char*);
  status (*cubin_size)(program, std::size_t*);
  status (*cubin)(program, char*);
  status (*ptx_size)(program, std::size_t*);
  status (*ptx)(program, char*);
};

std::string text_of(program p, status (*size)(program, std::size_t*), status (*get)(program, char*)) {
  std::size_t bytes = 0;
  if (size(p, &bytes) != 0 || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (get(p, text.data()) != 0) return {};
  return text;
}

void drop_final_zero(std::string& text) {
  if (!text.empty() && text.back() == '\0') text.pop_back();
}

compile_answer unavailable(const std::string& why) {
  compile_answer answer;
  answer.message = why;
  return answer;
}

compile_answer compile(const compile_job& job, const nvrtc& api, const std::vector<std::string>& folders) {
  compile_answer answer;
  int major = 0;
  int minor = 0;
  api.version(&major, &minor);
  answer.major = major;
  answer.minor = minor;
  std::vector<const char*> headers;
  std::vector<const char*> names;
  for (std::size_t i = 1; i < job.sources.size(); ++i) {
    headers.push_back(job.sources[i].text.c_str());
    names.push_back(job.sources[i].name.c_str());
  }
  program p = nullptr;
  if (const auto code = api.create(&p, job.sources.front().text.c_str(), job.sources.front().name.c_str(),
                                   static_cast<int>(headers.size()), headers.data(), names.data())) {
    return unavailable(std::string("NVRTC refuses a program: ") + api.error_string(code));
  }
  for (const auto& kernel : job.kernels) api.add_name(p, kernel.c_str());
  std::vector<std::string> options = job.options;
  for (const auto& folder : folders) options.push_back("-I" + folder);
  std::vector<const char*> pointers;
  pointers.reserve(options.size());
  for (const auto& option : options) pointers.push_back(option.c_str());
  const auto code = api.compile(p, static_cast<int>(pointers.size()), pointers.data());
  answer.log = text_of(p, api.log_size, api.log);
  drop_final_zero(answer.log);
  if (code != 0) {
    // 6: the source does not compile. Others: wrong options, no memory, no builtins, internal errors.
    answer.status = code == 6 ? compile_status::failed : compile_status::unavailable;
    answer.message = api.error_string(code);
    if (answer.status == compile_status::unavailable && !answer.log.empty())
      answer.message += ": " + answer.log;
    return answer;
  }
  answer.cubin = text_of(p, api.cubin_size, api.cubin);
  answer.ptx = text_of(p, api.ptx_size, api.ptx);
  drop_final_zero(answer.ptx);
  for (const auto& kernel : job.kernels) {
    const char* symbol = nullptr;
    if (api.lowered_name(p, kernel.c_str(), &symbol) != 0 || symbol == nullptr) {
      answer.status = compile_status::failed;
      answer.message = "unknown kernel " + kernel;
      return answer;
    }
    answer.symbols.emplace_back(symbol);
  }
  answer.status = compile_status::compiled;
  return answer;
}

std::string read_all(std::FILE* file) {
  std::string text;
  char block[65536];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, file)) > 0;) text.append(block, got);
  return text;
}

compile_answer work(int count, char** arguments) {
  if (count < 3)
    return unavailable(
        "usage: kevo-compile-cuda LIBRARY BUILTINS [INCLUDE_FOLDER...] (internal; started by kevo)");
  // NVRTC asks the loader for its builtins by name only; loaded before, they are found wherever they are.
  ::dlopen(arguments[2], RTLD_NOW | RTLD_GLOBAL);
  void* library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unavailable(::dlerror());
  const nvrtc api(library);
  if (!api.complete())
    return unavailable(std::string(arguments[1]) + " lacks functions of NVRTC 11.2 or newer");
  const auto job = kevo::cuda::decode_compile_job(read_all(stdin));
  if (job.sources.empty()) return unavailable("a job without sources");
  return compile(job, api, std::vector<std::string>(arguments + 3, arguments + count));
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const auto answer = kevo::cuda::encode(work(count, arguments));
    const bool good = std::fwrite(answer.data(), 1, answer.size(), stdout) == answer.size();
    return good && std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kevo-compile-cuda: %s\n", e.what());
    return 1;
  }
}
