#pragma once

#include <feedline/formats/array_record.hpp>
#include <feedline/formats/open.hpp>

#include "io/byte_file.hpp"

#include <string>
#include <vector>

namespace feedline::detail {

/// Same as `open_array_record`, of open files.
[[nodiscard]] dataset_ptr make_array_record_dataset(const std::vector<byte_file_ptr>& files,
                                                    const array_record_options& options);

/// The fields as they are in records.
[[nodiscard]] std::vector<listed_field> list_array_record(const std::vector<byte_file_ptr>& files,
                                                          const array_record_options& options);

}  // namespace feedline::detail
