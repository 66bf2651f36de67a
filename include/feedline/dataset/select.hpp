#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A field of a dataset, and optionally its new name.
struct selected_field {
  selected_field(const char* its_name) : name{its_name} {}  // NOLINT(google-explicit-constructor)
  selected_field(std::string its_name)                      // NOLINT(google-explicit-constructor)
      : name{std::move(its_name)} {}
  selected_field(std::string its_name, std::string new_name)
      : name{std::move(its_name)}, as{std::move(new_name)} {}

  std::string name;
  std::string as;  ///< empty: the name is unchanged
};

/// Selects some of a dataset's fields, in the given order, optionally under new names:
///
///     auto labels = feedline::select(feedline::open("imagenet/train"), {"label"});
///     auto train = feedline::select(digits, {{"x", "image"}, {"y", "label"}});
///
/// Fields that are not selected are neither read nor decoded if the dataset can leave them out
/// (`dataset::select`). Files of all formats and arrays can, and so can results of subset,
/// concatenate and zip over them. Other datasets read all fields; the unselected ones go to scratch
/// memory of the size of one read for each thread.
/// @throws usage_error if the dataset is null, no field is named, a field does not exist, or one is
/// named twice.
[[nodiscard]] dataset_ptr select(dataset_ptr of, const std::vector<selected_field>& fields);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
