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

/// A field's name where none was chosen: the last part of its dataset's.
[[nodiscard]] std::string field_name_of(const hdf5_field& chosen);

/// A dataset's dimensions: at least one, none of them 0. @throws hdf5_error
[[nodiscard]] std::vector<hsize_t> extents_of(const hdf5_session& hdf5, const hdf5_file& file,
                                              const std::string& name, hid_t space);

/// As `sample_bytes`. @throws hdf5_error if they cannot be counted.
[[nodiscard]] std::size_t sample_bytes_of(const hdf5_file& file, const std::string& name,
                                          const field& spec);

/// To read records, or a member of theirs, the library clears a buffer each time, of a megabyte if
/// it is not told otherwise, which takes longer than to read some rows; and a record larger than
/// the buffer is not read.
/// @return Properties of a transfer with a buffer that serves.
[[nodiscard]] hdf5_properties_id with_small_buffer(const hdf5_session& hdf5, hid_t dataset,
                                                   hid_t memory_type);

/// A dataset that is open, shared by the fields that are members of its records. It is destroyed
/// within a session.
struct hdf5_opened {
  std::shared_ptr<hdf5_driver> driver;  ///< as `hdf5_file::driver`
  hdf5_dataset_id id;
  hdf5_values values;
};
using hdf5_opened_ptr = std::shared_ptr<const hdf5_opened>;

[[nodiscard]] hdf5_opened_ptr make_opened(const hdf5_session& hdf5, const hdf5_file& file,
                                          hdf5_dataset_id dataset);

/// What went wrong with the files of a call of the library, though it may have succeeded: in words
/// that follow the name of the field. Empty: nothing.
/// @param files Besides those that the driver saw. @param last Sample that was read, as `first`.
[[nodiscard]] std::string fault_of_files(const hdf5_session& hdf5, const std::string& path,
                                         const hdf5_driver* driver,
                                         std::span<const hdf5_needed_file> files,
                                         std::uint64_t first, std::uint64_t last);

/// An HDF5 dataset, or a member of its records, read as a field by the library: its rows are the
/// samples' values. All calls, the destructor's included, fall within a session.
class hdf5_library_dataset {
 public:
  /// @throws hdf5_error if it is no dataset of the file, has no rows, or no numeric type.
  /// @param opened The chosen dataset.
  /// @param member As `hdf5_file::open_dataset` gives it.
  hdf5_library_dataset(const hdf5_session& hdf5, const hdf5_file& file, const hdf5_field& chosen,
                       hdf5_opened_ptr opened, const std::string& member);

  [[nodiscard]] const field& spec() const noexcept { return spec_; }
  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
  [[nodiscard]] std::size_t row_bytes() const noexcept { return row_bytes_; }
  /// The dataset's name within the file, the member's included.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] hid_t id() const noexcept { return opened_->id.get(); }
  /// How its values are stored.
  [[nodiscard]] hdf5_storage_layout storage(const hdf5_session& hdf5, const hdf5_file& file) const {
    return examine_storage(hdf5, file, name_, id(), element_);
  }

  /// As `convention_of`.
  [[nodiscard]] std::string convention(const hdf5_session& hdf5) const {
    return convention_of(hdf5, id(), extents_);
  }

  /// Before the first read.
  /// @throws hdf5_error if the library cannot give all values: a filter or another file is missing.
  void require_readable(const hdf5_session& hdf5, const hdf5_file& file);

  /// Reads consecutive rows straight into `out`.
  /// @throws hdf5_error naming the first sample that cannot be read.
  void read_run(const hdf5_session& hdf5, std::uint64_t first, std::uint64_t count,
                std::byte* out) const;

  /// Reads rows in any order: one call of the library for each run of consecutive ones, for its
  /// unions of selections are slower than that by far.
  /// @throws as `read_run`.
  void read(const hdf5_session& hdf5, std::span<const sample_index> samples, std::byte* out) const;

 private:
  /// @return Why they cannot be read; empty: they were.
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
  hdf5_properties_id transfer_ = {};  ///< of a member
  std::vector<hdf5_needed_file> files_ = {};
  std::vector<hsize_t> extents_ = {};  ///< of the dataset
};

/// Values of variable length of a dataset, or of a member of its records, each a sample: how they
/// appear as runs of elements.
struct hdf5_sequences {
  hdf5_element element = {};  ///< one element
  hdf5_element row = {};      ///< what stands in the file for a value: where it is, as bytes
  hdf5_type_id memory = {};   ///< what the library is to read values as: `hvl_t`, or `char*`
  bool is_string = false;
  std::uint64_t samples = 0;
};

/// @throws hdf5_error if they are none, have not one dimension, or other elements than fields.
[[nodiscard]] hdf5_sequences find_sequences(const hdf5_session& hdf5, const hdf5_file& file,
                                            const std::string& name, const hdf5_opened& dataset,
                                            const std::string& member);

}  // namespace feedline::detail
