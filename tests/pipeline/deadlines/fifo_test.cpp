/// A file that hangs, as on a lost network mount: a FIFO without a writer.

#include <feedline/deadline_error.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/threads.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/overshoot.hpp"
#include "support/files/temporary_directory.hpp"

#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// One file a sample, which holds the sample's number as one byte.
class file_per_sample final : public dataset {
 public:
  explicit file_per_sample(std::vector<std::filesystem::path> paths) : paths_{std::move(paths)} {}

  [[nodiscard]] std::uint64_t size() const override { return paths_.size(); }
  [[nodiscard]] std::vector<field> fields() const override {
    return {{"number", element_type::u8, {}}};
  }
  void do_read(const read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      std::ifstream file{paths_[request.samples[i].value]};
      const int byte = file.get();
      if (byte == std::ifstream::traits_type::eof())
        throw dataset_error{{.path = paths_[request.samples[i].value],
                             .field = {},
                             .sample = request.samples[i].value},
                            "the file is empty"};
      request.out[0][i] = static_cast<std::byte>(byte);
    }
  }

 private:
  std::vector<std::filesystem::path> paths_;
};

/// Eight files; number 5 is a FIFO. Loaders have a slot for each: one that it shared would hold
/// back the batches beside it.
struct mount {
  static constexpr std::size_t hanging = 5;

  mount() {
    for (std::size_t i = 0; i < 8; ++i) {
      if (i == hanging) {
        paths.push_back(files.path() / "fifo");
        REQUIRE(::mkfifo(paths.back().c_str(), 0600) == 0);
      } else {
        paths.push_back(files.write("file" + std::to_string(i), std::array{std::byte(i)}));
      }
    }
  }
  /// Lets one read come to its end. Blocks until it has opened the FIFO.
  void write(const std::string& bytes) const { std::ofstream{paths[hanging]} << bytes; }

  temporary_directory files;
  std::vector<std::filesystem::path> paths;
};

std::uint8_t number_in(const std::optional<batch>& taken) {
  const batch& one = taken.value();
  return one["number"].data<std::uint8_t>()[0];
}

}  // namespace

TEST_CASE(
    "deadline: a file that hangs is named by its sample within 10 ms of the deadline, and delivery "
    "continues when it answers",
    "[loader][host]") {
  const int readers = GENERATE(1, 2);
  const mount files;
  loader loader{std::make_shared<file_per_sample>(files.paths),
                sequential{},
                make_host_device(),
                {.batch_size = 1, .readers = readers, .expert = {.batches_per_slot = 1}}};
  auto range = loader.epoch(0);
  for (std::uint8_t i = 0; i < files.hanging; ++i) CHECK(number_in(range.next()) == i);
  const overshoot missed{[&](auto deadline) { return range.next(deadline); }};
  CHECK(missed.least < std::chrono::milliseconds{10});
  CHECK(missed.where.sample == std::uint64_t{files.hanging});
  CHECK(missed.message.find("reads sample 5 (epoch 0, batch 5)") != std::string::npos);
  files.write("\5");
  for (std::uint8_t i = files.hanging; i < 8; ++i) CHECK(number_in(range.next()) == i);
  CHECK_FALSE(range.next());
}

TEST_CASE(
    "destruction: the read of a file that hangs is abandoned, and its later failure does no harm",
    "[loader][host]") {
  const mount files;
  const log_capture log{spdlog::level::err};
  auto data = std::make_shared<file_per_sample>(files.paths);
  const std::weak_ptr<const dataset> kept = data;
  {
    loader loader{
        std::exchange(data, nullptr),
        sequential{},
        make_host_device(),
        {.batch_size = 1,
         .readers = 2,
         .expert = {.batches_per_slot = 1, .leave_reads_after = std::chrono::milliseconds{20}}}};
    auto range = loader.epoch(0);
    for (std::size_t i = 0; i < files.hanging; ++i) REQUIRE(range.next());
    const overshoot missed{[&](auto deadline) { return range.next(deadline); }};
    CHECK(missed.where.sample == std::uint64_t{files.hanging});
  }
  CHECK(log.text().find("reads sample 5 (epoch 0, batch 5)") != std::string::npos);
  CHECK_FALSE(kept.expired());
  files.write("");
  detail::poll_until([&] { return kept.expired(); });
}
