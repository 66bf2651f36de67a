#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <string>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("loader: one that is made and consumed prints nothing unless debugging is asked for",
          "[loader][host]") {
  std::string plan;
  const auto told_from = [&](spdlog::level::level_enum level) {
    const log_capture log{level};
    loader loader{make_identity_rows(8, 8), sequential{}, make_host_device(), {.batch_size = 4}};
    plan = to_string(loader.plan());
    for ([[maybe_unused]] const batch& batch : loader.epoch(0)) {
    }
    return log.text();
  };
  CHECK(told_from(spdlog::level::info).empty());
  CHECK(told_from(spdlog::level::debug).find(plan) != std::string::npos);
}
