#include "image/sets/foreign_folder.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace feedline::detail {
namespace {

namespace fs = std::filesystem;

/// Names of folders that hold images or targets in data sets that have both.
constexpr auto image_names =
    std::to_array<std::string_view>({"image", "images", "img", "imgs", "input", "inputs",
                                     "jpegimages", "leftimg8bit", "photos", "pictures", "rgb"});
constexpr auto target_names = std::to_array<std::string_view>(
    {"annotation", "annotations", "annots", "groundtruth", "ground_truth", "gt", "gtcoarse",
     "gtfine", "label", "labels", "mask", "masks", "seg", "segmentation", "segmentationclass",
     "segmentationobject", "segmentations", "target", "targets"});
constexpr auto target_endings = std::to_array<std::string_view>(
    {"_annot", "_annotations", "_gt", "_label", "_labels", "_mask", "_masks", "_seg", "annot"});

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::count(names, name) != 0;
}

/// Whether one folder holds masks or annotations for the images of the other.
bool has_targets_of(const std::string& targets, const std::string& images) {
  if (is_one_of(image_names, images) && is_one_of(target_names, targets)) return true;
  return targets.starts_with(images) &&
         is_one_of(target_endings, std::string_view{targets}.substr(images.size()));
}

void refuse_pairs(const fs::path& root, const std::vector<std::string>& folders) {
  for (const std::string& images : folders)
    for (const std::string& targets : folders)
      if (has_targets_of(in_lower_case(targets), in_lower_case(images)))
        throw dataset_error{
            {.path = root.string(), .field = {}},
            "holds '" + images + "' and '" + targets +
                "': images and their annotations (a set for segmentation or detection), and no "
                "classes. open_joined_images opens images with masks, open_coco and open_voc open "
                "annotations, and open_images opens '" +
                images + "' alone"};
}

}  // namespace

void other_files::add(const std::string& name) {
  files& found = by_ending_[in_lower_case(fs::path{name}.extension().string())];
  if (found.count++ == 0) found.example = name;
}

other_files::map::const_iterator other_files::commonest() const {
  return std::ranges::max_element(by_ending_, {},
                                  [](const auto& each) { return each.second.count; });
}

std::string other_files::describe() const {
  const auto& [ending, found] = *commonest();
  return std::to_string(found.count) + (ending.empty() ? "" : " " + ending) +
         (found.count == 1 ? " file, '" : " files, such as '") + found.example + "'";
}

void refuse_foreign_folder(const fs::path& root, const std::vector<std::string>& folders) {
  for (const char* const name : {".zarray", ".zgroup", "zarr.json"})
    if (kind_of_entry((root / name).string()) != entry_kind::nothing)
      throw dataset_error{{.path = root.string(), .field = {}},
                          "a Zarr store (it holds " + std::string{name} +
                              "), and no folder of images; open it by open or open_zarr"};
  refuse_pairs(root, folders);
}

}  // namespace feedline::detail
