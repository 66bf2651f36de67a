#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/formats/shard_options.hpp>
#include <feedline/ragged/dataset.hpp>

#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `open_lmdb`.
struct lmdb_options {
  shard_options values = {};
  /// Name of the database within the environment; empty: the main one, or the only one that it
  /// names.
  std::string database = {};
};

/// Opens LMDB environments, each a folder with a data.mdb, or a file, here or at remote addresses:
/// one record for each key, in the order of the keys. Target `feedline::formats`.
///
///     auto scenes = feedline::open_lmdb(
///         {"bedroom_train_lmdb"}, {.values = {.image = feedline::make_image_decoder()}});
///
/// A value is the field "value": an image, if `image` is set and all that are looked at are JPEG or
/// PNG files (as in LSUN); u8, fixed if these have one length, else ragged; elements or decoded
/// values, as `shard_options::columns` says of "value". `shard_options::record` decodes values to
/// several fields. If keys are NAME-NUMBER, and there are two names or more with the same numbers
/// (image-000000001, label-000000001), a record has a field for each name.
///
/// Keys that describe the set are left out, and the log says so: those that begin and end with
/// "__", and len, length, keys, num-samples, num_samples. feedline never unpickles.
///
/// The file is read, not mapped by the LMDB library: it takes no lock, needs no lock file, and a
/// damaged file ends in an error. Opening reads all pages with keys, and keeps 16 bytes a record.
/// A database that is written to while it is open is an error when it is read.
/// @param paths Folders or files; patterns as in `expand_paths`.
/// @throws dataset_error naming file, byte and sample: no LMDB of version 1 (LMDB 0.9), damaged,
/// cut short, several values for a key (MDB_DUPSORT), several databases while none is named,
/// pickles.
/// @throws usage_error like `open_mds`.
[[nodiscard]] dataset_ptr open_lmdb(const std::vector<std::string>& paths,
                                    const lmdb_options& options = {});

/// One ragged field of such environments, for `pack`, `pad` and `bucket_by_length`; see
/// `decode_ragged`.
[[nodiscard]] ragged_dataset_ptr open_lmdb_ragged(const std::vector<std::string>& paths,
                                                  const std::string& field = "value",
                                                  const lmdb_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
