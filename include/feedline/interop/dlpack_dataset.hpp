#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/interop/dlpack.hpp>

#include <string>
#include <variant>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A tensor with one field of all samples: the first dimension is the samples, the others are the
/// field's shape.
struct dlpack_field {
  std::string name;
  std::variant<dlpack_tensor, unversioned_dlpack_tensor> tensor;
};

/// A dataset of tensors in host memory, used without copying the tensors. Reads copy rows, in
/// parallel, without a lock.
///
/// Every sample's row must be dense and row-major. The distance between rows is arbitrary, so
/// slices of samples are possible. Only rows without gaps can be gathered by a GPU
/// (`placement::gather`). Elements are integers, floats, bfloat16 or bool. The tensors must not
/// change. Each tensor's deleter is called once: when the dataset is destroyed, by the thread that
/// releases it last, or, if this function throws, before the error is caught.
/// @throws usage_error naming the field, the fault and the remedy.
[[nodiscard]] dataset_ptr make_dlpack_dataset(std::vector<dlpack_field> fields);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
