#pragma once

#include <feedline/ragged/dataset.hpp>

#include "support/files/file_bytes.hpp"
#include "support/hdf5/writer.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedline::test {

/// Values of variable length, as bytes.
using value_vector = std::vector<std::vector<std::byte>>;

/// Values of `lengths[i]` elements each, which tell their position in the dataset.
[[nodiscard]] value_vector various_values(const std::vector<std::uint64_t>& lengths,
                                          std::size_t element_bytes);

/// Makes a dataset of sequences and writes values to its rows from `first` on.
/// @param file_base Type of an element in the file.
/// @param memory_base Type of the values' elements.
void write_sequences(hdf5_writer& writer, const std::string& name, hid_t file_base,
                     hid_t memory_base, const value_vector& values, const hdf5_layout& layout = {},
                     hsize_t rows = 0);

/// Writes values to rows of a dataset of sequences that is there.
void write_sequence_rows(hdf5_writer& writer, hid_t dataset, hsize_t first, hid_t memory_base,
                         const value_vector& values);

/// The type of strings of variable length.
[[nodiscard]] detail::hdf5_type_id string_type(H5T_cset_t characters);

/// Makes a dataset of strings. @param texts A null is written as such.
void write_strings(hdf5_writer& writer, const std::string& name, H5T_cset_t characters,
                   const std::vector<const char*>& texts, const hdf5_layout& layout = {});

/// Result of `H5Dread` for such a dataset, in the type's native form; strings end before the zero.
/// @param member Member of its records, if it has any: names of nested members, the outermost
/// first.
[[nodiscard]] value_vector values_by_library(const std::filesystem::path& file,
                                             const std::string& name,
                                             const std::vector<std::string>& member = {});

/// All values of a ragged dataset, last to first in one call, and in parts: those must agree, or it
/// throws.
[[nodiscard]] value_vector values_of(const ragged_dataset& dataset);

}  // namespace feedline::test
