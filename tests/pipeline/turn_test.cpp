/// A dataset that says serialized is read by one thread at a time, whichever thread asks, on any
/// path.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/ragged/pad.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/datasets/serialized_dataset.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 64;

/// Writes down how many threads are in a read at once.
struct reads {
  int inside = 0;  // no atomics: the thread sanitizer judges as well
  int most = 0;

  void look() {
    most = std::max(most, ++inside);
    for (int i = 0; i < 200; ++i) std::this_thread::yield();
    --inside;
  }
};

/// Two datasets made of one, whose readers meet before they come to it for the first time.
struct pair_of_datasets {
  std::string name;
  std::function<std::pair<dataset_ptr, dataset_ptr>(const dataset_ptr& of)> make;
};

dataset_ptr same(const dataset_ptr& of) {
  return map(of, of->fields(), [](sample_index, auto in, auto out) {
    for (std::size_t f = 0; f < in.size(); ++f)
      std::memcpy(out[f].data(), in[f].data(), in[f].size());
  });
}

dataset_ptr padded(const dataset_ptr& of) {
  std::vector<std::uint64_t> offsets(sample_count + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  return pad(make_ragged_dataset(of, make_memory_dataset({own("offset", std::move(offsets))})));
}

/// Samples of one element. No dataset below it has turns, so its own turns must do.
class own_ragged final : public ragged_dataset {
 public:
  explicit own_ragged(reads& seen) : seen_{seen} {}

  std::uint64_t size() const override { return sample_count; }
  field element() const override { return {"value", element_type::u32, {}}; }
  std::uint64_t length(sample_index) const override { return 1; }
  read_concurrency concurrency() const override { return read_concurrency::serialized; }

 private:
  void do_read(std::span<const element_run> runs) const override {
    seen_.look();
    for (const element_run& run : runs) std::ranges::fill(run.out, std::byte{1});
  }

  reads& seen_;
};

/// A dataset of a user's that reads another one, and says nothing of turns.
class forwarding final : public dataset {
 public:
  explicit forwarding(dataset_ptr of) : of_{std::move(of)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return of_->fields(); }

 private:
  void do_read(const read_request& request) const override { of_->read(request); }

  dataset_ptr of_;
};

std::vector<pair_of_datasets> pairs() {
  return {
      {"the dataset itself",
       [](const auto& of) {
         return std::pair{of, of};
       }},
      {"halves",
       [](const auto& of) {
         return std::pair{subset(of, sample_index{0}, 32), subset(of, sample_index{32}, 32)};
       }},
      {"a map, and the dataset",
       [](const auto& of) {
         return std::pair{same(of), of};
       }},
      {"concatenations",
       [](const auto& of) {
         return std::pair{concatenate({of, of}), concatenate({of})};
       }},
      {"a zip, and a subset of a map",
       [](const auto& of) {
         return std::pair{zip({make_identity_dataset(sample_count, 8), of}),
                          subset(same(of), sample_index{5}, 20)};
       }},
      {"ragged datasets",
       [](const auto& of) {
         return std::pair{padded(of), padded(of)};
       }},
      {"datasets of a user's that say they are parallel",
       [](const auto& of) {
         return std::pair{std::make_shared<const forwarding>(of),
                          std::make_shared<const forwarding>(of)};
       }},
  };
}

/// One field, "value", so that anything can be made of it; it must be read, because it is not in
/// memory.
dataset_ptr numbers() {
  std::vector<std::uint32_t> values(sample_count);
  std::iota(values.begin(), values.end(), 0U);
  return std::make_shared<const serialized_dataset>(
      make_memory_dataset({own("value", std::move(values))}));
}

/// Runs an epoch of two loaders, which first meet.
void load_both(const dataset_ptr& left, const dataset_ptr& right) {
  std::barrier meeting{2};
  const auto meet = [&meeting](const dataset_ptr& of) {
    return gated(of, [&meeting, first = std::make_shared<std::atomic<bool>>(true)](auto) {
      if (first->exchange(false)) meeting.arrive_and_wait();
    });
  };
  const loader_options options{.batch_size = 4, .readers = 2, .expert = {.batches_per_slot = 1}};
  loader one{meet(left), sequential{}, make_host_device(), options};
  loader two{meet(right), sequential{}, make_host_device(), options};
  auto first = one.epoch(0);
  auto second = two.epoch(0);
  std::uint64_t batches = 0;
  for (batch& batch : first) batches += batch.size() != 0 ? 1 : 0;
  for (batch& batch : second) batches += batch.size() != 0 ? 1 : 0;
  CHECK(batches == (left->size() + 3) / 4 + (right->size() + 3) / 4);
}

}  // namespace

TEST_CASE("serialized dataset: two loaders over parts of it are never in its read at once",
          "[dataset][loader][host]") {
  for (const pair_of_datasets& pair : pairs()) {
    CAPTURE(pair.name);
    reads seen;
    const auto [left, right] = pair.make(gated(
        numbers(), [&](auto) { seen.look(); }, read_concurrency::serialized));
    load_both(left, right);
    CHECK(seen.most == 1);
  }
}

TEST_CASE("serialized dataset: a ragged dataset takes turns by itself", "[dataset][loader][host]") {
  reads seen;
  const auto ragged = std::make_shared<const own_ragged>(seen);
  load_both(pad(ragged), pad(ragged));
  CHECK(seen.most == 1);
}

TEST_CASE("serialized dataset: a read that calls the same dataset again does not wait for itself",
          "[dataset][host]") {
  dataset_ptr whole;
  int depth = 0;
  std::vector<int> depths;
  whole = gated(
      numbers(),
      [&](auto) {
        if (depth == 2) return;
        ++depth;
        depths.push_back(depth);
        (void)read_sample(*subset(whole, sample_index{3}, 2), sample_index{1});
        --depth;
      },
      read_concurrency::serialized);
  loader_options options{.batch_size = 64, .readers = 1};
  options.expert.request_bytes = 64 * 1024;  // the batch is one read
  loader once{whole, sequential{}, make_host_device(), options};
  for (batch& batch : once.epoch(0)) CHECK(batch["value"].values<std::uint32_t>()[63] == 63);
  CHECK(depths == std::vector<int>{1, 2});
}

TEST_CASE("serialized dataset: loading it into memory and a loader are never in its read at once",
          "[dataset][loader][host]") {
  reads seen;
  const auto of = gated(
      numbers(), [&](auto) { seen.look(); }, read_concurrency::serialized);
  std::barrier meeting{2};
  std::thread other{[&] {
    meeting.arrive_and_wait();
    for (int i = 0; i < 20; ++i) (void)load_into_memory(of);
  }};
  loader loader{of, sequential{}, make_host_device(), {.batch_size = 4, .readers = 0}};
  meeting.arrive_and_wait();
  std::uint64_t batches = 0;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch)
    for (batch& batch : loader.epoch(epoch)) batches += batch.size() != 0 ? 1 : 0;
  other.join();
  CHECK(batches == 4 * sample_count / 4);
  CHECK(seen.most == 1);
}
