#pragma once

#include <feedline/export.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/ragged/dataset.hpp>

#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens an HDF5 dataset with values of variable length, or a member of records with such values.
/// These are sequences (vlen in h5py) of any type that `open_hdf5` reads, or strings, as bytes.
/// Each value is a sample.
///
///     auto files = feedline::open_hdf5_ragged("train.h5", {"jpeg"});  // u8, one JPEG a sample
///     auto images = feedline::decode(files, feedline::make_image_decoder());  // on CPU or GPU
///     auto boxes = feedline::open_hdf5_ragged("train.h5", {"boxes"});  // f32[4]: {4} an element
///     auto names = feedline::open_hdf5_ragged("train.h5", {"obs/name"});  // of structured arrays
///
/// The location of each value is looked up once, now: this keeps 12 bytes a sample in memory, and
/// needs another 22 meanwhile. Any number of threads then read values directly from the file, which
/// may be mapped (`map_files`), without the HDF5 library and its lock. Values that were never
/// written are empty. Strings are returned as stored, with all their bytes and without an added
/// terminator.
///
/// If only the library can read the values (see `open_hdf5`), all are read now and kept in memory,
/// strings up to their first zero, and a warning gives the reason.
/// @param options `max_host_cache_bytes` limits the memory for locations, or for locations and
/// values that are kept. `max_resident_bytes` is ignored.
/// @throws hdf5_error like `open_hdf5`; also for values of one length, several dimensions,
/// sequences of something without an element type, members of records in an array, a value whose
/// location in the file is damaged (naming the sample), and if more than `max_host_cache_bytes`
/// would be kept.
[[nodiscard]] ragged_dataset_ptr open_hdf5_ragged(const std::string& file, const hdf5_field& field,
                                                  const hdf5_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
