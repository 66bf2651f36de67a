/// Files of every format that are stored elsewhere than on this machine: the same samples come, few
/// reads are made, and a read that fails is told with its file and its byte.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "pipeline/stored_formats.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/standin_files.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <set>
#include <string>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

loader_options small(int readers, const error_policy& errors = {}) {
  return {.batch_size = 8, .readers = readers, .errors = errors};
}

error_policy at_once(error_action action, int retries = 0) {
  return {.action = action, .retries = retries, .first_pause = 0ms, .max_share = 1};
}

/// A byte of a file.
struct place {
  std::string file;
  std::uint64_t byte = 0;

  [[nodiscard]] bool is_in(const detail::byte_file& read, const detail::byte_read& part) const {
    return read.name() == file && part.offset <= byte && byte < part.end();
  }
  [[noreturn]] void fail() const {
    throw dataset_error{{.path = file, .field = {}, .sample = {}, .offset = byte},
                        "the storage does not answer"};
  }
};

/// A byte in the middle of what reading all samples reads.
place middle_of(const dataset& data, standin_files& storage) {
  std::vector<place> read;
  storage.set_hook([&](const detail::byte_file& file, const detail::byte_read& part) {
    read.push_back({file.name(), part.offset});
  });
  (void)all_samples(data);
  storage.set_hook({});
  REQUIRE(read.size() > 1);
  return read[read.size() / 2];
}

}  // namespace

TEST_CASE("other storage: files of every format give the samples that they give here",
          "[dataset][host]") {
  const mounted_standin storage;
  std::vector<stored_format> formats = read_later();
  for (const stored_format& each : read_at_once()) formats.push_back(each);
  for (const stored_format& each : formats) {
    CAPTURE(each.name);
    const temporary_directory folder;
    const std::string path = each.write(folder);
    const dataset_ptr here = each.open(path);
    const dataset_ptr there = each.open(mounted_standin::address_of(path));
    CHECK_FALSE(storage->take_calls().empty());
    REQUIRE(here->size() == samples);
    CHECK(there->fields() == here->fields());
    const auto expected = all_samples(*here);
    for (const int readers : {0, 3}) {
      loader loader{there, shuffle{}, make_host_device(), small(readers)};
      CHECK(take_epoch(loader, here->fields(), expected) == all_but({}));
    }
  }
}

TEST_CASE("other storage: a read that fails at opening names the file and the byte",
          "[dataset][host]") {
  const mounted_standin storage;
  for (const stored_format& each : read_at_once()) {
    CAPTURE(each.name);
    const temporary_directory folder;
    const std::string path = mounted_standin::address_of(each.write(folder));
    const auto size = detail::open_file(path)->size();
    const place lost{path, size - 10};
    storage->set_hook([&](const detail::byte_file& file, const detail::byte_read& part) {
      if (lost.is_in(file, part)) lost.fail();
    });
    CHECK(contains(message_of<dataset_error>([&] { (void)each.open(path); }),
                   "byte " + std::to_string(lost.byte) + ": the storage does not answer"));
    storage->set_hook({});
    CHECK(each.open(path)->size() == samples);
  }
}

TEST_CASE("other storage: a read that fails in an epoch ends it with file and byte, or is skipped",
          "[reader][host]") {
  const log_capture unheard;
  const mounted_standin storage;
  const int readers = GENERATE(0, 3);
  for (const stored_format& each : read_later()) {
    CAPTURE(each.name, readers);
    const temporary_directory folder;
    const std::string path = each.write(folder);
    const dataset_ptr there = each.open(mounted_standin::address_of(path));
    const auto expected = all_samples(*each.open(path));
    const place lost = middle_of(*there, storage.files());
    CAPTURE(lost.file, lost.byte);
    storage->set_hook([&](const detail::byte_file& file, const detail::byte_read& part) {
      if (lost.is_in(file, part)) lost.fail();
    });
    std::set<std::uint64_t> bad;
    for (std::uint64_t i = 0; i < samples; ++i)
      if (message_of<dataset_error>([&] { (void)read_sample(*there, {i}); }) !=
          "[nothing was thrown]")
        bad.insert(i);
    CHECK_FALSE(bad.empty());
    CHECK(bad.size() < samples / 2);

    loader failing{there, sequential{}, make_host_device(), small(readers)};
    const std::string message =
        message_of<error>([&] { (void)take_epoch(failing, there->fields(), expected); });
    CHECK(contains(message, lost.file));
    CHECK(contains(message, "byte " + std::to_string(lost.byte) + ": the storage does not answer"));
    CHECK(contains(message, "sample " + std::to_string(*bad.begin())));

    loader skipping{there, shuffle{}, make_host_device(),
                    small(readers, at_once(error_action::skip))};
    CHECK(take_epoch(skipping, there->fields(), expected) == all_but(bad));
    CHECK(skipping.failures().count == bad.size());
    for (const sample_failure& failure : skipping.failures().first)
      CHECK(bad.contains(failure.sample.value));
    storage->set_hook({});
  }
}

