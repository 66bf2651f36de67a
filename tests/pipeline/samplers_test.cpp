/// Samplers that leave out and repeat: a loader delivers their order, on every path, for any
/// number of readers; and bad input is refused before a thread starts.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/tokens.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/class_balanced.hpp>
#include <feedline/sampler/explicit_order.hpp>
#include <feedline/sampler/mixture.hpp>
#include <feedline/sampler/scheduled_mixture.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/sampler/take.hpp>
#include <feedline/sampler/weighted.hpp>
#include <feedline/testing/checked.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/checks/sampler_contract.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 331;  // a prime: nothing divides it

/// Each with epochs of its own length, over `sample_count` samples.
std::vector<std::pair<std::string, sampler>> all_samplers() {
  std::vector<double> weights;
  std::vector<std::int64_t> labels;
  std::vector<std::uint64_t> indices;
  for (std::uint64_t i = 0; i < sample_count; ++i) {
    weights.push_back(static_cast<double>(i % 9));
    labels.push_back(i == 0 ? 0 : i % 3 == 0 ? 1 : 2);
    indices.push_back(i * i % sample_count);
  }
  return {{"weighted", weighted{weights, {.seed = 1, .epoch_size = 500}}},
          {"weighted without replacement",
           weighted{weights, {.seed = 1, .epoch_size = 100, .replacement = false}}},
          {"class_balanced", class_balanced{labels, {.seed = 1}}},
          {"mixture", mixture{std::vector<std::uint64_t>{300, 31}, {1, 1}, {.seed = 1}}},
          {"scheduled mixture",
           scheduled_mixture{
               std::vector<std::uint64_t>{300, 31}, {{0, {1, 0}}, {700, {1, 3}}}, {.seed = 1}}},
          {"explicit_order", explicit_order{indices}},
          {"take", take{shuffle{.seed = 1}, 100}},
          {"checked", checked{take{shuffle{.seed = 1}, 0.5, take_from::epoch_begin}}}};
}

}  // namespace

TEST_CASE("samplers: a loader delivers the order, on every path, with and without readers",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  for (const auto& [name, order] : all_samplers()) {
    INFO(name << ", " << to_string(through));
    std::vector<std::uint64_t> expected;
    for (std::uint64_t epoch = 2; epoch < 5; ++epoch)
      for (const std::uint64_t sample : epoch_of(order, sample_count, epoch))
        expected.push_back(sample);
    for (const int readers : {0, 3}) {
      const path_setup by{through};
      loader loader = by.load(make_identity_rows(sample_count, 37), order,
                              {.batch_size = 16, .readers = readers});
      std::vector<std::uint64_t> delivered;
      for (const seen_batch& batch : consume_epochs(loader, by, 3, 2)) {
        REQUIRE(batch.intact);
        delivered.insert(delivered.end(), batch.samples.begin(), batch.samples.end());
      }
      CHECK(delivered == expected);
    }
  }
}

TEST_CASE("samplers: a mixture of token shards delivers each dataset's windows in proportion",
          "[loader][host]") {
  const temporary_directory folder;
  // Tokens of the first are below 1000, those of the second are not.
  std::vector<std::uint16_t> first(401);
  std::vector<std::uint16_t> second(81);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<std::uint16_t>(i);
  for (std::size_t i = 0; i < second.size(); ++i) second[i] = static_cast<std::uint16_t>(1000 + i);
  const auto open = [&](const char* name, const std::vector<std::uint16_t>& tokens) {
    return open_tokens({folder.write(name, memory_of(tokens)).string()},
                       {.tokens_per_sample = 4, .type = element_type::u16});
  };
  const std::vector<dataset_ptr> parts{open("a.bin", first), open("b.bin", second)};
  REQUIRE(parts[0]->size() == 100);
  REQUIRE(parts[1]->size() == 20);
  const mixture order{parts, {3, 1}, {.seed = 1, .epoch_size = 80}};
  loader loader{concatenate(parts), order, make_host_device(), {.batch_size = 8, .readers = 2}};
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::uint64_t> windows;
    for (const batch& batch : loader.epoch(epoch)) {
      const auto inputs = batch["input"].values<std::uint16_t>();
      for (std::size_t i = 0; i < inputs.size(); i += 4)
        windows.push_back(inputs[i] < 1000 ? inputs[i] / 4U : 100 + (inputs[i] - 1000U) / 4);
    }
    CHECK(windows == epoch_of(order, 120, epoch));
    CHECK(std::count_if(windows.begin(), windows.end(), [](auto one) { return one < 100; }) == 60);
  }
}

TEST_CASE("samplers: one that does not suit the dataset is refused before a thread starts",
          "[loader][host]") {
  const auto refusal = [](const sampler& order) {
    return message_of<usage_error>([&] {
      loader{make_identity_dataset(sample_count + 1, 8), order, make_host_device(), {}};
    });
  };
  const std::string other = ", but the dataset has 332 samples; give it those of this dataset";
  const auto orders = all_samplers();
  CHECK(refusal(orders[0].second) == "weighted: there are 331 weights" + other);
  CHECK(refusal(orders[1].second) == "weighted: there are 331 weights" + other);
  CHECK(refusal(orders[2].second) == "class_balanced: there are 331 labels" + other);
  CHECK(refusal(orders[3].second) == "mixture: there are 331 samples in the parts" + other);
  CHECK(refusal(explicit_order{std::vector<std::uint64_t>{0, 332}})
            .find("explicit_order: index 332 at position 1") == 0);
}

namespace {

/// Each answer differs, as in a user's sampler that draws from a generator.
struct generating {
  std::uint64_t size(std::uint64_t samples) const { return samples; }
  void indices(std::uint64_t samples, std::uint64_t /*epoch*/, position /*first*/,
               std::span<sample_index> out) const {
    for (sample_index& one : out) one = {drawn->fetch_add(1) % samples};
  }
  std::shared_ptr<std::atomic<std::uint64_t>> drawn =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace

TEST_CASE("samplers: a sampler that is not pure is refused by its check before a thread starts",
          "[loader][host]") {
  const std::string message = message_of<usage_error>([] {
    loader{make_identity_dataset(100, 8), checked{generating{}}, make_host_device(), {}};
  });
  CHECK(message.find("checked: the sampler is not pure: at position 50 of epoch 0") == 0);
}
