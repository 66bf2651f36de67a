/// Samples that are groups or datasets of their own.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/hdf5/groups.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/ragged/pad.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "hdf5/rows/natural_order.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t samples = 23;

/// Steps of a sample; some have none.
std::uint64_t length_of(std::uint64_t sample) {
  return sample * 7 % 12;
}
std::int32_t value_of(std::uint64_t sample, std::uint64_t index) {
  return static_cast<std::int32_t>(1000 * sample + index);
}

std::vector<std::int32_t> values_of(std::uint64_t sample, std::uint64_t count) {
  std::vector<std::int32_t> values;
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(value_of(sample, i));
  return values;
}

/// Samples in turn stored in every layout, written in no order, beside a group of other things.
std::filesystem::path write_demos(const std::filesystem::path& path) {
  hdf5_writer writer{path};
  writer.make_group("data");
  writer.make_group("data/mask");
  writer.make_group("plain");
  const auto gzip = [](hid_t creation) { H5Pset_deflate(creation, 1); };
  const auto layouts = std::vector<hdf5_layout>{
      {"contiguous"},
      chunked("chunks", {4, 2}),
      chunked("deflate", {3, 3}, gzip),
      {"compact", [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); }}};
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t sample = (i * 5 + 3) % samples;
    const std::string demo = "data/demo_" + std::to_string(sample);
    writer.make_group(demo);
    writer.make_group(demo + "/obs");
    const hdf5_layout& layout = layouts[sample % layouts.size()];
    writer.write(demo + "/obs/state", H5T_STD_I32BE, {5, 3}, H5T_NATIVE_INT32,
                 values_of(sample, 15).data(), layout);
    const std::uint64_t steps = length_of(sample);
    hdf5_layout growing = layout;  // chunks may be larger than what they hold
    if (sample % layouts.size() == 1 || sample % layouts.size() == 2)
      growing.max_extents = {H5S_UNLIMITED, 3};
    writer.write(demo + "/actions", sample % 2 == 0 ? H5T_STD_I32LE : H5T_STD_I32BE, {steps, 3},
                 H5T_NATIVE_INT32, values_of(sample, 3 * steps).data(), growing);
    const double goal = 0.5 * static_cast<double>(sample);
    writer.write(demo + "/goal", H5T_IEEE_F64LE, {}, H5T_NATIVE_DOUBLE, &goal);
    writer.write("plain/" + std::to_string(sample), H5T_STD_I32LE, {2}, H5T_NATIVE_INT32,
                 values_of(sample, 2).data(), sample % 3 == 0 ? chunked("", {1}) : hdf5_layout{});
  }
  return writer.close();
}

