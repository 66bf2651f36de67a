#include "support/devices/device_contract.hpp"

#include "detail/arithmetic.hpp"
#include "device/assemble_on_host.hpp"
#include "device/owned.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/destination_builder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace feedline::test {
namespace {

constexpr std::size_t bytes = 1 << 20;

bool all_are(const std::vector<std::byte>& memory, std::byte value) {
  return std::all_of(memory.begin(), memory.end(), [&](std::byte each) { return each == value; });
}

void check_memory(const device_under_test& subject) {
  for (const auto kind : {memory_kind::staging, memory_kind::device}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{257}, bytes}) {
      const detail::device_memory memory{subject.device, kind, size};
      REQUIRE(memory.data() != nullptr);
      CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % 256 == 0);
      if (kind == memory_kind::device) {
        CHECK(all_are(subject.read_back(memory.data(), size), std::byte{0}));
      } else {
        CHECK(all_are({memory.data(), memory.data() + size}, std::byte{0}));
        std::memset(memory.data(), 1, size);
      }
    }
  }
}

/// Other memory than that of `allocate`: zeroed, aligned, usable at once, also what was freed.
void check_short_lived_memory(const device_under_test& subject) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{257}, bytes, bytes}) {
    const detail::device_memory staging{subject.device, memory_kind::staging, size};
    const detail::device_memory memory{subject.device, memory_kind::device, size,
                                       detail::short_lived};
    REQUIRE(memory.data() != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % 256 == 0);
    CHECK(all_are(subject.read_back(memory.data(), size), std::byte{0}));
    std::memset(staging.data(), 7, size);
    subject.device->copy(memory.data(), staging.data(), size, subject.stream);
    const detail::event copied{subject.device};
    subject.device->record(copied.get(), subject.stream);
    subject.device->sync(copied.get());
    CHECK(all_are(subject.read_back(memory.data(), size), std::byte{7}));
  }
}

void check_events(const device_under_test& subject) {
  device& device = *subject.device;
  const detail::stream stream{subject.device};
  const detail::event event{subject.device};
  CHECK(device.is_done(event.get()));  // never recorded
  device.sync(event.get());
  device.wait(stream.get(), event.get());
  for (int i = 0; i < 3; ++i) {
    device.record(event.get(), stream.get());
    device.sync(event.get());
    CHECK(device.is_done(event.get()));
  }
}

/// A measurement is the copy's and the wait's between its two events, and can be made again.
void check_times(const device_under_test& subject) {
  device& device = *subject.device;
  if (!device.tells_times()) return;
  const detail::device_memory staging{subject.device, memory_kind::staging, bytes};
  const detail::device_memory memory{subject.device, memory_kind::device, bytes};
  const detail::event begin{subject.device, detail::with_time};
  const detail::event end{subject.device, detail::with_time};
  for (int i = 0; i < 3; ++i) {
    const auto before = std::chrono::steady_clock::now();
    device.record(begin.get(), subject.stream);
    device.copy(memory.data(), staging.data(), bytes, subject.stream);
    device.record(end.get(), subject.stream);
    device.sync(end.get());
    const auto time = device.elapsed(begin.get(), end.get());
    REQUIRE(time);
    CHECK(*time >= std::chrono::nanoseconds{0});
    // Devices have clocks of their own.
    CHECK(*time <= 2 * (std::chrono::steady_clock::now() - before));
  }
}

void check_copies(const device_under_test& subject) {
  device& device = *subject.device;
  const detail::device_memory staging{subject.device, memory_kind::staging, bytes};
  const detail::device_memory first{subject.device, memory_kind::device, bytes};
  const detail::device_memory second{subject.device, memory_kind::device, bytes};
  const detail::stream stream{subject.device};
  const detail::event copied{subject.device};
  const detail::event used{subject.device};
  for (const auto value : {std::byte{1}, std::byte{2}, std::byte{3}}) {
    std::memset(staging.data(), static_cast<int>(value), bytes);
    device.copy(first.data(), staging.data(), bytes, stream.get());
    device.copy(second.data(), staging.data(), bytes / 2, stream.get());
    device.record(copied.get(), stream.get());
    device.wait(subject.stream, copied.get());
    device.record(used.get(), subject.stream);  // done after the copies, by way of the wait
    device.sync(used.get());
    CHECK(device.is_done(copied.get()));
    CHECK(all_are(subject.read_back(first.data(), bytes), value));
    CHECK(all_are(subject.read_back(second.data(), bytes / 2), value));
    CHECK(all_are(subject.read_back(second.data() + bytes / 2, bytes / 2), std::byte{0}));
  }
}

