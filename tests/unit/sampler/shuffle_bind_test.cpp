#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "sampler/chunk_order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/chunked_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using feedline::detail::chunk_order;

namespace {

template <class Order>
std::vector<sample_index> epoch_of(const Order& order, std::uint64_t samples) {
  std::vector<sample_index> out(samples);
  order.indices(samples, 2, position{0}, out);
  return out;
}

dataset_ptr stored(std::uint64_t samples, chunking how) {
  return test::make_chunked(test::make_identity_dataset(samples, 8), how);
}

/// Warning that is logged when a loader binds the order.
std::string warning(const shuffle& order, std::uint64_t samples, chunking how,
                    std::uint64_t batch_size) {
  const test::log_capture log;
  (void)sampler{order}.bind(*stored(samples, how), batch_size);
  return log.text();
}

/// A user's own sampler around a shuffle: the second half of its order.
struct half {
  sampler all;

  std::uint64_t size(std::uint64_t samples) const { return samples / 2; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    all.indices(samples, epoch, position{samples - samples / 2 + first.value}, out);
  }
  half bind(const dataset& of, std::uint64_t batch_size) const {
    return {all.bind(of, batch_size)};
  }
};

constexpr chunking all_kept{.samples = 16, .bytes = 128, .kept = 1000};

}  // namespace

TEST_CASE("shuffle: which samplers want to see the dataset is known at compile time",
          "[sampler][host]") {
  STATIC_REQUIRE(bindable_sampler<shuffle>);
  STATIC_REQUIRE(bindable_sampler<half>);
  STATIC_REQUIRE_FALSE(bindable_sampler<sequential>);
  STATIC_REQUIRE(sampler_like<chunk_order>);
}

TEST_CASE(
    "shuffle: within chunks is the order of windows of about that many, once it knows the dataset",
    "[sampler][host]") {
  struct shape {
    std::uint64_t within, windows;
  };
  // 63 chunks: 63/10 rounds to 6 windows, 63/18 to 4 (3.5), 63/19 to 3, 63/42 to 2 (1.5).
  const auto [within, windows] =
      GENERATE(shape{1, 63}, shape{10, 6}, shape{18, 4}, shape{19, 3}, shape{42, 2}, shape{43, 1},
               shape{62, 1}, shape{63, 1}, shape{UINT64_MAX, 1});
  INFO("within " << within);
  const test::log_capture unheard;
  const sampler order = shuffle{.seed = 4, .within = chunks(within)};
  const auto bound = order.bind(*stored(1000, all_kept), 1);
  CHECK(bound.size(1000) == 1000);
  CHECK(epoch_of(bound, 1000) == epoch_of(chunk_order{4, 16, windows}, 1000));
}

TEST_CASE("shuffle: within as many chunks as the dataset keeps, a window is half of them",
          "[sampler][host]") {
  struct shape {
    std::uint64_t kept, windows;
  };
  // Shapes of 63 chunks.
  const auto [kept, windows] = GENERATE(shape{0, 63}, shape{1, 63}, shape{2, 63}, shape{20, 7},
                                        shape{62, 3}, shape{63, 1}, shape{900, 1});
  INFO("kept " << kept);
  const test::log_capture unheard;
  const sampler order = shuffle{.seed = 4, .within = chunks()};
  const auto data = stored(1000, {.samples = 16, .bytes = 128, .kept = kept});
  CHECK(epoch_of(order.bind(*data, 1), 1000) == epoch_of(chunk_order{4, 16, windows}, 1000));
}

TEST_CASE("shuffle: without chunks to read as one, and without a window, binding changes no order",
          "[sampler][host]") {
  const test::log_capture log;
  const auto plain = epoch_of(shuffle{.seed = 4}, 1000);
  const sampler within = shuffle{.seed = 4, .within = chunks(3)};
  const sampler full = shuffle{.seed = 4};
  const auto single = test::make_identity_dataset(1000, 8);
  CHECK(epoch_of(within.bind(*single, 256), 1000) == plain);
  CHECK(epoch_of(full.bind(*single, 256), 1000) == plain);
  CHECK(epoch_of(within.bind(*stored(1000, {.samples = 1000}), 256), 1000) == plain);
  CHECK(epoch_of(within.bind(*stored(1000, {.samples = 0}), 256), 1000) == plain);
  CHECK(epoch_of(full.bind(*stored(1000, all_kept), 256), 1000) == plain);
  CHECK(within.bind(*stored(0, all_kept), 256).size(0) == 0);
  CHECK(log.text().empty());
}

TEST_CASE("shuffle: with a window, but no dataset to count chunks of, it is refused",
          "[sampler][host]") {
  const shuffle order{.seed = 4, .within = chunks(3)};
  const std::string words =
      "shuffle: `within` counts chunks of a dataset, which is not known here: give the sampler "
      "itself to a loader, or use the result of its bind(dataset, batch_size)";
  CHECK(test::message_of<usage_error>([&] { (void)order.size(10); }) == words);
  CHECK(test::message_of<usage_error>([&] { (void)epoch_of(order, 10); }) == words);
}

