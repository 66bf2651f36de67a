#pragma once

#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

inline constexpr std::size_t tfrecord_head_bytes = 12;  ///< a length, and its checksum
inline constexpr std::size_t tfrecord_crc_bytes = 4;    ///< after the record

/// Whether these bytes begin a TFRecord file: a length, and the checksum of that.
[[nodiscard]] bool is_tfrecord_head(std::span<const std::byte> head) noexcept;

/// Finds the records of a file by their heads.
/// @return End of each record, with its checksum.
/// @throws dataset_error naming the byte: a wrong checksum, cut short, compressed.
[[nodiscard]] std::vector<std::uint64_t> index_tfrecord(const byte_file& file);

/// The index as it is kept in a file.
[[nodiscard]] std::vector<std::byte> stored_tfrecord_index(const byte_file& of,
                                                           std::span<const std::uint64_t> ends);
/// @return Empty: these bytes are no index of this file as it is now. Never trusts a number.
[[nodiscard]] std::vector<std::uint64_t> read_tfrecord_index(std::span<const std::byte> stored,
                                                             const byte_file& of);

/// Reads an index of DALI's tfrecord2idx: a line "offset size" for each record. Its numbers must
/// make up the file, and the heads of 17 records, spread over the file, must agree.
/// @return End of each record. Empty: it is no index of this file.
/// @throws dataset_error if the file cannot be read.
[[nodiscard]] std::vector<std::uint64_t> read_dali_index(std::string_view text,
                                                         const byte_file& of);
/// The same of the index beside a file: FILE.idx, or the name with .idx in place of its extension.
/// @return Empty: there is none. The log says if there is one of another file.
[[nodiscard]] std::vector<std::uint64_t> dali_index_beside(const byte_file& of);

/// The index that is kept in a folder. If there is none of this file as it is now, makes one and
/// keeps it; the log says if it cannot be written.
[[nodiscard]] std::vector<std::uint64_t> kept_tfrecord_index(const byte_file& of,
                                                             const std::string& folder);

}  // namespace feedline::detail
