/// Tests the context of reads: seed, epoch, sample and position are the same for any number of
/// readers and any slot size, so data generated from them is too.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/ragged/decode.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Context of a sample's read, as its bytes.
struct seen {
  std::uint64_t own = 0;  ///< the number within the dataset that was asked
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t sample = 0;
  std::uint64_t position = 0;
  std::uint64_t drawn = 0;

  friend bool operator==(const seen&, const seen&) = default;
};
constexpr std::uint64_t none = ~std::uint64_t{0};

const field seen_field{"seen", element_type::u64, {6}};

seen seen_by(sample_index own, const sample_context& context) {
  return {own.value,
          context.seed,
          context.epoch.value_or(none),
          context.sample.value,
          context.position ? context.position->value : none,
          context.random()()};
}

/// Samples that are what they are read for.
class witness final : public dataset {
 public:
  explicit witness(std::uint64_t samples) : samples_{samples} {}

  std::uint64_t size() const override { return samples_; }
  std::vector<field> fields() const override { return {seen_field}; }
  bool varies_by_epoch() const override { return true; }
  void do_read(const read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const seen one = seen_by(request.samples[i], request.context[i]);
      std::memcpy(request.out[0].data() + i * sizeof one, &one, sizeof one);
    }
  }

 private:
  std::uint64_t samples_;
};

dataset_ptr witnesses(std::uint64_t samples) {
  return std::make_shared<const witness>(samples);
}

/// The same by a map.
dataset_ptr mapped_witnesses(std::uint64_t samples) {
  return map(make_identity_dataset(samples, 40'000), {seen_field},
             [](sample_index own, auto, auto out, const sample_context& context) {
               const seen one = seen_by(own, context);
               std::memcpy(out[0].data(), &one, sizeof one);
             });
}

/// The same by a decoder.
class witness_decoder final : public decoder {
 public:
  field describe(std::span<const std::byte>) const override { return seen_field; }
  void decode(std::span<const std::byte> stored, const field&, std::span<std::byte> out,
              const sample_context& context) const override {
    const seen one = seen_by(sample_index{static_cast<std::uint64_t>(stored[0])}, context);
    std::memcpy(out.data(), &one, sizeof one);
  }
  bool varies_by_epoch() const override { return true; }
};

dataset_ptr decoded_witnesses(std::uint64_t samples) {
  std::vector<std::uint8_t> bytes(samples);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  std::vector<std::uint64_t> offsets(samples + 1);
  std::iota(offsets.begin(), offsets.end(), std::uint64_t{0});
  return decode(make_ragged_dataset(own("seen", std::move(bytes)), own("at", std::move(offsets))),
                std::make_shared<const witness_decoder>());
}

/// An epoch's samples in the order of delivery.
std::vector<seen> epoch_of(const dataset_ptr& data, const loader_options& options,
                           std::uint64_t epoch, bool with_copies = false) {
  const scripted on;
  loader loader{data, shuffle{.seed = 6}, with_copies ? device_ptr{on.device} : make_host_device(),
                options};
  const stream_ref stream = with_copies ? on.stream : stream_ref{};
  std::vector<seen> all;
  for (batch& batch : loader.epoch(epoch, stream)) {
    const auto look = [&all, view = batch["seen"]] {
      for (std::uint64_t i = 0; i < view.samples(); ++i) {
        seen one;
        std::memcpy(&one, view.bytes().data() + i * sizeof one, sizeof one);
        all.push_back(one);
      }
    };
    if (with_copies) {
      on.device->launch(on.stream, look);
    } else {
      look();
    }
  }
  if (with_copies) on.device->drain(on.stream);
  return all;
}

std::vector<seen> expected(std::uint64_t samples, std::uint64_t epoch, std::uint64_t seed) {
  std::vector<sample_index> order(samples);
  shuffle{.seed = 6}.indices(samples, epoch, position{0}, order);
  std::vector<seen> all;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t sample = order[i].value;
    all.push_back({sample, seed, epoch, sample, i, sample_random{seed, epoch, sample}()});
  }
  return all;
}

}  // namespace

TEST_CASE(
    "read context: a dataset, a map and a decoder know seed, epoch, sample and position, for any "
    "readers and slot size",
    "[dataset][loader][host]") {
  constexpr std::uint64_t samples = 101;
  const auto make = GENERATE(witnesses, mapped_witnesses, decoded_witnesses);
  const int readers = GENERATE(0, 1, 8);
  const std::uint64_t batches_per_slot = GENERATE(0U, 1U, 3U);
  const bool with_copies = GENERATE(false, true);
  CAPTURE(readers, batches_per_slot, with_copies);
  const auto data = make(samples);
  CHECK(data->varies_by_epoch());
  const loader_options options{
      .batch_size = 8,
      .readers = readers,
      .seed = 12,
      .expert = {.batches_per_slot = batches_per_slot, .request_bytes = 150}};
  const auto first = epoch_of(data, options, 4, with_copies);
  CHECK(first == expected(samples, 4, 12));
  CHECK(epoch_of(data, options, 4, with_copies) == first);
  CHECK(epoch_of(data, options, 5, with_copies) == expected(samples, 5, 12));
}

