#pragma once

#include "io/byte_file.hpp"

#include <memory>

#include <arrow/io/interfaces.h>

namespace feedline::detail {

/// A file, wherever it is stored, as Arrow reads it. Any number of threads may call `ReadAt`.
[[nodiscard]] std::shared_ptr<arrow::io::RandomAccessFile> make_file_input(byte_file_ptr file);

}  // namespace feedline::detail
