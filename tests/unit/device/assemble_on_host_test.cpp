#include "device/assemble_on_host.hpp"

#include "support/checks/catch.hpp"
#include "support/devices/destination_builder.hpp"
#include "support/devices/random_conversion.hpp"
#include "support/devices/slow_transform.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

using namespace feedline;
using feedline::test::destination_format;
using feedline::test::destination_image;
using feedline::test::sample_source;

namespace {

using bytes = std::vector<std::byte>;

constexpr std::byte untouched{0xEE};
constexpr std::uint64_t device_row_cache = 9;
constexpr std::uint64_t kept_before = 5;  ///< rows kept before; the slots after them keep new rows

/// One field of a random slot.
struct field_rows {
  field_conversion conversion;
  std::size_t row_bytes = 0;
  std::size_t to_row_bytes = 0;
  std::size_t to_offset = 0;
  std::vector<bytes> arriving;
  bytes cached;
  field_assembly::rows_in_place in_place = {};
  bytes apart;  ///< rows that are not `in_place`

  std::span<const std::byte> kept_row(std::uint64_t number) const {
    return std::span{cached}.subspan(number * row_bytes, row_bytes);
  }
};

field_rows random_field(std::mt19937& random, std::uint64_t arriving) {
  field_rows field;
  field.conversion = test::random_conversion(random);
  field.row_bytes = test::row_bytes_of(field.conversion, 77);
  field.to_row_bytes = test::to_row_bytes_of(field.conversion, 77);
  for (std::uint64_t i = 0; i < arriving; ++i)
    field.arriving.push_back(test::random_row(field.conversion, random));
  for (std::uint64_t i = 0; i < device_row_cache; ++i) {
    const bytes row = test::random_row(field.conversion, random);
    field.cached.insert(field.cached.end(), row.begin(), row.end());
  }
  return field;
}

/// Moves some of the first and last cached rows to memory of their own.
void set_apart(field_rows& field, std::mt19937& random) {
  const auto first = static_cast<std::uint32_t>(random() % device_row_cache);
  const auto count = static_cast<std::uint32_t>(random() % (device_row_cache - first + 1));
  field.in_place = {.first = first, .count = count};
  for (std::uint32_t row = 0; row < device_row_cache; ++row) {
    if (row - first < count) continue;
    const auto begin = field.cached.begin() + static_cast<std::ptrdiff_t>(row * field.row_bytes);
    const auto end = begin + static_cast<std::ptrdiff_t>(field.row_bytes);
    field.apart.insert(field.apart.end(), begin, end);
    std::fill(begin, end, untouched);
  }
}

/// Samples that arrive, some to be kept, and samples of cached rows.
std::vector<sample_source> random_sources(std::mt19937& random, std::uint64_t samples, bool keeps,
                                          std::uint64_t arriving) {
  std::vector<sample_source> sources(samples);
  for (sample_source& each : sources) {
    each.random_bits = static_cast<std::uint32_t>(random());
    each.arrives = random() % 2 == 0;
    each.row = random() % (each.arrives ? arriving : kept_before);
    // A row has one slot, so that it is the same whichever run brings it.
    const std::uint64_t place = kept_before + each.row;
    if (each.arrives && keeps && place < device_row_cache)
      each.cache_as = static_cast<std::uint32_t>(place);
  }
  return sources;
}

}  // namespace

