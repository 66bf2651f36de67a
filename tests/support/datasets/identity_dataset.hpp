#pragma once

#include <feedline/dataset/dataset.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::test {

/// The oracle of the pipeline's tests: a dataset whose sample i spells i in every byte, so that a
/// reorder, a tear, a stale row or a double delivery shows in the data itself.
///
/// Fields: "id", the sample's index as one u64, and "row", u8[row_bytes], pseudo-random bytes that
/// depend on the index alone. Nothing is stored: any number of samples costs nothing.
/// @param row_bytes At least 1; need be no multiple of anything.
/// @throws usage_error if `row_bytes` is 0.
[[nodiscard]] dataset_ptr make_identity_dataset(std::uint64_t samples, std::size_t row_bytes);

/// The same samples lying in memory, where a device can read them (`dataset::rows`), with one more
/// field for transforms: "note", the index's lowest byte as one u8.
[[nodiscard]] dataset_ptr make_identity_rows(std::uint64_t samples, std::size_t row_bytes);

/// Writes what sample `sample`'s "row" holds.
void write_identity_row(std::uint64_t sample, std::span<std::byte> row) noexcept;

/// Whether one sample's bytes are those of `sample`: all of "id" and all of "row". Any thread.
[[nodiscard]] bool is_identity(std::uint64_t sample, std::span<const std::byte> id,
                               std::span<const std::byte> row) noexcept;

}  // namespace feedline::test
