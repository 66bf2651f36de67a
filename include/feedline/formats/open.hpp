#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/element_type.hpp>
#include <feedline/export.hpp>
#include <feedline/formats/columns.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/io/external_files.hpp>
#include <feedline/ragged/pad.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Detects the format from a file's content; its name is ignored. CIFAR has no magic number: a file
/// with a matching size and valid labels is taken for CIFAR if it matches no other format.
/// @return "hdf5", "npy", "npz", "zarr" (a folder or zip archive with Zarr's metadata), "idx",
/// "tfrecord", "array_record", "mds" and "litdata" (folders with their index.json), "lmdb",
/// "parquet" (a file, or a folder of them), "tar" (a shard in the WebDataset convention), "wids"
/// (WebDataset's index of shards), "tokens" (a shard with llm.c's header, or the .idx of a Megatron
/// dataset), "cifar10" or "cifar100" (binary version), "image_folder" (any other folder),
/// "json_lines" (an object on each line), "csv" (two lines or more with the same number of
/// separators), "file_list" (lines of a path and a label), "array_files" (a folder of .npz, .npy or
/// .safetensors files, and nothing else). Empty: unknown.
/// @throws dataset_error if it cannot be read.
[[nodiscard]] std::string detect_format(const std::string& path);

/// Options for `open`. Formats that do not use `image`, `label_type` or `external` ignore them.
/// Formats that do not use `like` or `tokens_per_sample` refuse them.
struct open_options {
  /// Fields to open, in the wanted order; empty: all. HDF5: paths of datasets, and of members of
  /// their records. Zarr: paths of arrays. NumPy archive: members. TFRecord: features. ArrayRecord:
  /// features, or "value". MDS, LitData, Parquet, tables: columns. LMDB: "value", or names of keys.
  /// Tar, folder of images, CIFAR: names of existing fields. NumPy array and IDX: the field's name.
  std::vector<std::string> fields = {};
  /// Format of all files, as in `detect_format`; empty: their content tells.
  std::string format = {};
  /// HDF5, instead of `fields`: the path of one dataset, "train/images". This opens all datasets
  /// with the same number of samples. If some of these share a name, only those in the path's group
  /// are opened. Empty: all datasets of the file. Zarr: the same with arrays; first dimensions that
  /// both have a name have the same one. Empty: the array with the most bytes.
  std::string like = {};
  image_options image = {};                     ///< for images in folders, tar shards, records
  element_type label_type = element_type::i32;  ///< for folders' labels and tar shards' `.cls`
  /// Required for shards of tokens. If it is set, NumPy arrays of one dimension are shards of
  /// tokens. Other formats refuse it.
  std::uint64_t tokens_per_sample = 0;
  /// Records (TFRecord, ArrayRecord, Parquet) and tables (JSON lines, CSV): padding of ragged
  /// fields, by name; same as `decode_options::pad`. Other formats refuse it.
  std::map<std::string, pad_options> pad = {};
  /// Tables (JSON lines, CSV): columns by name; same as `table_options::columns`. Other formats
  /// refuse it.
  std::map<std::string, table_column> columns = {};
  /// Parquet: same as `parquet_options::fill_nulls`. Other formats refuse it.
  std::map<std::string, padding_value> fill_nulls = {};
  /// HDF5: same as `hdf5_options::external`.
  external_files external = external_files::same_folder;
};

