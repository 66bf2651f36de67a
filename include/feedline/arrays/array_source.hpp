#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {
class axis_coordinates;
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Attributes that give an array's stored numbers another meaning (CF Conventions, sections 2.5 and
/// 8.1). They are applied by `unpack`; everything else reads the stored numbers.
struct value_packing {
  /// A number, and whether the file stores it as f32: xarray chooses the result's type from this.
  struct number {
    double value = 0;
    bool is_f32 = false;

    friend bool operator==(const number&, const number&) = default;
  };
  std::optional<number> scale_factor = {};
  std::optional<number> add_offset = {};
  /// `_FillValue` and `missing_value`: stored numbers that stand for a missing value.
  std::vector<double> missing = {};
  /// Whether the last of `missing` is Zarr 2's fill value. Arrays often have one that does not mean
  /// a missing value, so no warning is given if it is not applied.
  bool has_default_missing = false;
  /// `_Unsigned`: integers are to be taken as unsigned (true), or as signed. Empty: as stored.
  std::optional<bool> is_unsigned = {};

  /// Whether stored numbers differ from the numbers that they stand for, apart from missing values.
  [[nodiscard]] bool changes_values() const noexcept {
    return (scale_factor && scale_factor->value != 1) || (add_offset && add_offset->value != 0) ||
           is_unsigned.has_value();
  }
  friend bool operator==(const value_packing&, const value_packing&) = default;
};

/// Description of an array of N dimensions.
struct array_spec {
  std::string name;       ///< name in errors, and of a field that is made of this array alone
  std::string path = {};  ///< file; empty: memory
  element_type type = element_type::u8;
  std::vector<std::uint64_t> shape = {};  ///< at most 32 extents, none 0; empty: a single number
  /// Names of the dimensions, one for each; "": this one has no name. Empty: none has.
  std::vector<std::string> dimensions = {};
  /// Extents of the chunks, which are read and decoded as a whole, one for each dimension. Empty:
  /// there are no chunks, and any part can be read alone.
  std::vector<std::uint64_t> chunk = {};
  std::uint64_t chunks_kept = 0;  ///< maximum number of decoded chunks in memory
  value_packing packing = {};
  /// Values of each dimension's scale, such as times, or of Zarr's array of its name. Compared by
  /// `make_windows` and `concatenate_arrays`. Null: they are not known. Empty: none is.
  std::vector<std::shared_ptr<const detail::axis_coordinates>> coordinates = {};
};

/// "t2m: int16[time 8760, latitude 721, longitude 1440]".
[[nodiscard]] std::string to_string(const array_spec& spec);

/// A part of an array, and the memory that it is read into. Element [k0, k1, …] of the part is the
/// array's element [begin[0] + k0 × step[0], …], and goes to `out + k0 × stride[0] + …`. Each span
/// has one number for each dimension. All elements are in the array.
struct array_box {
  std::span<const std::uint64_t> begin;
  std::span<const std::uint64_t> count;    ///< none is 0
  std::span<const std::uint64_t> step;     ///< none is 0
  std::span<const std::ptrdiff_t> stride;  ///< in bytes; may be negative
  std::byte* out;
};

/// An array of N dimensions, wherever it is stored, that is read in boxes. Immutable.
///
/// Derive from it to make samples from your own storage with `make_windows`. Only `do_read` must be
/// overridden. Threads: any number, at once.
class array_source {
 public:
  /// @throws usage_error if the shape has a 0, or more than 32 extents, or its bytes do not fit in
  /// 63 bits, or if there is not one name and one chunk extent for each dimension.
  explicit array_source(array_spec spec);
  array_source(const array_source&) = delete;
  array_source& operator=(const array_source&) = delete;
  virtual ~array_source() = default;

  [[nodiscard]] const array_spec& spec() const noexcept { return spec_; }

  /// Reads boxes directly to their destinations, in the machine's byte order. Blocks until they are
  /// read. A chunk that several boxes need is decoded once.
  /// @throws dataset_error naming file, array and chunk or byte.
  void read(std::span<const array_box> boxes) const { do_read(boxes); }
  /// Reads the whole array, row-major. @param out Memory of the array's size.
  void read_all(std::span<std::byte> out) const;

  /// Whether `prefetch` would help now; cheap.
  [[nodiscard]] virtual bool wants_prefetch() const noexcept { return false; }
  /// Hints that boxes will be read soon. Returns without waiting. `out` is not used.
  virtual void prefetch(std::span<const array_box> boxes) const noexcept { (void)boxes; }

 private:
  virtual void do_read(std::span<const array_box> boxes) const = 0;

  const array_spec spec_;
};

/// Shared ownership of an immutable array.
using array_ptr = std::shared_ptr<const array_source>;

/// A dimension of an array: its name, or its number. Numbers count from 0; negative ones count from
/// the end, so -1 is the last dimension.
struct array_axis {
  array_axis(std::string named) : name{std::move(named)} {}       // NOLINT(*-explicit-*)
  array_axis(const char* named) : name{named} {}                  // NOLINT(*-explicit-*)
  array_axis(std::int64_t counted) : number{counted} {}           // NOLINT(*-explicit-*)
  array_axis(int counted) : array_axis{std::int64_t{counted}} {}  // NOLINT(*-explicit-*)

  std::string name = {};
  std::int64_t number = 0;  ///< if `name` is empty

  friend bool operator==(const array_axis&, const array_axis&) = default;
};

/// "axis 'time'", "axis -1".
[[nodiscard]] std::string to_string(const array_axis& axis);

/// The dimension's number; empty if the array has no such dimension.
[[nodiscard]] std::optional<std::size_t> find_axis(const array_spec& spec, const array_axis& axis);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
