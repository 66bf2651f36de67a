#pragma once

#include <feedline/formats/records.hpp>

#include "io/random_file.hpp"

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Called with each file of records before its rows are looked at, to say more of what is wrong.
using record_file_check = std::function<void(const random_file_ptr& file)>;

/// `open_records`, for formats made of records. @param who Begins messages of usage errors.
[[nodiscard]] dataset_ptr open_record_files(std::string_view who,
                                            const std::vector<std::filesystem::path>& files,
                                            const std::vector<record_field>& fields,
                                            const record_options& options,
                                            const record_file_check& check);

}  // namespace feedline::detail