TEST_CASE("shuffle: invalid numbers of lanes are refused", "[sampler][host]") {
  const auto refusal = [](const shuffle& order, std::uint64_t batch_size) {
    return test::message_of<usage_error>(
        [&] { (void)order.bind(*stored(1000, all_kept), batch_size); });
  };
  CHECK(refusal({.within = chunks(3), .lanes = 0}, 8) == "shuffle: `lanes` is 0: say 1 or more");
  CHECK(refusal({.lanes = 4}, 8) ==
        "shuffle: `lanes` is 4, but there is no `within`: lanes are parts of a window of chunks");
  CHECK(refusal({.within = chunks(3), .lanes = 64}, 100) ==
        "shuffle: `lanes` is 64, which does not divide batches of 100 samples (of all ranks "
        "together): each has as many samples of every lane; choose lanes that divide it");
}

TEST_CASE("shuffle: with lanes it is the order of chunk lanes", "[sampler][host]") {
  const test::log_capture log;
  const sampler order = shuffle{.seed = 4, .within = chunks(20), .lanes = 2};
  const auto data = stored(1000, all_kept);
  CHECK(epoch_of(order.bind(*data, 4), 1000) == epoch_of(chunk_order{4, 16, 3, {2, 4}}, 1000));
  const sampler one = shuffle{.seed = 4, .within = chunks(63), .lanes = 2};
  CHECK(epoch_of(one.bind(*data, 4), 1000) == epoch_of(chunk_order{4, 16, 1, {2, 4}}, 1000));
  CHECK(log.text().empty());
}

TEST_CASE("loader: binds its sampler to its dataset, one within a user's own as well",
          "[loader][host]") {
  const auto data = stored(1000, all_kept);
  const auto expected = epoch_of(chunk_order{4, 16, 3}, 1000);
  const sampler inner = shuffle{.seed = 4, .within = chunks(20)};
  const bool halved = GENERATE(false, true);
  const test::log_capture unheard;
  loader loader{data, halved ? sampler{half{inner}} : inner, make_host_device(), {.batch_size = 7}};
  std::vector<sample_index> delivered;
  for (const batch& batch : loader.epoch(2)) {
    const auto* ids = batch["id"].data<std::uint64_t>();
    for (std::size_t i = 0; i < batch.size(); ++i) delivered.push_back({ids[i]});
  }
  CHECK(delivered ==
        std::vector<sample_index>(expected.begin() + (halved ? 500 : 0), expected.end()));
}

TEST_CASE("loader: warns once of windows that mix a batch poorly", "[loader][host]") {
  const test::log_capture log;
  const loader loader{stored(204'800, {.samples = 256, .bytes = 2048, .kept = 800}),
                      shuffle{.within = chunks(64)},
                      make_host_device(),
                      {.batch_size = 256, .epochs = 2}};
  CHECK(
      log.text() ==
      "shuffle: windows of 62 chunks are fewer than 4 times the batches' 256 samples: if the "
      "samples of a chunk are alike, the make-up of batches varies 5.14 times as much as in a full "
      "shuffle, 1 + (batch_size - 1) / window. Use chunks(1024) or more, or store the samples in "
      "random order\n");
}

TEST_CASE("loader: warns of windows of which the dataset does not keep two", "[loader][host]") {
  const test::log_capture log;
  const loader loader{stored(16'000, {.samples = 16, .bytes = 128, .kept = 30}),
                      shuffle{.within = chunks(20)},
                      make_host_device(),
                      {.batch_size = 5}};
  CHECK(log.text() ==
        "shuffle: a window of 20 chunks and the next one take 5120 bytes, and the dataset keeps "
        "30 chunks of 128 bytes: some will be read more than once. Use chunks(15), or let the "
        "dataset "
        "keep 40 chunks\n");
}

TEST_CASE("loader: warns of a full shuffle of chunks that the dataset does not keep, and obeys",
          "[loader][host]") {
  const auto within = GENERATE(std::optional<chunk_window>{}, chunks(2000));
  const test::log_capture log;
  loader loader{stored(16'000, {.samples = 16, .bytes = 128, .kept = 30}),
                shuffle{.seed = 1, .within = within},
                make_host_device(),
                {.batch_size = 256}};
  CHECK(log.text() ==
        "shuffle: samples are drawn from all 1000 chunks, of which the dataset keeps 30, so for "
        "nearly "
        "every sample a chunk of 16 is read again. shuffle{.within = chunks(15)} reads each chunk "
        "once; "
        "load_into_memory() reads all of them once\n");
  for (const batch& batch : loader.epoch(2)) {
    CHECK(sample_index{*batch["id"].data<std::uint64_t>()} ==
          epoch_of(shuffle{.seed = 1}, 16'000)[0]);
    break;
  }
}

TEST_CASE("shuffle: warns of nothing where batches are well mixed and chunks read once",
          "[sampler][host]") {
  constexpr chunking kept_twice{.samples = 16, .bytes = 128, .kept = 256};
  const shuffle order{.within = chunks(128)};  // 1280 chunks: ten windows
  CHECK(warning(order, 20'480, kept_twice, 32).empty());
  CHECK(warning(order, 20'480, kept_twice, 33) != "");
  CHECK(warning(order, 20'480, {.samples = 16, .bytes = 128, .kept = 255}, 32) != "");
  CHECK(
      warning({.within = chunks(1)}, 20'480, {.samples = 16, .bytes = 128, .kept = 2}, 1).empty());
  CHECK(warning({.within = chunks()}, 20'480, kept_twice, 32).empty());
}
