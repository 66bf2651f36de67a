#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/element_type.hpp>
#include <feedline/export.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/io/external_files.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What a file or folder holds, as far as its bytes tell.
enum class file_format : std::uint8_t {
  unknown,
  hdf5,
  npy,
  npz,
  idx,           ///< plain or compressed by gzip
  tar,           ///< a shard in the WebDataset manner
  tokens,        ///< a shard of tokens with llm.c's header, or Megatron's index (.idx) of one
  cifar10,       ///< binary version
  cifar100,      ///< binary version
  image_folder,  ///< a folder of any kind
};

/// "HDF5", "NumPy array", …
[[nodiscard]] std::string_view to_string(file_format format) noexcept;

/// Looks at a file's content; its name says nothing. CIFAR has no magic number: a file of such a
/// size with such labels is taken for one, if it is nothing else.
/// @throws dataset_error if it cannot be read.
[[nodiscard]] file_format detect_format(const std::string& path);

/// How `open` opens; what a format has no use for is as it is here.
struct open_options {
  /// Which fields, in the order wanted; empty: all. HDF5: datasets, and members of their records,
  /// by their paths. NumPy archive: members. Tar, folder of images, CIFAR: of the fields that there
  /// are. NumPy array and IDX: the field's name.
  std::vector<std::string> fields = {};
  /// HDF5, instead of `fields`: the path of one dataset, "train/images"; opened are all that have
  /// as many samples, and where some of these share a name, only those of its group. Empty: all of
  /// the file.
  std::string like = {};
  image_options image = {};                     ///< for images in folders and tar shards
  element_type label_type = element_type::i32;  ///< for folders' labels and tar shards' `.cls`
  /// For shards of tokens, to be given there; NumPy arrays of one dimension are shards of tokens
  /// where it is given. Other formats refuse it.
  std::uint64_t tokens_per_sample = 0;
  /// HDF5: as `hdf5_options::external`.
  external_files external = external_files::same_folder;
};

/// Opens whatever a file or folder holds, with the reader that suits its content. Target
/// `feedline::formats`. Files may be mapped, and then there is a handler of SIGBUS: see
/// `map_files`.
///
///     auto train = feedline::open("train.h5");
///     auto some = feedline::open("all.h5", {.like = "train/images"});  // and what belongs to it
///     auto other = feedline::open("imagenet/train", {.image = {.shorter_side = 256}});
///
/// Each reader has options that are not here: `open_hdf5`, `open_npy`, `open_npz`, `open_idx_file`,
/// `open_tar`, `open_tokens`, `open_cifar10`, `open_image_folder`. Fields are called, where no name
/// is given: as in the file (members of nested records that share a name, by all of their path:
/// "position.x"); of a NumPy array, as its file without the suffix; of IDX, "image", or "label" if
/// it has one dimension. A tar shard's are all that the first shard has: "image" (.jpg, .jpeg,
/// .png), "label" (.cls), and arrays by their extension without ".npy"; every sample must have
/// them.
///
/// Where no fields are named, the log tells what is left out, and `list_fields` lists it: members
/// of a tar shard of other kinds, files in a folder that are no images, an HDF5 file's values of
/// variable length, single values and references, members of a NumPy archive that are no arrays.
/// @param path May be a pattern, as of `expand_paths`: then all that match, one after the other.
/// @throws dataset_error naming the path: of no known format (with those there are), an address
///         such as "s3://bucket/x", HDF5 datasets or members that do not belong together, or that
///         cannot be read while no fields are named, a tar shard with fields that not every sample
///         or shard has, and all that its reader refuses.
/// @throws usage_error if a field is asked for that there is not, or the options do not suit the
/// format.
[[nodiscard]] dataset_ptr open(const std::string& path, const open_options& options = {});

/// A field that a file offers, as `list_fields` finds it.
struct listed_field {
  std::string name;  ///< as `open` calls it; of HDF5, its path, as `open_options::fields` has it
  std::uint64_t samples = 0;  ///< how many the file has of it
  field spec = {};            ///< name, type and shape as `open` gives them
  /// Each sample is a run of elements, any number of them, and `spec` is one element:
  /// `open_hdf5_ragged` reads it, and `open` leaves it out.
  bool is_ragged = false;
  /// Why it cannot be read; then `name` alone says something. Empty: it can be.
  std::string refusal = {};
  /// Why it is no field, so that `open` leaves it out: `name` then tells what it is, such as ".txt"
  /// of a tar shard's members, and `samples` how many there are, or 0. Empty: it is not so.
  std::string left_out = {};
  /// Of a folder's labels: names of the classes 0, 1, …
  std::vector<std::string> classes = {};
};

/// What a file or folder of any format holds that `open` knows. Target `feedline::formats`.
///
///     for (const auto& found : feedline::list_fields("train.npz"))
///       if (found.left_out.empty()) std::cout << found.name << ": " << found.samples << '\n';
///
/// Of HDF5, NumPy files and archives no samples are read; it takes as long as `open` for the
/// others. Fields of HDF5 files and NumPy archives that do not belong together are listed all the
/// same, and so are values of variable length, and what `open` leaves out. `list_hdf5_fields`
/// (`feedline/hdf5/dataset.hpp`) tells more of HDF5.
/// @param file One file or folder; no pattern.
/// @param options As for `open`, but that `fields` and `like` choose nothing. Shards of tokens are
///        listed with one token a sample, unless `tokens_per_sample` says otherwise.
/// @throws dataset_error as `open`; fields that cannot be read are no error, where the rest can be.
[[nodiscard]] std::vector<listed_field> list_fields(const std::string& file,
                                                    const open_options& options = {});

/// Files of one format, one after the other as one sequence; patterns may be among them. Arrays and
/// IDX files have the field name of the first. Folders of images have one list of classes over all
/// of them.
/// @throws as above, and dataset_error if formats or fields differ; usage_error if there is no
///         path.
[[nodiscard]] dataset_ptr open(const std::vector<std::string>& patterns,
                               const open_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
