#pragma once

#include "hdf5/format/metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Positions of values of variable length: 12 bytes a value.
struct hdf5_value_places {
  std::vector<std::uint64_t> offsets = {};  ///< offset of the first byte; any if the value is empty
  std::vector<std::uint32_t> lengths = {};  ///< in elements
};

/// A value whose position cannot be found.
class hdf5_heap_error : public hdf5_metadata_error {
 public:
  hdf5_heap_error(std::uint64_t value, const std::string& what)
      : hdf5_metadata_error{what}, value_{value} {}
  /// Index of the value.
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_;
};

/// Finds the positions of values of variable length in a file, without the library. A dataset has
/// for each value a length and the name of a *heap object*: an object's index, and the
/// *collection* of the file's global heap that contains it. Collections are blocks of consecutive
/// objects, each with a header before it. (HDF5 File Format Specification 3.0, III.E)
///
/// Each collection is searched in a single walk over its objects' headers, and collections in
/// order of address, so that the time grows with values plus objects, not with their product. Two
/// collections that share bytes are damage, so no more bytes can be walked than the file has.
class hdf5_heap_search {
 public:
  /// Bytes of a value in a dataset. @param offset_bytes Size of an address in the file.
  [[nodiscard]] static constexpr std::size_t row_bytes(std::size_t offset_bytes) noexcept {
    return 4 + offset_bytes + 4;
  }
  /// Most memory for each value during the search; and memory for each value afterwards.
  static constexpr std::size_t search_bytes = 22;
  static constexpr std::size_t place_bytes = 12;

  /// @param element_bytes Size of an element in the file.
  hdf5_heap_search(hdf5_metadata& metadata, std::size_t element_bytes)
      : metadata_{metadata}, element_bytes_{element_bytes} {}

  /// Makes room for this many values.
  void reserve(std::uint64_t values);

  /// Adds values in a dataset's form, whole rows. @throws hdf5_heap_error
  void add(std::span<const std::byte> rows);

  /// Call it once, at the end. All positions are within the file.
  /// @throws hdf5_heap_error that names a value whose object is missing, or shorter than the value.
  [[nodiscard]] hdf5_value_places find();

 private:
  /// An object to which some value of the collection being walked refers.
  struct object {
    std::uint64_t walk = 0;    ///< number of the walk in which it is wanted
    std::uint64_t offset = 0;  ///< offset in the file of its first byte; 0: not found yet
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] std::size_t value_at(std::size_t i) const noexcept {
    return order_.empty() ? i : static_cast<std::size_t>(order_[i]);
  }
  void order_by_address();
  void hint_ahead();
  [[nodiscard]] std::size_t find_in_collection(std::size_t first);
  [[nodiscard]] std::size_t want(std::size_t first);
  void place(std::size_t value, std::uint64_t address);
  void open_collection(std::uint64_t address);
  void walk(std::uint64_t address);
  [[nodiscard]] hdf5_cursor at(std::uint64_t address, std::uint64_t bytes);

  hdf5_metadata& metadata_;
  std::size_t element_bytes_;
  hdf5_value_places places_ = {};  ///< addresses of collections, until the values are found
  std::vector<std::uint16_t> indexes_ = {};  ///< indices of objects in the collections
  std::vector<std::uint64_t> order_ = {};    ///< values by address; empty: already in this order
  std::uint64_t last_address_ = 0;
  bool is_ordered_ = true;

  std::vector<object> objects_ = {};  ///< objects by index, up to the largest one that is wanted
  std::uint64_t walk_ = 0;            ///< number of the current walk
  std::uint64_t wanted_ = 0;          ///< objects not found yet
  std::uint64_t collection_end_ = 0;  ///< end of the last collection, as an address

  std::optional<hdf5_block> window_ = {};  ///< the bytes that were last read
  std::uint64_t window_begin_ = 0;
  std::size_t hinted_to_ = 0;         ///< index in order
  std::uint64_t hinted_ = 0;          ///< collections that were hinted at and not walked yet
  std::uint64_t hinted_address_ = 0;  ///< address of the last one
};

}  // namespace feedline::detail
