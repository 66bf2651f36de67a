#include "formats/open/folder_kind.hpp"

#include "io/file_system.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::string_view to_records =
    "write its records as TFRecord or tar shards, or its values as arrays (.npy, HDF5)";

/// The entries of a folder.
class folder_content {
 public:
  explicit folder_content(const std::string& folder)
      : folder_{folder}, entries_{file_system_of(folder)->list(folder)} {}

  /// @param pattern A name, or one that begins or ends with a `*`.
  [[nodiscard]] bool has(std::string_view pattern) const {
    return std::ranges::any_of(
        entries_, [&](const folder_entry& each) { return is_named(each.name, pattern); });
  }

  /// Whether one of its folders has such a name in it.
  [[nodiscard]] bool has_within(std::string_view inner, std::string_view pattern) const {
    const auto found = std::ranges::find(entries_, inner, &folder_entry::name);
    return found != entries_.end() && found->is_folder &&
           folder_content{path_of(inner)}.has(pattern);
  }

 private:
  static bool is_named(std::string_view name, std::string_view pattern) {
    if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
    if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
    return name == pattern;
  }
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return (std::filesystem::path{folder_} / name).string();
  }

  std::string folder_;
  std::vector<folder_entry> entries_;
};

/// A kind of folder that some names tell.
struct known_folder {
  std::string_view name;
  std::string_view advice;
  std::array<std::string_view, 2> marks;  ///< names that it has, all of them; empty: none
};

constexpr std::string_view by_pattern =
    "open its files by a pattern, in quotes, and those of each split by themselves";

constexpr auto known_folders = std::to_array<known_folder>({
    {"a LevelDB or RocksDB database", to_records, {"CURRENT", "MANIFEST-*"}},
    {"a Delta table", to_records, {"_delta_log", ""}},
    {"a Lance table", to_records, {"_versions", "data"}},
    {"a set of TensorFlow Datasets (TFDS)", by_pattern, {"dataset_info.json", "features.json"}},
    {"a set of Hugging Face's datasets (save_to_disk)",
     "in Python, sequence_dataset(datasets.load_from_disk(…)) reads it; or write its values as "
     "arrays (.npy, HDF5)",
     {"dataset_info.json", "state.json"}},
    {"several splits of Hugging Face's datasets (save_to_disk)",
     "choose the folder of a split; in Python, sequence_dataset(datasets.load_from_disk(…)) reads "
     "it",
     {"dataset_dict.json", ""}},
    {"a cache of Hugging Face's Hub",
     "open the files in the folder of a revision, within 'snapshots'",
     {"snapshots", "refs"}},
    {"a folder of Arrow files", to_records, {"*.arrow", ""}},
    {"a folder of Spark's output", to_records, {"_SUCCESS", ""}},
    {"a model of TensorFlow, not a data set", "name the data set", {"saved_model.pb", ""}},
    {"a model's weights, not a data set", "name the data set", {"config.json", "*.safetensors"}},
    {"a medium of DICOM files",
     "save its slices as images or arrays (numpy.save)",
     {"DICOMDIR", ""}},
    {"a FiftyOne set",
     "export it as COCO, which open_coco reads",
     {"samples.json", "metadata.json"}},
    {"a checkpoint of PyTorch (DCP), not a data set",
     "name the data set",
     {".metadata", "*.distcp"}},
});

std::optional<folder_kind> kind_by_content(const folder_content& in) {
  if (in.has_within("annotations", "instances_*"))
    return folder_kind{
        "a set of COCO",
        "open_coco reads a file of its 'annotations', with the folder of the images"};
  if (in.has_within("metadata", "*.metadata.json") ||
      in.has_within("metadata", "version-hint.text"))
    return folder_kind{"an Iceberg table", std::string{to_records}};
  for (const char* const split : {"train", "val", "validation", "test"})
    if (in.has_within(split, "index.json"))
      return folder_kind{"several splits, each a set of its own (MDS or LitData)",
                         "choose the folder of a split"};
  if (in.has_within("labels", "*.txt") || in.has_within("labels", "train"))
    return folder_kind{"a set of YOLO: images, and labels of boxes",
                       "convert the labels to COCO's JSON, which open_coco reads, or open the "
                       "images alone with open_images"};
  if (in.has_within("train", "labels") && in.has_within("train", "images"))
    return folder_kind{"a set of YOLO: images, and labels of boxes",
                       "convert the labels to COCO's JSON, which open_coco reads"};
  return std::nullopt;
}

}  // namespace

std::optional<folder_kind> find_folder_kind(const std::string& folder) {
  const folder_content in{folder};
  for (const known_folder& each : known_folders)
    if (std::ranges::all_of(each.marks,
                            [&](std::string_view mark) { return mark.empty() || in.has(mark); }))
      return folder_kind{std::string{each.name}, std::string{each.advice}};
  return kind_by_content(in);
}

}  // namespace feedline::detail
