#pragma once

#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/record_decoder.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/pad.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How a column of records becomes a field, where the records that are looked at do not tell.
struct column_options {
  /// Decodes each value: `make_image_decoder()`, `decode_raw`, `decode_npy`. Null: none.
  decoder_ptr decoder = nullptr;
  /// Values of bytes are unencoded elements of this type, the least byte first. Empty: as stored.
  std::optional<element_type> type = std::nullopt;
  /// Each value has this shape; `{}`: a scalar. Empty: not stated.
  std::optional<std::vector<std::uint64_t>> shape = std::nullopt;
  /// Each value has any number of elements, also 0. Arrays have any first dimension.
  bool is_ragged = false;
};

/// Options for shards of records: `open_mds`, `open_litdata`, `open_lmdb`.
struct shard_options {
  /// Fields to open, in the wanted order; empty: all that can be fields.
  std::vector<std::string> fields = {};
  /// Columns by name, if what the records that are looked at have is not true of all.
  std::map<std::string, column_options> columns = {};
  /// Decodes values that are images; null: they stay bytes.
  decoder_ptr image = nullptr;
  /// Padding of ragged fields, by name; same as `decode_options::pad`.
  std::map<std::string, pad_options> pad = {};
  /// Decodes whole records, if a format stores them as bytes that it does not describe (LMDB).
  record_decoder_ptr record = nullptr;
  /// Number of records, spread evenly over all, that are looked at to choose fields.
  std::size_t looked_at = 128;
  /// Limit of memory for decompressed shards; at least two are kept. 0: a quarter of the machine's
  /// memory.
  std::size_t max_host_cache_bytes = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
