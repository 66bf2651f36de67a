#pragma once

#include <feedline/hdf5/dataset.hpp>

#include "hdf5/library/conventions.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/handle.hpp"
#include "hdf5/library/member.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/library/storage.hpp"
#include "hdf5/library/type.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Name of a field for which none was chosen: the last part of its dataset's.
[[nodiscard]] std::string field_name_of(const hdf5_field& chosen);

/// A dataset's dimensions: none if it is a single value. Only the first one may be 0.
/// @throws hdf5_error
[[nodiscard]] std::vector<hsize_t> extents_of(const hdf5_session& hdf5, const hdf5_file& file,
                                              const std::string& name, hid_t space);

/// Like `sample_bytes`. @throws hdf5_error if there are too many bytes to count.
[[nodiscard]] std::size_t sample_bytes_of(const hdf5_file& file, const std::string& name,
                                          const field& spec);

/// A small buffer for reading records, or members of records. The library clears a buffer at each
/// read, by default of a megabyte, which takes longer than reading some rows; and it cannot read a
/// record larger than the buffer.
/// @return Transfer properties with a buffer of suitable size.
[[nodiscard]] hdf5_properties_id with_small_buffer(const hdf5_session& hdf5, hid_t dataset,
                                                   hid_t memory_type);

/// An open dataset, shared by the fields that are members of its records. Its destruction must be
/// within a session.
struct hdf5_opened {
  std::shared_ptr<hdf5_driver> driver;  ///< like `hdf5_file::driver`
  hdf5_dataset_id id;
  hdf5_values values;
};
using hdf5_opened_ptr = std::shared_ptr<const hdf5_opened>;

[[nodiscard]] hdf5_opened_ptr make_opened(const hdf5_session& hdf5, const hdf5_file& file,
                                          hdf5_dataset_id dataset);

/// The fault of the files of a call of the library, which may have succeeded nevertheless: as
/// text that follows the name of the field. Empty if there is none.
/// @param files Files in addition to those that the driver saw. @param first, last Samples that
///              were read.
[[nodiscard]] std::string fault_of_files(const hdf5_session& hdf5, const std::string& path,
                                         const hdf5_driver* driver,
                                         std::span<const hdf5_needed_file> files,
                                         std::uint64_t first, std::uint64_t last);

/// An HDF5 dataset, or a member of its records, that the library reads as a field: its rows are the
/// samples' values. All calls, including the destructor, must be within a session.
class hdf5_library_dataset {
 public:
  /// @throws hdf5_error if it is not a dataset of the file, has no rows, or no numeric type.
  /// @param opened The chosen dataset.
  /// @param member The member from `hdf5_file::open_dataset`.
  hdf5_library_dataset(const hdf5_session& hdf5, const hdf5_file& file, const hdf5_field& chosen,
                       hdf5_opened_ptr opened, const std::string& member);

  [[nodiscard]] const field& spec() const noexcept { return spec_; }
  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
  [[nodiscard]] std::size_t row_bytes() const noexcept { return row_bytes_; }
  /// The dataset's name within the file, including the member.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] hid_t id() const noexcept { return opened_->id.get(); }
  /// How its values are stored.
  [[nodiscard]] hdf5_storage_layout storage(const hdf5_session& hdf5, const hdf5_file& file) const {
    return examine_storage(hdf5, file, name_, id(), element_);
  }

  /// Like `convention_of`.
  [[nodiscard]] std::string convention(const hdf5_session& hdf5) const {
    return convention_of(hdf5, id(), extents_);
  }

  /// Call it before the first read.
  /// @throws hdf5_error if the library cannot return all values: a filter or another file is
  ///   missing.
  void require_readable(const hdf5_session& hdf5, const hdf5_file& file);

  /// Reads consecutive rows directly into `out`.
  /// @throws hdf5_error that names the first sample that cannot be read.
  void read_run(const hdf5_session& hdf5, std::uint64_t first, std::uint64_t count,
                std::byte* out) const;

  /// Reads rows in any order, with one call of the library for each run of consecutive ones,
  /// because its unions of selections are far slower.
  /// @throws like `read_run`.
  void read(const hdf5_session& hdf5, std::span<const sample_index> samples, std::byte* out) const;

  /// Whether it is a single value, which is one sample, and not rows.
  [[nodiscard]] bool is_single() const noexcept { return extents_.empty(); }
  /// Whether its values are references to objects.
  [[nodiscard]] bool is_reference() const noexcept { return element_.is_reference; }
  /// Extents of the dataset, without those of its elements.
  [[nodiscard]] std::span<const hsize_t> extents() const noexcept { return extents_; }
  /// Reads elements at equal distances along each dimension, dense and row-major.
  /// @throws hdf5_error that names no sample.
  void read_box(const hdf5_session& hdf5, std::span<const std::uint64_t> begin,
                std::span<const std::uint64_t> count, std::span<const std::uint64_t> step,
                std::span<std::byte> out) const;

 private:
  /// @return Like `try_read`.
  [[nodiscard]] std::string try_select(const hdf5_session& hdf5, std::span<const hsize_t> start,
                                       std::span<const hsize_t> step,
                                       std::span<const hsize_t> count,
                                       std::span<std::byte> out) const;
  /// @return The reason why they cannot be read; empty if they were read.
  [[nodiscard]] std::string try_read(const hdf5_session& hdf5, std::uint64_t first,
                                     std::uint64_t count, std::byte* out) const;

  std::string path_;
  std::string name_;  ///< within the file
  field spec_;
  std::uint64_t samples_ = 0;
  std::size_t row_bytes_ = 0;
  bool zero_first_ = false;  ///< the library may leave bytes unwritten
  hdf5_opened_ptr opened_;
  hdf5_space_id space_;
  hdf5_element element_;
  hdf5_properties_id transfer_ = {};  ///< for a member
  std::vector<hdf5_needed_file> files_ = {};
  std::vector<hsize_t> extents_ = {};  ///< extents of the dataset
};

/// Values of variable length of a dataset, or of a member of its records, where each value is a
/// sample: how they appear as runs of elements.
struct hdf5_sequences {
  hdf5_element element = {};  ///< one element
  hdf5_element row = {};      ///< bytes that the file stores for a value: its position
  hdf5_type_id memory = {};   ///< the type as which the library reads values: `hvl_t`, or `char*`
  bool is_string = false;
  std::uint64_t samples = 0;
};

/// @throws hdf5_error if its values are not such sequences, it has not one dimension, or the
///   elements are not of a field's types.
[[nodiscard]] hdf5_sequences find_sequences(const hdf5_session& hdf5, const hdf5_file& file,
                                            const std::string& name, const hdf5_opened& dataset,
                                            const std::string& member);

}  // namespace feedline::detail
