#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/formats/shard_options.hpp>
#include <feedline/formats/tfrecord.hpp>
#include <feedline/ragged/dataset.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `open_array_record`.
struct array_record_options {
  /// Options for records of tf.train.Example: fields, features, images, padding, a decoder.
  /// `index_folder` is refused, because the files have an index.
  tfrecord_options examples = {};
  /// Records are bytes, which become the field "value" as this says. Empty: they are if the first
  /// record is no message tf.train.Example.
  std::optional<column_options> value = std::nullopt;
  /// Limit of memory for decompressed chunks of several records; at least two are kept. 0: a
  /// quarter of the machine's memory.
  std::size_t max_host_cache_bytes = 0;
};

/// Opens ArrayRecord files (Riegeli/records with an index at their end) as one sequence, in the
/// given order. Target `feedline::formats`.
///
///     auto train = feedline::open_array_record(
///         {"train-*.array_record"}, {.examples = {.image = feedline::make_image_decoder()}});
///
/// Records that are messages tf.train.Example or SequenceExample, as those of TensorFlow Datasets,
/// have the fields of `open_tfrecord`. Other records are the field "value": an image, if `image` is
/// set and all that are looked at are JPEG or PNG files; u8, fixed if these have one length, else
/// ragged; elements or decoded values, as `array_record_options::value` says.
/// `tfrecord_options::record` decodes records to several fields. feedline never unpickles.
///
/// Opening reads the index of each file, files in parallel, and keeps 24 bytes a chunk. Samples are
/// read in any order. A chunk of one record, the writer's default, is read without a lock and is
/// not kept. Chunks of several records (group_size) are decompressed whole and kept, so read them
/// in an order of chunks: `shuffle` with `within = chunks()`. Chunks are stored as they are or
/// compressed by Zstandard. All hashes of a chunk are checked each time it is read.
/// @param files Paths or patterns: see `expand_paths`.
/// @throws dataset_error naming file, byte and sample: no index, cut short, a wrong hash, no
/// record; chunks that are transposed, or compressed by Brotli or Snappy: write them again as the
/// message says; pickles.
/// @throws usage_error like `open_tfrecord` and `open_mds`.
[[nodiscard]] dataset_ptr open_array_record(const std::vector<std::string>& files,
                                            const array_record_options& options = {});

/// One ragged field of such files, for `pack`, `pad` and `bucket_by_length`; see `decode_ragged`.
[[nodiscard]] ragged_dataset_ptr open_array_record_ragged(const std::vector<std::string>& files,
                                                          const std::string& field = "value",
                                                          const array_record_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
