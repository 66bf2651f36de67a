#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/element_type.hpp>

#include "hdf5/library/handle.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedline::test {

enum class record_style {
  packed,  ///< members follow each other, not in the order in which they were added
  padded,  ///< with gaps before, between and after them
};

/// Records of many kinds of members, as a file has them: either byte order, an array, a record in a
/// record, complex numbers, text, a name that has '/' in it.
[[nodiscard]] detail::hdf5_type_id record_type(record_style style);

/// A member, and how it is to be read.
struct hdf5_member_case {
  /// @param native The member's own type in memory.
  hdf5_member_case(std::vector<std::string> member_names, element_type elements,
                   std::vector<std::uint64_t> extents, hid_t native)
      : names{std::move(member_names)},
        type{elements},
        shape{std::move(extents)},
        memory{H5Tcopy(native)} {}

  std::vector<std::string> names;  ///< names of the records in each other, the outermost first
  element_type type;
  std::vector<std::uint64_t> shape;
  detail::hdf5_type_id memory;

  [[nodiscard]] std::string path() const;
  /// A record in memory of this member alone.
  [[nodiscard]] detail::hdf5_type_id in_records() const;
};

/// Those of `record_type`, in its order.
[[nodiscard]] const std::vector<hdf5_member_case>& record_members();

/// All values of a member, by the library.
[[nodiscard]] std::vector<std::byte> rows_by_library(const std::filesystem::path& file,
                                                     const std::string& dataset,
                                                     const hdf5_member_case& member);

/// All samples of one field, read in an order that has jumps, runs, and each sample twice.
[[nodiscard]] std::vector<std::byte> samples_of(const dataset& data, std::size_t field);

/// Checks members of a dataset of records, each opened as a field, against the library: read where
/// they lie, with the least memory, and held in memory. Through Catch, on a test case's main
/// thread.
void check_members(const std::filesystem::path& file, const std::string& dataset,
                   const std::vector<hdf5_member_case>& members);

}  // namespace feedline::test
