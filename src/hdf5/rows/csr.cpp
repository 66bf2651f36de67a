#include <feedline/hdf5/arrays.hpp>

#include "hdf5/attributes/attribute.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/session.hpp"

#include <cstdint>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// Columns of the matrix in a group. AnnData and h5sparse name the shape differently.
std::uint64_t columns_of(const std::string& path, const std::string& group,
                         const hdf5_options& options) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file file{hdf5, path, options.external};
  const detail::hdf5_dataset_id data = file.open_dataset(hdf5, group + "/data");
  const detail::hdf5_file_id whole{H5Iget_file_id(data.get())};
  const detail::hdf5_object_id found{H5Oopen(whole.get(), group.c_str(), H5P_DEFAULT)};
  if (!found) throw file.error(group, "cannot be opened: " + hdf5.last_message());
  for (const char* const name : {"encoding-type", "h5sparse_format"}) {
    const std::string form = detail::hdf5_attribute{hdf5, found.get(), name}.text();
    if (form == "csc_matrix" || form == "csc")
      throw file.error(group,
                       "is stored by columns (" + form +
                           "), so that a row is scattered over the whole file; convert it by "
                           "scipy's tocsr, or anndata's X = X.tocsr(), and save it again");
  }
  for (const char* const name : {"shape", "h5sparse_shape"}) {
    const auto shape =
        detail::hdf5_attribute{hdf5, found.get(), name}.integers<std::uint64_t>(H5T_NATIVE_UINT64);
    if (shape.size() == 2) return shape[1];
  }
  throw file.error(group,
                   "has no attribute shape of two integers, so that the number of columns is not "
                   "known; open data, indices and indptr by open_hdf5_arrays, and give it to "
                   "make_csr_dataset");
}

}  // namespace

dataset_ptr open_hdf5_csr(const std::string& file, const std::string& group,
                          const hdf5_options& options) {
  const std::uint64_t columns = columns_of(file, group, options);
  auto arrays =
      open_hdf5_arrays(file, {group + "/data", group + "/indices", group + "/indptr"}, options);
  std::string name = group.substr(group.find_last_of('/') + 1);
  return make_csr_dataset(std::move(name), {.data = std::move(arrays[0]),
                                            .indices = std::move(arrays[1]),
                                            .indptr = std::move(arrays[2]),
                                            .columns = columns});
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