/// Opens a file or folder with the reader for its content. Target `feedline::formats`. Files may be
/// mapped, which installs a handler of SIGBUS: see `map_files`.
///
///     auto train = feedline::open("train.h5");
///     auto some = feedline::open("all.h5", {.like = "train/images"});  // and what belongs to it
///     auto other = feedline::open("imagenet/train", {.image = {.shorter_side = 256}});
///
/// Each reader has further options: `open_hdf5`, `open_npy`, `open_npz`, `open_idx_file`,
/// `open_tar`, `open_tfrecord`, `open_array_record`, `open_mds`, `open_litdata`, `open_lmdb`,
/// `open_parquet`, `open_tokens`, `open_cifar10`, `open_image_folder`, `open_zarr`,
/// `open_json_lines`, `open_csv`, `open_array_files`, `open_file_list`.
/// Without `fields` the names are those in the file. Members of nested records that share a name
/// have their whole path: "position.x". A NumPy array is named like its file without the suffix. An
/// IDX file is named "image", or "label" if it has one dimension. A tar shard has all fields of the
/// first shard: "image" (.jpg, .jpeg, .png), "label" (.cls), and arrays named by their extension
/// without ".npy"; every sample must have them. `open_tfrecord` says which fields features of
/// TFRecord and ArrayRecord become.
///
/// Without `fields`, the log reports all content that is left out, and `list_fields` lists it:
/// other kinds of members of a tar shard, files in a folder that are not images, an HDF5 file's
/// values of variable length, single values and references, members of a NumPy archive that are not
/// arrays, arrays of a Zarr store with another first dimension than the largest.
/// @param path May be a pattern of `expand_paths`. All matching files are then opened as one
/// sequence.
/// @throws dataset_error naming the path: not of a known format (with a list of them), an address
/// such as "s3://bucket/x" in a build without remote files, HDF5 datasets or members that do not
/// belong together, or that cannot be read while no fields are named, a tar shard with fields that
/// not every sample or shard has, and all errors of the format's reader.
/// @throws usage_error if a requested field or format does not exist, or the options do not suit
/// the format.
[[nodiscard]] dataset_ptr open(const std::string& path, const open_options& options = {});

/// A field of a file, as reported by `list_fields`.
struct listed_field {
  /// Name that `open` gives it; for HDF5, its path as in `open_options::fields`.
  std::string name;
  std::uint64_t samples = 0;  ///< number of samples in the file
  field spec = {};            ///< name, type and shape that `open` gives it
  /// Each sample is a run of elements of any length, and `spec` is one element. `open` pads
  /// such a field of records. It leaves out one of an HDF5 file, which `open_hdf5_ragged` reads.
  bool is_ragged = false;
  /// Reason why it cannot be read; only `name` is meaningful then, and of packed numbers in HDF5
  /// files also `samples`, `spec`, `dimensions` and `packing`. Empty: it can be read.
  std::string refusal = {};
  /// Reason why `open` leaves it out. `name` then describes it, such as ".txt" for members of a tar
  /// shard, and `samples` is their number, or 0. Single values, references and datasets without
  /// samples in HDF5 files are described like fields: name them in `open_options::fields` to read
  /// them. Empty: it is a field.
  std::string left_out = {};
  /// For labels of a folder, or of texts: names of the classes 0, 1, …
  std::vector<std::string> classes = {};
  /// HDF5 and Zarr: how it is stored and read, such as "chunks of [8, 32, 64], zstd". Empty: the
  /// format does not tell.
  std::string access = {};
  /// HDF5 and Zarr: what decodes its chunks, "readers or devices", or "readers alone: " and the
  /// reason. Empty: there is nothing to decode, or the format does not tell.
  std::string decoding = {};
  /// HDF5 and Zarr: names of the array's dimensions, the samples' first, as in
  /// `array_spec::dimensions`.
  std::vector<std::string> dimensions = {};
  /// HDF5 and Zarr: attributes that give its stored numbers another meaning. Rows are the stored
  /// numbers; `unpack` applies them to arrays.
  value_packing packing = {};
};

/// Lists the content of a file or folder of any format that `open` knows. Target
/// `feedline::formats`.
///
///     for (const auto& found : feedline::list_fields("train.npz"))
///       if (found.left_out.empty()) std::cout << found.name << ": " << found.samples << '\n';
///
/// For HDF5, NumPy files and archives no samples are read; for the others it takes as long as
/// `open`. Fields of HDF5 files and NumPy archives are listed even if they do not belong together.
/// Values of variable length are listed too, and so is everything that `open` leaves out.
/// `list_hdf5_fields` (`feedline/hdf5/dataset.hpp`) gives more details of HDF5 files.
/// @param file One file or folder; not a pattern.
/// @param options Same as for `open`, except that `fields` and `like` have no effect. Shards of
/// tokens are listed with one token a sample, unless `tokens_per_sample` is set.
/// @throws dataset_error like `open`. Fields that cannot be read are not an error if others can be.
[[nodiscard]] std::vector<listed_field> list_fields(const std::string& file,
                                                    const open_options& options = {});

/// Opens files of one format as one sequence, in the given order; they may be patterns. Arrays and
/// IDX files get the field name of the first. All folders of images share one list of classes.
/// @throws as above, and dataset_error if formats or fields differ; usage_error if there is no
///         path.
[[nodiscard]] dataset_ptr open(const std::vector<std::string>& patterns,
                               const open_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
