#pragma once

#include "hdf5/format/metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Where values of variable length lie: 12 bytes a value.
struct hdf5_value_places {
  std::vector<std::uint64_t> offsets = {};  ///< of the first byte; of empty values nothing
  std::vector<std::uint32_t> lengths = {};  ///< in elements
};

/// A value whose place cannot be found.
class hdf5_heap_error : public hdf5_metadata_error {
 public:
  hdf5_heap_error(std::uint64_t value, const std::string& what)
      : hdf5_metadata_error{what}, value_{value} {}
  /// Its number.
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_;
};

/// Finds where values of variable length lie in a file, without the library. A dataset has of each
/// a length and the name of a *heap object*: which object of which *collection* of the file's
/// global heap. Collections are blocks of objects, one behind the other, each behind a header of
/// its own. (HDF5 File Format Specification 3.0, III.E)
///
/// All that is needed of a collection is looked up in one walk over its objects' headers,
/// collections in order of place, so that the time goes with values and objects, not with their
/// product. Two that share bytes are damage, so no file can have more walked than it has bytes.
class hdf5_heap_search {
 public:
  /// Of one value, in a dataset. @param offset_bytes Of an address in the file.
  [[nodiscard]] static constexpr std::size_t row_bytes(std::size_t offset_bytes) noexcept {
    return 4 + offset_bytes + 4;
  }
  /// Memory that is taken for each value, at most; and that stays.
  static constexpr std::size_t search_bytes = 22;
  static constexpr std::size_t place_bytes = 12;

  /// @param element_bytes In the file.
  hdf5_heap_search(hdf5_metadata& metadata, std::size_t element_bytes)
      : metadata_{metadata}, element_bytes_{element_bytes} {}

  /// Makes room for so many values.
  void reserve(std::uint64_t values);

  /// Takes values as a dataset has them, whole rows. @throws hdf5_heap_error
  void add(std::span<const std::byte> rows);

  /// Once, at the end. All places lie within the file.
  /// @throws hdf5_heap_error naming a value whose object is not there, or shorter than the value.
  [[nodiscard]] hdf5_value_places find();

 private:
  /// An object that some value of the collection being walked wants.
  struct object {
    std::uint64_t walk = 0;    ///< for which it is wanted
    std::uint64_t offset = 0;  ///< in the file, of its first byte; 0: not found yet
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
  hdf5_value_places places_ = {};  ///< addresses of collections, as long as they are sought
  std::vector<std::uint16_t> indexes_ = {};  ///< within the collections
  std::vector<std::uint64_t> order_ = {};    ///< values by address; empty: they stand so
  std::uint64_t last_address_ = 0;
  bool is_ordered_ = true;

  std::vector<object> objects_ = {};  ///< by index, as far as any is wanted
  std::uint64_t walk_ = 0;            ///< number of the present one
  std::uint64_t wanted_ = 0;          ///< objects not found yet
  std::uint64_t collection_end_ = 0;  ///< of the last one, counted as addresses are

  std::optional<hdf5_block> window_ = {};  ///< the bytes last looked at
  std::uint64_t window_begin_ = 0;
  std::size_t hinted_to_ = 0;         ///< in order
  std::uint64_t hinted_ = 0;          ///< collections that were hinted at and not walked yet
  std::uint64_t hinted_address_ = 0;  ///< the last one
};

}  // namespace feedline::detail