/// There on one stream and back on another, in sizes down to a byte.
void check_copies_back(const device_under_test& subject) {
  device& device = *subject.device;
  const detail::device_memory staging{subject.device, memory_kind::staging, bytes};
  const detail::device_memory on_device{subject.device, memory_kind::device, bytes};
  const detail::device_memory returned{subject.device, memory_kind::staging, bytes};
  const detail::stream there{subject.device};
  const detail::stream back{subject.device};
  const detail::event produced{subject.device};
  const detail::event copied{subject.device};
  for (const std::size_t size : {bytes, std::size_t{257}, std::size_t{1}}) {
    const auto value = static_cast<std::byte>(1 + size % 7);
    std::memset(staging.data(), static_cast<int>(value), size);
    std::memset(returned.data(), 0, bytes);
    device.copy(on_device.data(), staging.data(), size, there.get());
    device.record(produced.get(), there.get());
    device.wait(back.get(), produced.get());
    device.copy_back(returned.data(), on_device.data(), size, back.get());
    device.record(copied.get(), back.get());
    device.sync(copied.get());
    CHECK(all_are({returned.data(), returned.data() + size}, value));
    CHECK(all_are({returned.data() + size, returned.data() + bytes}, std::byte{0}));
  }
}

/// Bytes copied to device memory, as the pipeline does it.
detail::device_memory on_device(const device_under_test& subject, std::span<const std::byte> from) {
  const detail::device_memory staging{subject.device, memory_kind::staging, from.size()};
  detail::device_memory memory{subject.device, memory_kind::device, from.size()};
  const detail::stream stream{subject.device};
  const detail::event copied{subject.device};
  std::copy(from.begin(), from.end(), staging.data());
  subject.device->copy(memory.data(), staging.data(), from.size(), stream.get());
  subject.device->record(copied.get(), stream.get());
  subject.device->sync(copied.get());
  return memory;
}