TEST_CASE("other storage: a read that fails once is tried again, and nothing is lost",
          "[reader][host]") {
  const log_capture unheard;
  const mounted_standin storage;
  const int readers = GENERATE(0, 3);
  for (const stored_format& each : read_later()) {
    CAPTURE(each.name, readers);
    const temporary_directory folder;
    const std::string path = each.write(folder);
    const dataset_ptr there = each.open(mounted_standin::address_of(path));
    const place lost = middle_of(*there, storage.files());
    std::atomic<bool> failed = false;
    storage->set_hook([&](const detail::byte_file& file, const detail::byte_read& part) {
      if (lost.is_in(file, part) && !failed.exchange(true)) lost.fail();
    });
    loader loader{there, shuffle{}, make_host_device(),
                  small(readers, at_once(error_action::fail, 1))};
    CHECK(take_epoch(loader, there->fields(), all_samples(*each.open(path))) == all_but({}));
    CHECK(failed);
    CHECK(loader.failures().count == 0);
    CHECK(loader.failures().recovered_reads >= 1);
    storage->set_hook({});
  }
}

TEST_CASE("other storage: batches before a read that waits come, and the others once it is done",
          "[reader][host]") {
  const mounted_standin storage;
  const temporary_directory folder;
  const dataset_ptr there = open(mounted_standin::address_of(folder.write("a.npy", npy_rows())));
  const place slow = middle_of(*there, storage.files());
  std::promise<void> gate;
  const std::shared_future<void> opened = gate.get_future().share();
  storage->set_hook([&](const detail::byte_file& file, const detail::byte_read& part) {
    if (slow.is_in(file, part)) opened.wait();
  });
  loader loader{there,
                sequential{},
                make_host_device(),
                {.batch_size = 5, .readers = 2, .expert = {.batches_per_slot = 1}}};
  auto range = loader.epoch(0);
  std::uint64_t batches = 0;
  for (; batches < 6; ++batches) REQUIRE(range.next());  // samples 0 to 29; the slow one is 30
  gate.set_value();
  while (range.next()) ++batches;
  CHECK(batches == 12);
}

TEST_CASE("other storage: rows of a request are read by one call, near ones as one part",
          "[dataset][host]") {
  using call = standin_files::call;
  const mounted_standin storage;
  const temporary_directory folder;
  const auto calls_for = [&](const dataset& data, const std::vector<std::uint64_t>& numbers) {
    std::vector<sample_index> wanted;
    for (const std::uint64_t number : numbers) wanted.push_back({number});
    (void)storage->take_calls();
    (void)read_samples(data, wanted);
    return storage->take_calls();
  };
  const dataset_ptr rows = open(mounted_standin::address_of(folder.write("a.npy", npy_rows())));
  constexpr std::uint64_t head = 128;  // NumPy's header
  CHECK(calls_for(*rows, {40, 3, 5, 4, 3}) ==
        std::vector<call>{{{head + 3 * row_bytes, 3 * row_bytes}, {head + 40 * row_bytes, 300}}});

  const dataset_ptr records =
      read_later()[1].open(mounted_standin::address_of(read_later()[1].write(folder)));
  CHECK(calls_for(*records, {10, 11, 12}) ==
        std::vector<call>{
            {{10 * 304, 4}, {11 * 304, 4}, {12 * 304, 4}},  // labels, with gaps of 300 bytes
            {{10 * 304 + 4, 2 * 304 + 300}}});              // images, with gaps of 4 bytes
}
