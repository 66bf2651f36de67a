// Whether and how the GPU's decoder is measured, by a device in the GPU's stead that decodes.

#include "programs/doctor_runs.hpp"
#include "support/devices/scripted_device.hpp"

#include <memory>
#include <string>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

doctor::gpu_search find_scripted(int ordinal) {
  const auto device = std::make_shared<scripted_device>();
  auto found = std::make_unique<doctor::gpu>();
  found->device = device;
  found->ordinal = ordinal;
  found->name = "scripted";
  found->free_bytes = found->total_bytes = std::size_t{1} << 30;
  found->stream = device->make_stream();
  found->compute = [](std::chrono::nanoseconds) {};
  found->sync = [device, stream = found->stream] { device->drain(stream); };
  return {std::move(found), {}};
}

doctor_run run_on_gpu(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--gpu", "0", "--batch-size", "10"});
  return run_doctor(std::move(arguments), false, find_scripted);
}

}  // namespace

TEST_CASE("doctor: if the GPU can decode a file, it is measured in windows of chunks",
          "[programs][host]") {
  const temporary_directory folder;
  const std::string file = write_packed(folder).string();
  const auto json =
      run_on_gpu({file, "--read-whole", "0", "--max-readers", "2", "--json", "-"}).json();
  const auto& decoder = json["decoder"];
  CHECK(decoder["not_measured"] == "");
  CHECK(decoder["window_chunks"] == 16);  // the file has 32
  REQUIRE(decoder["readers"].size() == 2);
  CHECK(decoder["readers"][0]["readers"] == 1);
  CHECK(decoder["readers"][1]["readers"] == 2);
  for (const auto& each : decoder["readers"]) CHECK(each["samples_per_second"] > 0);
  CHECK(says(json["recommended"]["reasons"].dump(), "where the GPU decodes, "));
  CHECK(json["loops"][0]["statistics"]["device_could_decode"] == true);
  REQUIRE(json["loops"].size() == 2);
  CHECK(json["loops"][1]["decode_on"] == json["recommended"]["decode_on"]);
}

TEST_CASE("doctor: the report says why the GPU's decoder is not measured", "[programs][host]") {
  const temporary_directory folder;
  const auto why = [](const std::vector<std::string>& arguments) {
    const auto run = run_on_gpu(arguments);
    INFO(run.out);
    const std::string section = "\ndecoding on the GPU, shuffled";
    REQUIRE(says(run.out, section));
    return run.out.substr(run.out.find(section) + section.size(), 200);
  };
  CHECK(says(why({write_packed(folder).string()}),
             "\n  not measured  samples lie in memory, decoded as they were opened"));
  CHECK(says(why({write_damaged(folder).string(), "--read-whole", "0"}),
             "\n  not measured  samples that cannot be read end an epoch that the GPU decodes"));
  const auto without = run_doctor({write_rows(folder).string(), "--json", "-"}).json();
  CHECK(without["decoder"]["not_measured"] == "--no-gpu is set");
}
