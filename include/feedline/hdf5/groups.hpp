#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/ragged/dataset.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Samples that lie each in a group or dataset of its own, as many programs write them:
/// "data/demo_0", "data/demo_1", …
///
/// `samples` is a path whose last part is a pattern of `*`, `?` and `[…]`: "data/demo_*", or "*"
/// for all members of the root. The members that match are the samples, in natural order: runs of
/// digits in names count as numbers, so that "demo_2" comes before "demo_10", and all other
/// characters are compared as bytes.

/// The names of the samples, in their order.
/// @throws hdf5_error if the file cannot be opened, there is no such group, or nothing matches.
[[nodiscard]] std::vector<std::string> list_hdf5_groups(const std::string& file,
                                                        const std::string& samples,
                                                        const hdf5_options& options = {});

/// Opens datasets of equal shape, one in each sample's group: a field has the whole dataset of the
/// sample. A sample that is a single value is a field without dimensions.
///
///     auto demos = open_hdf5_groups("demos.h5", "data/demo_*", {{"obs/goal"}, {"label"}});
///     auto images = open_hdf5_groups("images.h5", "images/*", {{"", "image"}});
///
/// All datasets are examined now, which takes some 50 µs each, and keeps some hundred bytes a
/// dataset in memory. Any number of threads then read them, in the cases in which `open_hdf5` reads
/// rows without the HDF5 library. Contiguous values are read directly from the file. Chunks are
/// decoded once for all samples of a read, and kept for later ones while
/// `options.max_host_cache_bytes` allows. Datasets that only the library reads are read into memory
/// now, as long as they take at most `options.max_resident_bytes` together; the others are read
/// later, one thread at a time. A warning gives the reason.
/// @param fields `hdf5_field::dataset` is a path within the sample's group, or of a member of
/// records there; empty: the sample is a dataset. At least one.
/// @throws hdf5_error naming the sample: no such dataset, another type or shape than the first
/// sample's, no values; and like `open_hdf5` and `list_hdf5_groups`.
/// @throws usage_error if there is no field, two have the same name, or one has none.
[[nodiscard]] dataset_ptr open_hdf5_groups(const std::string& file, const std::string& samples,
                                           std::vector<hdf5_field> fields,
                                           const hdf5_options& options = {});

/// The same for one field whose datasets have different first dimensions: a sample is a run of
/// elements, one for each index of its first dimension, which may be 0. All other dimensions are
/// equal. `pad` and `pack` make batches.
///
///     auto actions = open_hdf5_groups_ragged("demos.h5", "data/demo_*", {"actions"});
///
/// @throws like `open_hdf5_groups`, and for single values.
[[nodiscard]] ragged_dataset_ptr open_hdf5_groups_ragged(const std::string& file,
                                                         const std::string& samples,
                                                         const hdf5_field& field,
                                                         const hdf5_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
