// Where configurations of models are found.
#include "src/import/model_configs.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/support/shell.hpp"

namespace {

void write_config(const std::string& folder, const std::string& type) {
  std::filesystem::create_directories(folder);
  shell::write_file(folder + "/config.json", R"({"model_type": ")" + type + R"("})");
}

}  // namespace

TEST_CASE("models are found by their names, in plain folders and in the layout of the cache") {
  const shell::scratch folder;
  const auto at = folder.string() + "/";
  write_config(at + "gpt2", "plain");
  write_config(at + "lab/small", "owned");
  write_config(at + "models--lab--large-1.3B/snapshots/aaaa", "old");
  write_config(at + "models--lab--large-1.3B/snapshots/bbbb", "new");
  std::filesystem::create_directories(at + "models--lab--large-1.3B/refs");
  shell::write_file(at + "models--lab--large-1.3B/refs/main", "bbbb\n");
  write_config(at + "models--lone/snapshots/cccc", "without refs");
  write_config(at + "lab/not_named", "not named");

  const auto found = kevo::importing::model_configs(
      folder.string(), "names = ['gpt2', 'lab/small', \"lab/large-1.3B\", 'lone', 'lab/missing']");
  REQUIRE(found.size() == 4);
  CHECK(found.at("gpt2").at("model_type") == "plain");
  CHECK(found.at("lab/small").at("model_type") == "owned");
  CHECK(found.at("lab/large-1.3B").at("model_type") == "new");
  CHECK(found.at("lone").at("model_type") == "without refs");
}

TEST_CASE("a folder that does not exist has no models; a broken file is named") {
  CHECK(kevo::importing::model_configs("/no/such/folder", "gpt2").empty());
  const shell::scratch folder;
  std::filesystem::create_directories(folder / "gpt2");
  shell::write_file(folder / "gpt2/config.json", "{\"model_type\": ");
  CHECK(kevo::importing::model_configs(folder.string(), "another").empty());
  CHECK_THROWS_WITH_AS(kevo::importing::model_configs(folder.string(), "gpt2"),
                       doctest::Contains("gpt2/config.json"), kevo::error);
}

TEST_CASE("the usual folder is that of Hugging Face's variables") {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  };
  set("HOME", "/home/one");
  set("HF_HOME", nullptr);
  set("HF_HUB_CACHE", nullptr);
  CHECK(kevo::importing::usual_model_folder() == "/home/one/.cache/huggingface/hub");
  set("HF_HOME", "/data/hf");
  CHECK(kevo::importing::usual_model_folder() == "/data/hf/hub");
  set("HF_HUB_CACHE", "/data/cache");
  CHECK(kevo::importing::usual_model_folder() == "/data/cache");
}
