#pragma once

#include <feedline/dataset/memory_dataset.hpp>

#include "formats/idx/header.hpp"
#include "io/byte_source.hpp"
#include "rows/row_storage.hpp"

namespace feedline::detail {

/// All that an IDX file holds, its elements in the machine's byte order.
struct idx_array {
  idx_header header;
  row_storage elements;  ///< `header.payload_bytes` bytes
};

/// Reads an IDX file whole, compressed by gzip or not. Offsets in errors count the file's bytes,
/// or, where the message says so, the decompressed ones.
///
/// Memory follows the data, not the header: no more is allocated than the file is long, or than
/// twice what has been decompressed so far and never more than the header announces.
/// @throws dataset_error naming the byte: see `open_idx`.
[[nodiscard]] idx_array read_idx(byte_source& file, const file_field& name);

/// The array as a field, its first dimension counting the samples.
[[nodiscard]] memory_field to_field(const idx_array& array, std::string field_name);

}  // namespace feedline::detail
