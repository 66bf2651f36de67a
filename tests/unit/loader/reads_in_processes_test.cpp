#include <feedline/backend/device.hpp>
#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/ragged/dataset.hpp>
#include <feedline/ragged/pack.hpp>
#include <feedline/ragged/pad.hpp>
#include <feedline/sampler/sequential.hpp>

#include "loader/plan/resolved_plan.hpp"
#include "staging/request_layout.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

using namespace feedline;

namespace {

/// A dataset that other processes read.
class read_elsewhere : public dataset {
 public:
  std::uint64_t size() const override { return 1000; }
  std::vector<field> fields() const override { return {{"x", element_type::u8, {4}}}; }
  unsigned reads_in_processes() const override { return 6; }

 private:
  void do_read(const read_request& request) const override {
    std::ranges::fill(request.out[0], std::byte{1});
  }
};

int readers_of(const dataset_ptr& of) {
  const device_capabilities device{.name = "gpu"};
  return detail::resolve(*of, sequential{}, device, {.batch_size = 10}).report.readers;
}

}  // namespace

TEST_CASE("plan: as many readers wait for processes as these serve at once, in any composition",
          "[loader][host]") {
  const auto elsewhere = std::make_shared<const read_elsewhere>();
  CHECK(readers_of(elsewhere) == 6);
  std::vector<std::uint64_t> offsets(1001);
  std::iota(offsets.begin(), offsets.end(), 0);
  CHECK(readers_of(subset(elsewhere, {sample_index{3}, sample_index{4}})) == 6);
  CHECK(readers_of(concatenate({elsewhere, elsewhere})) == 6);
  CHECK(readers_of(select(elsewhere, {{"x", "y"}})) == 6);
  CHECK(readers_of(feedline::zip({elsewhere, select(elsewhere, {{"x", "y"}})})) == 6);
  const auto numbers = make_ragged_dataset(select(elsewhere, {{"x", "x"}}),
                                           make_memory_dataset({own("offset", offsets)}));
  CHECK(readers_of(pad(numbers, {})) == 6);
  CHECK(readers_of(pack(numbers, {.capacity = 9})) == 6);
  const auto same = [](sample_index, std::span<const std::span<const std::byte>> in,
                       std::span<const std::span<std::byte>> out) {
    std::ranges::copy(in[0], out[0].begin());
  };
  CHECK(readers_of(map(elsewhere, elsewhere->fields(), sample_transform{same})) == 6);
}

TEST_CASE("plan: a message to a process is for several samples, unless processes would have none",
          "[loader][host]") {
  const auto smallest_request = [](const dataset_ptr& of, int readers, std::uint64_t samples) {
    const device_capabilities device{.name = "gpu"};
    const loader_options options{.batch_size = 256, .readers = readers};
    const auto plan = detail::resolve(*of, sequential{}, device, options).slots;
    return detail::request_partition{plan}.next(samples).request_samples();
  };
  const auto elsewhere = std::make_shared<const read_elsewhere>();
  const auto here = test::make_identity_dataset(1000, 4);
  CHECK(smallest_request(elsewhere, 28, 256) == 8);
  CHECK(smallest_request(elsewhere, 28, 64) == 4);
  CHECK(smallest_request(here, 28, 64) == 1);
}
