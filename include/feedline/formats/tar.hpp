#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/record_decoder.hpp>
#include <feedline/export.hpp>
#include <feedline/ragged/decode.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A field, or several, made from one member of each sample.
struct tar_field {
  std::string name;  ///< if `record` is set: names the member in messages only
  /// Extensions of the member: the part of its file name after the first dot, in lower case ("jpg",
  /// "seg.png"). If there are several extensions, each sample has a member with one of them.
  std::vector<std::string> extensions;
  decoder_ptr decoder = nullptr;
  /// Set instead of `decoder`: makes several fields of the member, with names of its own.
  record_decoder_ptr record = nullptr;
  /// Fields and padding of `record`. Lengths that are not given are found by a pass over these
  /// members of all samples.
  decode_options decoding = {};
};

/// Options for `open_tar`.
struct tar_options {
  /// Leave out samples that lack a member of a field; off: an error.
  bool skip_incomplete = false;
  /// Accept everything that tar itself accepts: no end mark, archives joined by cat, absolute names
  /// (the leading slashes are removed). An archive that was cut at a member's end is then accepted
  /// as whole. Off: an error.
  bool lenient = false;
  /// Size of a run of consecutive samples. `shuffle{.within = chunks(W)}` mixes W such runs at a
  /// time.
  std::size_t run_bytes = std::size_t{4} << 20;
  /// An existing folder of this machine in which the members of each shard are kept, some 60 bytes
  /// a member, for later runs, which then need not walk through the shards. They are used if their
  /// checksum is right, and if the shard's path, size and version are those they were made for.
  /// Empty: the folder of the remote cache, for shards on other machines, if there is one.
  std::string index_folder = {};
};

/// Opens tar archives in the WebDataset convention as one sequence, in the given order. Consecutive
/// members with the same name up to its first dot are a sample.
///
///     auto train = feedline::open_tar(
///         shards,
///         {{"image", {"jpg", "png"}, feedline::make_image_decoder({.height = 224, .width = 224})},
///          {"label", {"cls"}, feedline::decode_decimal()},
///          {.name = "boxes", .extensions = {"json"}, .record = my_record_decoder}});
///
/// The headers are read once, shards in parallel. After that, samples are read in any order,
/// without a lock. There may be any number of shards, mapped or not (`map_files`), whatever the
/// limit on open files. Members with other extensions, folders, hidden files and names with a part
/// such as `__meta__` are ignored, and so are samples with none of the fields. The log warns of
/// such samples if a name ends like a field's extension but has an earlier dot: "v2.0.jpg" is the
/// member "0.jpg" of "v2".
///
/// Any order is fast if the shards are in memory or on a solid-state disk. If they are not (a hard
/// disk, a network), use `shuffle{.within = chunks(W)}` instead of a shuffle buffer. It reads W
/// runs of samples in random order, nearly one after the other, and mixes them. Unlike a buffer, it
/// also mixes the ends of the epoch, and gives the same order for any number of readers. A pipe
/// cannot be read in this way; write it to a file first.
///
/// `encoded()` returns members as stored if the field's decoder can be replaced by a device
/// (images), one block for each sample. It returns other fields as rows.
/// @param shards Paths or patterns: see `expand_paths`.
/// @throws dataset_error naming shard, member or sample, and byte: not a tar archive, compressed (a
/// `.tar.gz` cannot be read in any order), damaged, cut short; sparse members, links and devices
/// with a field's extension, names with ".."; unless `lenient`: no end mark, joined with cat,
/// absolute names; two members for one field, missing members, no sample at all.
/// @throws usage_error if there is no shard or no field, a field has no extension, no decoder or
/// two, or two have the same name; errors of `decode` about `tar_field::decoding`.
[[nodiscard]] dataset_ptr open_tar(const std::vector<std::string>& shards,
                                   const std::vector<tar_field>& fields,
                                   const tar_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
