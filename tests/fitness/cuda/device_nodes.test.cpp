// Which device nodes the processes on one of several GPUs see.

#include "fitness/cuda/device/device_nodes.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

using kevo::cuda::node_number;
using kevo::cuda::nodes_of_device;

TEST_CASE("the number of a GPU's node is read from what the kernel's driver says of it") {
  const shell::scratch folder;
  const auto gpus = folder / "gpus";
  const auto say = [&](const std::string& address, const std::string& text) {
    std::filesystem::create_directories(gpus / address);
    shell::write_file(gpus / address / "information", text);
  };
  say("0000:3b:00.0",
      "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 42\nBus Location: \t 0000:3b:00.0\nDevice Minor: \t "
      "11\n"
      "GPU Excluded:\t No\n");
  say("0000:3c:00.0", "Device Minor: \t\n");
  say("0000:3d:00.0", "Device Minor: \t one\n");
  say("0000:3e:00.0", "Model: \t\t NVIDIA H100 80GB HBM3\n");
  CHECK(node_number("0000:3B:00.0", gpus) == 11U);
  CHECK(!node_number("0000:3C:00.0", gpus));
  CHECK(!node_number("0000:3D:00.0", gpus));
  CHECK(!node_number("0000:3E:00.0", gpus));
  CHECK(!node_number("0000:3F:00.0", gpus));
}

TEST_CASE("nodes of other GPUs are left out, and where the own one is not known none is") {
  const std::vector<std::string> used = {"/dev/nvidia-caps/nvidia-cap2",
                                         "/dev/nvidia-uvm",
                                         "/dev/nvidia0",
                                         "/dev/nvidia1",
                                         "/dev/nvidia11",
                                         "/dev/nvidiactl"};
  CHECK(nodes_of_device(used, 1) == std::vector<std::string>{"/dev/nvidia-caps/nvidia-cap2",
                                                             "/dev/nvidia-uvm", "/dev/nvidia1",
                                                             "/dev/nvidiactl"});
  CHECK(nodes_of_device(used, std::nullopt) == used);
  CHECK(nodes_of_device(used, 7) == used);
  CHECK(nodes_of_device({}, 0).empty());
}