TEST_CASE("read context: it goes through transforms on a device to each sample", "[loader][host]") {
  loader_options options{.batch_size = 8, .readers = 2, .seed = 3};
  options.transforms.push_back({.field = "note"});
  std::vector<std::uint8_t> notes(50);
  const auto data = zip({witnesses(50), make_memory_dataset({own("note", std::move(notes))})});
  const bool with_copies = GENERATE(false, true);
  CHECK(epoch_of(data, options, 1, with_copies) == expected(50, 1, 3));
}

TEST_CASE("read context: the sample is the loader's, through all that datasets are made of",
          "[dataset][loader][host]") {
  const auto part = subset(witnesses(40), sample_index{7}, 20);
  const auto listed = subset(witnesses(40), {{3}, {3}, {9}});
  const auto whole = zip({make_identity_dataset(63, 8), concatenate({part, listed, part, part})});
  CHECK(whole->varies_by_epoch());
  for (const seen& one : epoch_of(whole, {.batch_size = 9, .readers = 2}, 0)) {
    const std::uint64_t within = one.sample;
    const std::uint64_t own = within < 20   ? 7 + within
                              : within < 22 ? 3
                              : within < 23 ? 9
                                            : 7 + (within - 23) % 20;
    CHECK(one.own == own);
    CHECK(one.drawn == sample_random{0, 0, one.sample}());
  }
}

TEST_CASE("read context: copies of a dataset in a concatenation draw different numbers",
          "[dataset][loader][host]") {
  const auto once = mapped_witnesses(10);
  const auto all = epoch_of(concatenate({once, once}), {.batch_size = 4}, 0);
  for (const seen& one : all)
    for (const seen& other : all) CHECK((one.drawn == other.drawn) == (one.sample == other.sample));
}

TEST_CASE("read context: outside of a loader there is no epoch and no position, and seed 0",
          "[dataset][host]") {
  for (const auto& data :
       {witnesses(10), mapped_witnesses(10), subset(witnesses(20), {{3}, {4}, {5}, {6}})}) {
    const auto bytes = read_sample(*data, sample_index{3})[0];
    seen one;
    std::memcpy(&one, bytes.data(), sizeof one);
    CHECK(one.epoch == none);
    CHECK(one.position == none);
    CHECK(one.seed == 0);
    CHECK(one.sample == 3);
    CHECK(one.drawn == sample_random{0, 0, 3}());
  }
}

TEST_CASE("read context: a dataset of three functions, and one that is made of it, do not vary",
          "[dataset][host]") {
  class squares : public dataset {
   public:
    std::uint64_t size() const override { return 1000; }
    std::vector<field> fields() const override { return {{"x", element_type::u32, {}}}; }
    void do_read(const read_request& request) const override {
      for (std::size_t i = 0; i < request.samples.size(); ++i) {
        const auto x =
            static_cast<std::uint32_t>(request.samples[i].value * request.samples[i].value);
        std::memcpy(request.out[0].data() + i * sizeof x, &x, sizeof x);
      }
    }
  };
  const dataset_ptr old = std::make_shared<const squares>();
  const auto same = map(old, old->fields(), [](sample_index, auto in, auto out) {
    std::memcpy(out[0].data(), in[0].data(), in[0].size());
  });
  CHECK_FALSE(old->varies_by_epoch());
  CHECK_FALSE(same->varies_by_epoch());
  loader loader{concatenate({old, same}), sequential{}, make_host_device(), {.batch_size = 2000}};
  for (batch& batch : loader.epoch(3)) CHECK(batch["x"].values<std::uint32_t>()[1012] == 144);
}

TEST_CASE(
    "read context: samples that vary by epoch are neither held in memory nor cached on a device",
    "[dataset][loader][host]") {
  const auto data = subset(witnesses(30), sample_index{0}, 20);
  const std::string why = "the dataset's samples differ from epoch to epoch (varies_by_epoch())";
  CHECK(message_of<usage_error>([&] { (void)load_into_memory(data); }) ==
        "load_into_memory: " + why +
            ", but samples in memory would not: load what they are made of, and map() or decode() "
            "it");
  const scripted on;
  const auto make = [&](placement wanted) {
    return loader{data,
                  sequential{},
                  on.device,
                  {.batch_size = 4, .placement = wanted, .memory = {.cache = 1 << 20}}};
  };
  for (const placement wanted : {placement::gather, placement::resident, placement::cached})
    CHECK(message_of<usage_error>([&] { (void)make(wanted); }) ==
          "loader_options::placement is " + std::string{to_string(wanted)} + ", but " + why +
              ", but cached rows would not: choose placement::stream");
  CHECK(make(placement::automatic).plan().placement == placement::stream);
  CHECK(make(placement::stream).plan().placement == placement::stream);
}

TEST_CASE("read context: values of a ragged dataset do not vary by epoch", "[dataset][host]") {
  const auto offsets = make_memory_dataset({own("at", std::vector<std::uint64_t>{0, 10})});
  CHECK(message_of<usage_error>([&] { (void)make_ragged_dataset(witnesses(10), offsets); }) ==
        "make_ragged_dataset: the values or the offsets differ from epoch to epoch "
        "(varies_by_epoch()), but elements are not read for an epoch: use map() on datasets made "
        "from the ragged dataset");
}
