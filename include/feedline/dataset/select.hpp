#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A field of a dataset, and what it is to be called.
struct selected_field {
  selected_field(const char* its_name) : name{its_name} {}  // NOLINT(google-explicit-constructor)
  selected_field(std::string its_name)                      // NOLINT(google-explicit-constructor)
      : name{std::move(its_name)} {}
  selected_field(std::string its_name, std::string new_name)
      : name{std::move(its_name)}, as{std::move(new_name)} {}

  std::string name;
  std::string as;  ///< empty: as before
};

/// Some of a dataset's fields, in the order given, perhaps under other names:
///
///     auto labels = feedline::select(feedline::open("imagenet/train"), {"label"});
///     auto train = feedline::select(digits, {{"x", "image"}, {"y", "label"}});
///
/// What is not selected is neither read nor decoded where the dataset can leave it out
/// (`dataset::select`): files of all formats, arrays, and what subset, concatenate and zip make of
/// them. Elsewhere it is read into memory of its own, as much as a run takes for each thread.
/// @throws usage_error if the dataset is null, no field is named, there is none of a name, or one
///         is named twice.
[[nodiscard]] dataset_ptr select(dataset_ptr of, const std::vector<selected_field>& fields);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
