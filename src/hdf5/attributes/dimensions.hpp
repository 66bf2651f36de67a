#pragma once

#include "hdf5/library/file.hpp"
#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// A dimension scale that has numbers as its values.
struct hdf5_scale {
  std::string path = {};   ///< in its file; "": there is none
  std::string units = {};  ///< attribute `units`; "": it has none
};

/// Dimensions of a dataset, as attributes describe them.
struct hdf5_dimensions {
  /// One for each, like `array_spec::dimensions`; empty: none has a name.
  std::vector<std::string> names = {};
  /// Scales of each dimension that have its extent, in the dataset's file.
  std::vector<hdf5_scale> scales = {};
  /// Reason why a name is missing, if attributes are wrong: "dimension 1: DIMENSION_LIST leads to
  /// no object". Empty: they are right.
  std::string fault = {};
};

/// Finds the dimensions of datasets. Keeps what it learns of scales, because the library searches
/// the file for an object's path each time it is asked for it. Use it while its session exists.
class hdf5_dimension_finder {
 public:
  explicit hdf5_dimension_finder(const hdf5_session& hdf5) : hdf5_{hdf5} {}

  /// A dimension has the name of its first dimension scale, as HDF5, NetCDF-4 and h5py attach them,
  /// or else its label; a scale of one dimension has its own. Without scales that are attached, the
  /// numbers of dimensions that NetCDF-4 writes lead to them. "" for a dimension without a name,
  /// and for those that share one.
  [[nodiscard]] hdf5_dimensions find(hid_t dataset);

 private:
  struct scale {
    std::string path = {};  ///< empty: it has none
    std::string name = {};
    hsize_t extent = 0;
    bool can_grow = false;
    hdf5_scale values = {};  ///< without a path: it has none
    std::string fault = {};  ///< it is no scale
  };
  /// A dataset whose dimensions are wanted.
  struct subject {
    hid_t dataset;
    unsigned long file;
    std::vector<hsize_t> extents;
    std::vector<hsize_t> max_extents;
  };

  const scale& scale_at(const subject& of, const hobj_ref_t& reference);
  scale describe_scale(hid_t object) const;
  void add_attached(const subject& of, hdf5_dimensions& found);
  void add_numbered(const subject& of, hdf5_dimensions& found);
  void add_scale(const subject& of, std::size_t dimension, const scale& from,
                 hdf5_dimensions& found) const;
  const std::map<std::int64_t, scale>& numbered_in(const subject& of, const std::string& path);

  const hdf5_session& hdf5_;
  std::map<std::pair<unsigned long, hobj_ref_t>, scale> scales_ = {};
  /// Scales in groups, by the numbers of their dimensions.
  std::map<std::pair<unsigned long, std::string>, std::map<std::int64_t, scale>> numbered_ = {};
};

/// Whether a dataset only stands for a dimension of a NetCDF-4 file: its values were never written,
/// and NetCDF has no variable of its name.
[[nodiscard]] bool is_netcdf_dimension(const hdf5_session& hdf5, hid_t dataset);
/// Reason why such a dataset is refused.
inline constexpr const char* netcdf_dimension_refusal =
    "stands for a dimension of NetCDF, and has no values; NetCDF-4 stores a variable of the same "
    "name, if it was made later, with '_nc4_non_coord_' before its name";

}  // namespace feedline::detail
