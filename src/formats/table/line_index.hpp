#pragma once

#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Where the records of a text file are: its lines. With a quote, a record also has the lines
/// whose ends are quoted.
struct line_index {
  std::uint64_t begin = 0;           ///< offset of the first record: after a byte order mark
  std::vector<std::uint64_t> ends;   ///< end of each record, with its line's end
  std::vector<std::uint64_t> blank;  ///< ends of lines without content, which the next record has
  std::vector<std::uint64_t> inner;  ///< ends of lines that are quoted

  [[nodiscard]] byte_range record(std::size_t i) const noexcept {
    return {i == 0 ? begin : ends[i - 1], ends[i]};
  }
  /// Number of the line in which a record begins, from 1.
  [[nodiscard]] std::uint64_t line_of(std::size_t record) const noexcept;
};

/// Finds the records of files. Files are read once, in pieces, by all cores.
/// @param quote Quotes the ends of lines; doubled within quotes. Empty: every line is a record.
/// @throws dataset_error: compressed, UTF-16, or changed meanwhile.
[[nodiscard]] std::vector<line_index> index_lines(const std::vector<byte_file_ptr>& files,
                                                  std::optional<char> quote);

/// The same; indexes that are kept in a folder are used for the files that they were made of, as
/// these are now, and the others are made and kept.
/// @param folder Empty: none is kept. @param who Begins messages: "open_csv".
[[nodiscard]] std::vector<line_index> index_lines(const std::vector<byte_file_ptr>& files,
                                                  std::optional<char> quote,
                                                  const std::string& folder, std::string_view who);

/// The numbers of an index, as they are kept.
[[nodiscard]] std::vector<std::uint64_t> numbers_of(const line_index& index);
/// @param bytes Size of the file.
/// @return Empty: these numbers are no index of such a file. Never trusts a number.
[[nodiscard]] std::optional<line_index> line_index_of(std::span<const std::uint64_t> numbers,
                                                      std::uint64_t bytes);

}  // namespace feedline::detail