/// Five samples, in batches of three, of rows of four bytes: from a cached row, from one that
/// arrives and is kept, and from memory of the host's.
void check_assembly(const device_under_test& subject) {
  device& device = *subject.device;
  constexpr std::size_t row_bytes = 4;
  constexpr std::size_t batch_bytes = 256;
  std::vector<std::byte> rows(4 * row_bytes);  // row r spells 16 r, 16 r + 1, …
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<std::byte>(i / row_bytes * 16 + i % row_bytes);
  const destination_format format{.row_bytes = {row_bytes},
                                  .batch_size = 3,
                                  .run_samples = 2,
                                  .runs_per_batch = 2,
                                  .keeps = true};
  const std::array<sample_source, 5> samples{{{.row = 1},
                                              {.arrives = true, .row = 3, .cache_as = 0},
                                              {.arrives = true, .row = 2},
                                              {.row = 2},
                                              {.arrives = true, .row = 0}}};
  const auto image = build_copy_destination(format, samples, [&](std::size_t, std::uint64_t row) {
    return std::span{rows}.subspan(row * row_bytes, row_bytes);
  });
  const auto copy_destination = on_device(subject, image.bytes);
  const auto cached = on_device(subject, rows);
  const detail::device_memory slot{subject.device, memory_kind::device, 2 * batch_bytes};
  const detail::event assembled{subject.device};
  field_assembly field;
  field.cached = cached.data();
  field.keep = cached.data();
  field.row_bytes = row_bytes;
  field.to_row_bytes = row_bytes;
  assembly work;
  image.describe(work, format);
  work.slot = slot.data();
  work.batch_bytes = batch_bytes;
  work.samples = samples.size();
  work.copy_destination = copy_destination.data();
  work.fields = {&field, 1};
  const auto row_at = [&](std::size_t at) {
    const auto seen = subject.read_back(slot.data() + at, row_bytes);
    return std::to_integer<int>(seen[0]) == 16 * (std::to_integer<int>(seen[0]) / 16) &&
                   std::to_integer<int>(seen[3]) == std::to_integer<int>(seen[0]) + 3
               ? std::to_integer<int>(seen[0]) / 16
               : -1;
  };
  const auto assemble = [&] {
    device.assemble(work, subject.stream);
    device.record(assembled.get(), subject.stream);
    device.sync(assembled.get());
  };

  assemble();
  const std::array<std::size_t, 5> places{0, row_bytes, 2 * row_bytes, batch_bytes,
                                          batch_bytes + row_bytes};
  const std::array<int, 5> expected{1, 3, 2, 2, 0};
  for (std::size_t i = 0; i < places.size(); ++i) CHECK(row_at(places[i]) == expected[i]);
  const auto first_kept = subject.read_back(cached.data(), row_bytes);
  CHECK(std::equal(first_kept.begin(), first_kept.end(), rows.begin() + 3 * row_bytes));

  const std::size_t page = device.capabilities().map_granularity;
  const std::size_t mapped_bytes = detail::round_up(rows.size(), page);
  struct free_memory {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  const std::size_t alignment = std::max<std::size_t>(page, 64);
  const std::unique_ptr<std::byte, free_memory> pages{static_cast<std::byte*>(
      std::aligned_alloc(alignment, detail::round_up(mapped_bytes, alignment)))};
  REQUIRE(pages != nullptr);
  std::ranges::copy(rows, pages.get());
  const std::span<const std::byte> mapped{pages.get(), mapped_bytes};
  field.cached = device.map(mapped);
  field.cached_on_host = true;
  work.keeps = false;
  pages.get()[row_bytes] = std::byte{0x30};  // read when it is needed, not when it was mapped
  pages.get()[2 * row_bytes - 1] = std::byte{0x33};
  assemble();
  CHECK(row_at(places[0]) == 3);
  CHECK(row_at(places[3]) == 2);

  // Rows that do not lie in place are apart: those before the others, and those after them.
  const std::array<int, 8> others{0x50, 0x51, 0x52, 0x53, 0x60, 0x61, 0x62, 0x63};
  std::vector<std::byte> apart;
  for (const int each : others) apart.push_back(static_cast<std::byte>(each));
  const auto on_its_own = on_device(subject, apart);
  field.in_place = {.first = 2, .count = 2, .apart = on_its_own.data()};
  assemble();
  CHECK(row_at(places[0]) == 6);
  CHECK(row_at(places[3]) == 2);
  field.in_place = {.first = 0, .count = 2, .apart = on_its_own.data()};
  assemble();
  CHECK(row_at(places[0]) == 3);
  CHECK(row_at(places[3]) == 5);
  device.unmap(mapped);
}

/// Three samples in one batch, of one float each: the first two are mixed.
void check_mixing(const device_under_test& subject) {
  const std::array<float, 3> values{1.0F, -6.0F, 20.0F};
  const destination_format format{.row_bytes = {sizeof(float)},
                                  .batch_size = 3,
                                  .run_samples = 3,
                                  .runs_per_batch = 1,
                                  .varies = true};
  const std::array<sample_source, 3> samples{{{.arrives = true, .row = 0, .random_bits = 1},
                                              {.arrives = true, .row = 1, .random_bits = 2},
                                              {.arrives = true, .row = 2, .random_bits = 3}}};
  const auto image = build_copy_destination(format, samples, [&](std::size_t, std::uint64_t row) {
    return std::as_bytes(std::span{values}).subspan(row * sizeof(float), sizeof(float));
  });
  const auto copy_destination = on_device(subject, image.bytes);
  const detail::device_memory slot{subject.device, memory_kind::device, 256};
  const detail::event assembled{subject.device};
  field_assembly field;
  field.row_bytes = field.to_row_bytes = sizeof(float);
  pair_mixing mixing;
  mixing.image = 0;
  mixing.mixed_below = std::uint64_t{1} << 32;
  assembly work;
  image.describe(work, format);
  work.slot = slot.data();
  work.batch_bytes = 256;
  work.samples = samples.size();
  work.copy_destination = copy_destination.data();
  work.fields = {&field, 1};
  work.mixing = &mixing;
  subject.device->assemble(work, subject.stream);
  subject.device->record(assembled.get(), subject.stream);
  subject.device->sync(assembled.get());

  std::array<float, 3> expected{};
  work.slot = std::as_writable_bytes(std::span{expected}).data();
  work.copy_destination = image.bytes.data();
  detail::assemble_on_host(work);
  CHECK(expected != values);
  const auto seen = subject.read_back(slot.data(), sizeof expected);
  CHECK(std::memcmp(seen.data(), expected.data(), sizeof expected) == 0);
}

}  // namespace

void check_device_contract(const device_under_test& subject) {
  CHECK(!subject.device->capabilities().name.empty());
  CHECK_NOTHROW(subject.device->check(subject.stream));
  if (subject.stream) CHECK_THROWS_AS(subject.device->check({}), usage_error);
  check_memory(subject);
  check_short_lived_memory(subject);
  check_events(subject);
  check_times(subject);
  check_copies(subject);
  check_copies_back(subject);
  if (!subject.device->capabilities().assembles) {
    CHECK_THROWS_AS(subject.device->assemble({}, subject.stream), device_error);
    return;
  }
  check_assembly(subject);
  check_mixing(subject);
}

}  // namespace feedline::test