TEST_CASE("assemble on host: each sample of each field comes from its source, converted",
          "[device][host]") {
  const std::uint32_t seed = GENERATE(1U, 2U, 3U);
  std::mt19937 random{seed};
  for (int round = 0; round < 20; ++round) {
    INFO("seed " << seed << ", round " << round);
    const std::uint64_t samples = 1 + random() % 40;
    constexpr std::uint64_t arriving = 7;
    destination_format format;
    format.batch_size = 1 + random() % 12;
    format.run_samples = 1 + random() % format.batch_size;
    format.runs_per_batch = (format.batch_size + format.run_samples - 1) / format.run_samples;
    format.keeps = random() % 2 == 0;
    format.varies = random() % 2 == 0;
    std::vector<field_rows> rows;
    std::size_t batch_bytes = 0;
    for (std::uint64_t i = 0; i < 1 + random() % 3; ++i) {
      rows.push_back(random_field(random, arriving));
      rows.back().to_offset = batch_bytes;
      batch_bytes += rows.back().to_row_bytes * format.batch_size + 16;
      format.row_bytes.push_back(rows.back().row_bytes);
    }
    const auto sources = random_sources(random, samples, format.keeps, arriving);
    const destination_image copy_destination =
        test::build_copy_destination(format, sources, [&](std::size_t field, std::uint64_t row) {
          return std::span<const std::byte>{rows[field].arriving[row]};
        });

    const std::uint64_t batches = (samples + format.batch_size - 1) / format.batch_size;
    bytes expected(batches * batch_bytes, untouched);
    std::vector<bytes> expected_kept;
    for (field_rows& field : rows) {
      expected_kept.push_back(field.cached);
      for (const sample_source& each : sources)
        if (each.cache_as != assembly::not_cached)
          std::copy_n(field.arriving[each.row].begin(), field.row_bytes,
                      expected_kept.back().begin() +
                          static_cast<std::ptrdiff_t>(each.cache_as * field.row_bytes));
      for (std::uint64_t i = 0; i < samples; ++i) {
        const sample_source& each = sources[i];
        const bytes sample =
            test::slow_transform(field.conversion,
                                 each.arrives ? std::span<const std::byte>{field.arriving[each.row]}
                                              : field.kept_row(each.row),
                                 format.varies ? each.random_bits : 0);
        std::copy(sample.begin(), sample.end(),
                  expected.begin() + static_cast<std::ptrdiff_t>(
                                         i / format.batch_size * batch_bytes + field.to_offset +
                                         i % format.batch_size * field.to_row_bytes));
      }
    }

    std::vector<field_assembly> fields;
    for (field_rows& field : rows) {
      field_assembly each;
      each.cached = field.cached.data();
      each.keep = format.keeps ? field.cached.data() : nullptr;
      if (!format.keeps && random() % 2 == 0) {
        set_apart(field, random);
        each.in_place = field.in_place;
        each.in_place.apart = field.apart.data();
      }
      each.row_bytes = field.row_bytes;
      each.to_offset = field.to_offset;
      each.to_row_bytes = field.to_row_bytes;
      each.conversion = field.conversion;
      fields.push_back(each);
    }
    bytes slot(expected.size(), untouched);
    assembly work;
    copy_destination.describe(work, format);
    work.slot = slot.data();
    work.batch_bytes = batch_bytes;
    work.samples = samples;
    work.copy_destination = copy_destination.bytes.data();
    work.fields = fields;
    detail::assemble_on_host(work);

    REQUIRE((slot == expected));  // parentheses: megabytes are not printed
    for (std::size_t i = 0; format.keeps && i < rows.size(); ++i)
      REQUIRE((rows[i].cached == expected_kept[i]));
  }
}

TEST_CASE("assemble on host: a row that is kept in this slot serves a sample of the same slot",
          "[device][host]") {
  const destination_format format{.row_bytes = {1},
                                  .batch_size = 2,
                                  .run_samples = 1,
                                  .runs_per_batch = 2,
                                  .varies = false,
                                  .keeps = true};
  const std::vector<sample_source> sources{
      {.arrives = false, .row = 3},  // before the one that brings it
      {.arrives = true, .row = 0, .cache_as = 3},
  };
  const bytes arriving{std::byte{42}};
  const destination_image copy_destination = test::build_copy_destination(
      format, sources, [&](std::size_t, std::uint64_t) { return std::span{arriving}; });

  bytes cached(5, untouched);
  field_assembly field;
  field.cached = field.keep = cached.data();
  field.row_bytes = field.to_row_bytes = 1;
  bytes slot(2, untouched);
  assembly work;
  copy_destination.describe(work, format);
  work.slot = slot.data();
  work.batch_bytes = 2;
  work.samples = 2;
  work.copy_destination = copy_destination.bytes.data();
  work.fields = {&field, 1};
  detail::assemble_on_host(work);
  CHECK(slot == bytes{std::byte{42}, std::byte{42}});
  CHECK(cached == bytes{untouched, untouched, untouched, std::byte{42}, untouched});
}