std::vector<std::byte> bytes_of(const std::vector<std::int32_t>& values) {
  std::vector<std::byte> bytes(4 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("natural order: runs of digits count as numbers, and the order is total",
          "[dataset][host]") {
  const std::vector<std::string> sorted{"",
                                        "0",
                                        "00",
                                        "1",
                                        "01",
                                        "2",
                                        "10",
                                        "010",
                                        "a",
                                        "a1b",
                                        "a1b2",
                                        "a1b10",
                                        "a2",
                                        "a02",
                                        "a10",
                                        "b",
                                        "b99999999999999999999999",
                                        "b100000000000000000000000",
                                        "\xc3\xa4"};
  auto names = sorted;
  std::ranges::reverse(names);
  std::ranges::sort(names, detail::is_naturally_before);
  // Leading zeros only break ties, by bytes: '0' is before '1' and the end of a name before all.
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    CHECK(detail::is_naturally_before(names[i], names[i + 1]));
    CHECK_FALSE(detail::is_naturally_before(names[i + 1], names[i]));
  }
  const auto place = [&](const char* name) { return std::ranges::find(names, name); };
  CHECK(place("2") < place("10"));
  CHECK(place("a1b2") < place("a1b10"));
  CHECK(place("a2") < place("a10"));
  CHECK(place("b99999999999999999999999") < place("b100000000000000000000000"));
  CHECK(place("b") < place("\xc3\xa4"));
}

TEST_CASE("hdf5 groups: each sample is the datasets of its group, in natural order",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_demos(folder.path() / "demos.h5");
  const auto names = list_hdf5_groups(file, "data/demo_*");
  REQUIRE(names.size() == samples);
  for (std::uint64_t i = 0; i < samples; ++i) CHECK(names[i] == "demo_" + std::to_string(i));
  CHECK(list_hdf5_groups(file, "/data/*").back() == "mask");
  CHECK(list_hdf5_groups(file, "*") == std::vector<std::string>{"data", "plain"});

  for (const std::size_t resident : {0U, 1U << 20})
    for (const std::size_t cache : {1U, 1U << 20}) {
      const hdf5_options how{.max_host_cache_bytes = cache, .max_resident_bytes = resident};
      const auto demos =
          open_hdf5_groups(file, "data/demo_*", {{"obs/state"}, {"goal", "target"}}, how);
      check_dataset_contract(
          demos, samples, {{"state", element_type::i32, {5, 3}}, {"target", element_type::f64, {}}},
          [&](sample_index sample, std::size_t field) {
            if (field == 0) return bytes_of(values_of(sample.value, 15));
            const double goal = 0.5 * static_cast<double>(sample.value);
            std::vector<std::byte> bytes(8);
            std::memcpy(bytes.data(), &goal, 8);
            return bytes;
          });
      check_dataset_contract(
          open_hdf5_groups(file, "plain/*", {{"", "x"}}, how), samples,
          {{"x", element_type::i32, {2}}},
          [&](sample_index sample, std::size_t) { return bytes_of(values_of(sample.value, 2)); });
    }
}

TEST_CASE("hdf5 groups: datasets of different lengths are runs of elements", "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_demos(folder.path() / "demos.h5");
  for (const std::size_t resident : {0U, 1U << 20})
    for (const std::size_t cache : {1U, 1U << 20}) {
      const auto actions =
          open_hdf5_groups_ragged(file, "data/demo_*", {"actions"},
                                  {.max_host_cache_bytes = cache, .max_resident_bytes = resident});
      REQUIRE(actions->size() == samples);
      CHECK(actions->element() == field{"actions", element_type::i32, {3}});
      for (std::uint64_t i = 0; i < samples; ++i) {
        const std::uint64_t length = actions->length(sample_index{i});
        REQUIRE(length == length_of(i));
        const auto expected = values_of(i, 3 * length);
        for (std::uint64_t first = 0; first <= length; ++first) {
          std::vector<std::int32_t> read(3 * (length - first));
          const element_run run{sample_index{i}, first, std::as_writable_bytes(std::span{read})};
          actions->read({&run, 1});
          CHECK(std::equal(read.begin(), read.end(),
                           expected.end() - static_cast<std::ptrdiff_t>(read.size())));
        }
      }
    }
}

TEST_CASE("hdf5 groups: a loader reads them in shards, and resumes within an epoch",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_demos(folder.path() / "demos.h5");
  const auto demos = pad(open_hdf5_groups_ragged(file, "data/demo_*", {"actions"}), {.length = 12});
  const auto make = [&](int rank) {
    return loader{
        demos,
        shuffle{.seed = 3},
        make_host_device(),
        {.batch_size = 4, .shard = {.rank = rank, .world = 2}, .epochs = 2, .readers = 2}};
  };
  const auto read = [](loader& from, std::uint64_t epoch, std::size_t count) {
    std::vector<std::byte> all;
    std::size_t batches = 0;
    for (const batch& each : from.epoch(epoch)) {
      const auto bytes = each["actions"].bytes();
      all.insert(all.end(), bytes.begin(), bytes.end());
      if (++batches == count) break;
    }
    return all;
  };
  for (const int rank : {0, 1}) {
    loader whole = make(rank);
    const auto all = read(whole, 0, 100);
    loader begun = make(rank);
    auto parts = read(begun, 0, 1);
    loader resumed = make(rank);
    resumed.seek(begun.state());
    const auto rest = read(resumed, 0, 100);
    parts.insert(parts.end(), rest.begin(), rest.end());
    CHECK(parts == all);
  }
}

TEST_CASE("hdf5 groups: many threads read samples in chunks that do not fit in the cache",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_demos(folder.path() / "demos.h5");
  const auto demos = open_hdf5_groups(file, "data/demo_*", {{"obs/state"}},
                                      {.max_host_cache_bytes = 200, .max_resident_bytes = 0});
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (int& mine : wrong)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 40; ++turn)
        for (std::uint64_t i = 0; i < samples; ++i)
          mine += read_sample(*demos, sample_index{i}).front() != bytes_of(values_of(i, 15));
    });
  for (auto& each : threads) each.join();
  CHECK(std::accumulate(wrong.begin(), wrong.end(), 0) == 0);
}

