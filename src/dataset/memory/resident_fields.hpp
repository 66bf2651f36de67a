#pragma once

#include "dataset/rows_dataset.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace feedline::detail {

/// Reads fields whole into memory, the smallest first, as long as their total size is at most
/// `limit_bytes`. A field with a sample that cannot be read, or for which there is no memory, stays
/// as it is: then only that sample is lost, when it is requested.
/// @param path Path or address of the file: from another machine, chunks are read at the same time.
void make_resident(std::vector<rows_field>& fields, std::size_t limit_bytes,
                   const std::string& path);

}  // namespace feedline::detail
