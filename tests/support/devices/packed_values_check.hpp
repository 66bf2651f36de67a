#pragma once

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/device/host_device.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/packed_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// A device that makes packed values, and how to see what it made.
struct packed_values_device {
  device_ptr device;
  stream_ref stream;
  field_reader read;
};

inline std::vector<std::byte> read_on_host(const tensor_view& of) {
  const auto bytes = of.bytes();
  return {bytes.begin(), bytes.end()};
}

/// Checks that a loader on the device delivers what one on the host does, whose readers make the
/// fields. @param state Where both continue; empty: they begin.
inline void check_made_as_by_readers(const packed_values_device& by, const dataset_ptr& rows,
                                     const loader_options& options,
                                     const std::optional<loader_state>& state = {}) {
  loader on_host{rows, shuffle{.seed = 5}, make_host_device(), options};
  loader on_device{rows, shuffle{.seed = 5}, by.device, options};
  CHECK(on_host.plan().made_on_device.empty());
  CHECK(on_device.plan().made_on_device ==
        std::vector<std::string>{"token_position", "token_document", "token_mask"});
  CHECK(on_device.plan().made_note.empty());
  if (state) {
    on_host.seek(*state);
    on_device.seek(*state);
  }
  const std::uint64_t epochs = std::max<std::uint64_t>(options.epochs, 1);
  const auto expected = packed_batches(on_host, epochs, {}, read_on_host);
  const auto seen = packed_batches(on_device, epochs, by.stream, by.read);
  REQUIRE(!expected.empty());
  REQUIRE(seen.size() == expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CAPTURE(i);
    REQUIRE(seen[i].rows == expected[i].rows);
    for (std::size_t place = 0; place < seen[i].fields.size(); ++place) {
      CAPTURE(place);
      REQUIRE(seen[i].fields[place] == expected[i].fields[place]);
    }
  }
  CHECK(on_device.failures().count == on_host.failures().count);
}

/// The same with rows of each kind, in each placement, in each way of reading an epoch. The
/// capacities make groups of four elements that are whole, that are not, and that are not aligned.
inline void check_packed_values(const packed_values_device& by) {
  SECTION("rows of any capacity, in each placement") {
    for (const std::uint64_t capacity : {8U, 37U, 94U, 256U})
      for (const packed_mask mask : {packed_mask::elements, packed_mask::followed}) {
        CAPTURE(capacity, static_cast<int>(mask));
        const auto rows = packed_rows(capacity, mask);
        for (const placement where : {placement::stream, placement::resident, placement::cached}) {
          CAPTURE(to_string(where));
          loader_options options{.batch_size = 5, .epochs = 2, .readers = 2, .placement = where};
          if (where == placement::cached) options.memory.cache = rows->size() * capacity * 8;
          check_made_as_by_readers(by, rows, options);
        }
      }
  }
  const auto rows = packed_rows(37);
  const loader_options usual{.batch_size = 6, .readers = 2};
  SECTION("a rank's share, with a partial batch") {
    loader_options options = usual;
    options.shard = {.rank = 1, .world = 3};
    options.partial_batch = partial_batch::keep;
    check_made_as_by_readers(by, rows, options);
  }
  SECTION("a batch in several pieces, and several batches in a slot") {
    loader_options options = usual;
    options.batch_size = rows->size() / 2;
    options.expert.piece_bytes = 16 << 10;
    check_made_as_by_readers(by, rows, options);
    options.batch_size = 3;
    options.expert.batches_per_slot = 7;
    check_made_as_by_readers(by, rows, options);
  }
  SECTION("resumed") {
    loader whole{rows, shuffle{.seed = 5}, make_host_device(), usual};
    loader_state state = whole.state();
    state.batch = 3;
    check_made_as_by_readers(by, rows, usual, state);
  }
  SECTION("rows that cannot be read are left out, and replaced") {
    const auto damaged = packed_rows(37, packed_mask::followed, 700, 333);
    loader_options options = usual;
    options.errors = {.action = error_action::skip, .max_share = 0.5};
    check_made_as_by_readers(by, damaged, options);
    options.errors.action = error_action::substitute;
    const auto has_bad = [&](std::uint64_t row) {
      const auto parts = damaged->parts_of(sample_index{row});
      return std::any_of(parts.begin(), parts.end(),
                         [](const packed_part& part) { return part.sample.value == 333; });
    };
    while (has_bad(options.errors.substitute)) ++options.errors.substitute;
    check_made_as_by_readers(by, damaged, options);
  }
  SECTION("rows that are chosen") {
    check_made_as_by_readers(by, subset(rows, sample_index{4}, rows->size() - 9), usual);
    check_made_as_by_readers(by, subset(rows, {sample_index{9}, sample_index{2}, sample_index{9}}),
                             {.batch_size = 2, .readers = 0});
  }
  SECTION("rows beside other fields, some of their fields, rows after other rows") {
    const auto numbers = make_memory_dataset(
        {own("number", std::vector<std::int32_t>(static_cast<std::size_t>(rows->size()), 7))});
    const dataset_ptr beside = zip({numbers, rows});
    check_made_as_by_readers(by, beside, usual);
    check_made_as_by_readers(by,
                             select(beside, {{"token_mask"},
                                             {"token_position"},
                                             {"number", "other"},
                                             {"token_offsets", "offsets"},
                                             {"token_document"}}),
                             usual);
    check_made_as_by_readers(by, concatenate({subset(rows, sample_index{4}, 9), rows}), usual);
  }
  SECTION("other fields are converted, or also kept on the host") {
    loader_options options = usual;
    options.transforms = {{.field = "label", .to = element_type::i32}};
    check_made_as_by_readers(by, rows, options);
    options.transforms.clear();
    options.keep_on_host = {{.name = "token_offsets", .on_device_too = true}};
    check_made_as_by_readers(by, rows, options);
  }
}

}  // namespace feedline::test
