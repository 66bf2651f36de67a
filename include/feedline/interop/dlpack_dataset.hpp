#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/interop/dlpack.hpp>

#include <string>
#include <variant>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A tensor that holds one field of all samples: the first dimension counts the samples, the others
/// are the field's shape.
struct dlpack_field {
  std::string name;
  std::variant<dlpack_tensor, unversioned_dlpack_tensor> tensor;
};

/// A dataset of tensors in host memory, which stay where they are. Reads copy rows, in parallel,
/// with no lock.
///
/// Every sample's row must be dense and row-major; the distance between rows is free, so slices of
/// samples serve. Only rows without gaps can be gathered by a GPU (`placement::gather`). Elements
/// are integers, floats, bfloat16 or bool. The tensors must not change. Each one's deleter is
/// called once: when the dataset goes, by the thread that lets go of it last, or before an
/// error is caught.
/// @throws usage_error naming the field, what is wrong and what to do.
[[nodiscard]] dataset_ptr make_dlpack_dataset(std::vector<dlpack_field> fields);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
