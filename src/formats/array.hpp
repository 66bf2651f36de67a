#pragma once

#include <feedline/dataset/memory_dataset.hpp>

#include "io/byte_source.hpp"
#include "rows/row_storage.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline::detail {

/// The array as described by its file's header (IDX, NumPy).
struct array_header {
  element_type type = element_type::u8;
  std::vector<std::uint64_t> extents = {};  ///< none is 0; the first one counts the samples
  std::uint64_t header_bytes = 0;           ///< the elements begin there
  std::size_t payload_bytes = 0;            ///< bytes of all elements

  /// Sets `payload_bytes`.
  /// @throws dataset_error at `offset` if 64 bits cannot count where the array ends.
  void count_payload(std::uint64_t offset, const file_field& name);

  /// Where the array must end; a sum that always fits.
  [[nodiscard]] std::uint64_t end() const noexcept { return header_bytes + payload_bytes; }

  /// "float32[60000, 28, 28]".
  [[nodiscard]] std::string describe() const;

  /// The field of each sample.
  [[nodiscard]] field to_field(std::string name) const;
  /// The same, of elements in memory.
  [[nodiscard]] memory_field to_field(std::string name, const row_storage& elements) const;

  /// @throws dataset_error if the file, or other source of the array, is shorter than the header
  /// says.
  void require_room(std::uint64_t size, const file_field& name) const;

  /// An error that something follows the array. @param end How it was found: "is 17 bytes", with a
  /// remedy.
  [[nodiscard]] dataset_error over_long(const std::string& end, const file_field& name) const;

  [[nodiscard]] dataset_error no_memory(const std::string& advice, const file_field& name) const;

  /// Reads all elements, into memory that grows with them where their number is only a claim.
  /// @param at_once The claim was checked: all memory is taken before.
  /// @throws dataset_error as `require_room`.  @throws std::bad_alloc
  [[nodiscard]] row_storage read_elements(byte_source& from, bool at_once,
                                          const file_field& name) const;
};

}  // namespace feedline::detail