TEST_CASE("hdf5 groups: what cannot be a sample is refused with its path", "[dataset][host]") {
  const temporary_directory folder;
  const auto file = write_demos(folder.path() / "demos.h5");
  const auto refusal = [&](const std::string& of, std::vector<hdf5_field> fields) {
    return message_of<error>([&] { (void)open_hdf5_groups(file, of, std::move(fields)); });
  };
  CHECK(
      contains(refusal("data/*", {{"goal"}}), "field '/data/mask/goal': there is no such dataset"));
  CHECK(contains(refusal("data/demo_*", {{"actions"}}), "open_hdf5_groups_ragged"));
  CHECK(contains(refusal("data/x*", {{"goal"}}), "has no members that match 'x*': it has 24"));
  CHECK(contains(refusal("nothing/*", {{"goal"}}), "is not a group that can be listed"));
  CHECK(contains(refusal("data/demo_0/goal/*", {{"goal"}}), "is not a group that can be listed"));
  CHECK(contains(refusal("data/", {{"goal"}}), "ends without a pattern"));
  CHECK(contains(refusal("plain/*", {{""}}), "needs hdf5_field::name"));
  CHECK(contains(refusal("data/demo_*", {{"goal"}, {"obs/state", "goal"}}), "two fields"));
  CHECK(contains(refusal("data/demo_*", {}), "there is no field"));
  CHECK(contains(
      message_of<hdf5_error>([&] { (void)open_hdf5_groups_ragged(file, "data/demo_*", {"goal"}); }),
      "is a single value, which has no length"));
  hdf5_writer writer{folder.path() / "mixed.h5"};
  (void)writer.make("0", H5T_STD_I32LE, {2, 3});
  (void)writer.make("1", H5T_STD_I32LE, {2, 4});
  (void)writer.make("2", H5T_STD_I64LE, {2, 3});
  const auto mixed = writer.close();
  CHECK(contains(message_of<hdf5_error>([&] {
                   (void)open_hdf5_groups_ragged(mixed, "*", {"", "x"});
                 }),
                 "field '/1': is a dataset: int32[2, 4], but the first sample's '/0' is"));
  CHECK(contains(message_of<hdf5_error>([&] {
                   (void)open_hdf5_groups(mixed, "[02]", {{"", "x"}});
                 }),
                 "field '/2': is a dataset: int64[2, 3]"));
}

TEST_CASE("hdf5 groups: a damaged or changed sample is an error with its number",
          "[dataset][host]") {
  const temporary_directory folder;
  const auto path = folder.path() / "demos.h5";
  {
    hdf5_writer writer{path};
    for (const char* const name : {"0", "1"}) {
      const auto made = writer.make(name, H5T_STD_I32LE, {4},
                                    chunked("", {4}, [](hid_t each) { H5Pset_deflate(each, 1); }));
      writer.write_chunk(made.get(), {0}, various_bytes(10));
    }
    (void)writer.close();
  }
  let_age(path);
  const auto samples_of = open_hdf5_groups(path, "*", {{"", "x"}});
  const auto message =
      message_of<dataset_error>([&] { (void)read_sample(*samples_of, sample_index{1}); });
  CHECK(contains(message, "field '/1', sample 1"));
  change_file(path, file_change::overwritten);
  CHECK(
      contains(message_of<dataset_error>([&] { (void)read_sample(*samples_of, sample_index{0}); }),
               "sample 0"));
}
