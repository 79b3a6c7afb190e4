// Several GPUs of one machine as one fitness function.

#include <memory>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/measure/cuda_fitness.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"
#include "fitness/pool/device_pool.hpp"

namespace kevo {
namespace {

std::vector<int> all_devices() {
  const int count = cuda::device_client(0).facts().devices;
  std::vector<int> numbers;
  for (int number = 0; number < count; ++number) numbers.push_back(number);
  return numbers;
}

}  // namespace

any_fitness cuda_fitness_pool(std::shared_ptr<const task> t, cuda_settings settings,
                              std::vector<int> devices) {
  settings.compilers = std::make_shared<cuda::shared_compilers>();
  // Says at once, as for one device, whether the task can be run. It starts nothing.
  settings.device = devices.empty() ? 0 : devices.front();
  const cuda_fitness tried(t, settings);
  return any_fitness(std::make_shared<device_pool>([t = std::move(t), settings, devices] {
    std::vector<pooled_device> all;
    for (const int number : devices.empty() ? all_devices() : devices) {
      cuda_settings own = settings;
      own.device = number;
      all.push_back({number, any_fitness(std::make_shared<cuda_fitness>(t, std::move(own)))});
    }
    return all;
  }));
}

}  // namespace kevo
