// The functions of NVRTC that kevo-compile-cuda loads. A source with "#error" does not compile.

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/fake_cuda/image.hpp"

namespace {

struct program {
  std::string source;
  std::string file;
  std::vector<std::string> names;
  std::string log;
  std::string image;
};

constexpr int success = 0;
constexpr int failed_compilation = 6;

int give(const std::string& text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return success;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int nvrtcVersion(int* major, int* minor) {
  *major = 0;
  *minor = 1;
  return success;
}
EXPORTED const char* nvrtcGetErrorString(int code) {
  return code == failed_compilation ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}
EXPORTED int nvrtcCreateProgram(program** made, const char* source, const char* file, int, const char* const*,
                                const char* const*) {
  *made = new program{source, file, {}, {}, {}};
  return success;
}
EXPORTED int nvrtcAddNameExpression(program* p, const char* name) {
  p->names.emplace_back(name);
  return success;
}
EXPORTED int nvrtcCompileProgram(program* p, int, const char* const*) {
  if (p->source.find("#error") != std::string::npos) {
    p->log = p->file + "(1): error: #error directive\n";
    return failed_compilation;
  }
  const auto kernels = fake_cuda::kernels_of(p->source);
  for (const auto& kernel : kernels) {
    p->log += "ptxas info    : Compiling entry function '" + kernel.name +
              "' for 'sm_90a'\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
  }
  p->image = fake_cuda::make_image(kernels, p->source);
  return success;
}
EXPORTED int nvrtcGetLoweredName(program* p, const char* name, const char** lowered) {
  for (const auto& known : p->names) {
    if (known == name) {
      *lowered = known.c_str();
      return success;
    }
  }
  return failed_compilation;
}
EXPORTED int nvrtcGetProgramLogSize(program* p, std::size_t* bytes) {
  *bytes = p->log.size() + 1;
  return success;
}
EXPORTED int nvrtcGetProgramLog(program* p, char* to) {
  std::memcpy(to, p->log.c_str(), p->log.size() + 1);
  return success;
}
EXPORTED int nvrtcGetCUBINSize(program* p, std::size_t* bytes) {
  *bytes = p->image.size();
  return success;
}
EXPORTED int nvrtcGetCUBIN(program* p, char* to) {
  return give(p->image, to);
}
EXPORTED int nvrtcGetPTXSize(program*, std::size_t* bytes) {
  *bytes = 0;
  return success;
}
EXPORTED int nvrtcGetPTX(program*, char*) {
  return success;
}
