#pragma once

#include <feedline/export.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/ragged/dataset.hpp>

#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Opens a dataset of an HDF5 file whose values are of variable length, or a member of its records
/// whose are: sequences (what h5py calls vlen) of any type that `open_hdf5` reads, or strings, as
/// bytes. A value is a sample.
///
///     auto files = feedline::open_hdf5_ragged("train.h5", {"jpeg"});  // u8, one JPEG a sample
///     auto images = feedline::decode(files, feedline::make_image_decoder());  // on CPU or GPU
///     auto boxes = feedline::open_hdf5_ragged("train.h5", {"boxes"});  // f32[4]: {4} an element
///     auto names = feedline::open_hdf5_ragged("train.h5", {"obs/name"});  // of structured arrays
///
/// Where each value lies is found now, once: 12 bytes a sample stay in memory, 22 are taken
/// meanwhile. Values are then read by any number of threads at once, from where they lie in the
/// file, which may be mapped (`map_files`), past the HDF5 library and its lock. What was never
/// written is empty; of strings all bytes are read that the file has of them, none is added to end
/// them.
///
/// Where only the library can read them (`open_hdf5`'s documentation tells when), all are read
/// now and kept in memory, strings up to their first zero, and a warning tells why.
/// @param options `max_host_cache_bytes` is what places, or places and values kept, may take.
///        `max_resident_bytes` means nothing here.
/// @throws hdf5_error as `open_hdf5`; and for values of one length, several dimensions, sequences
///         of what is no element type, members of records in an array, a value whose place in the
///         file is damaged (naming the sample), more to be kept than `max_host_cache_bytes`.
[[nodiscard]] ragged_dataset_ptr open_hdf5_ragged(const std::string& file, const hdf5_field& field,
                                                  const hdf5_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
