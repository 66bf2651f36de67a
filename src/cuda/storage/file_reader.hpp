#pragma once

#include <feedline/device/file_reader.hpp>

#include <memory>

namespace feedline::detail {

/// What reads files into a GPU's memory: cuFile. Makes no context.
[[nodiscard]] std::shared_ptr<const file_readers> make_cuda_file_readers(int ordinal);

}  // namespace feedline::detail
