#pragma once

#include <feedline/dataset/hdf5_dataset.hpp>

#include <cstddef>

namespace feedline::detail {

/// `feedline::open_hdf5` with the choice of how much it may keep in memory.
/// @param resident_limit_bytes Fields are read whole at once, smallest first, while their sum stays
///        within this; the others are read through the library as they are asked for.
[[nodiscard]] dataset_ptr open_hdf5(const std::filesystem::path& file,
                                    std::vector<hdf5_field> fields,
                                    std::size_t resident_limit_bytes);

}  // namespace feedline::detail
