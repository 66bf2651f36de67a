#pragma once

#include <feedline/formats/open.hpp>
#include <feedline/image/decode.hpp>

#include "programs/doctor/advice.hpp"

#include <cstddef>
#include <string>
#include <vector>

// C++ that does what the doctor does: expressions that open a dataset, and a program.

namespace doctor {

/// A literal of C++: quoted, whatever bytes the text has.
[[nodiscard]] std::string quoted(const std::string& text);

/// `{.height = 224, .width = 224}`.
[[nodiscard]] std::string image_code(const feedline::image_options& image);

/// `feedline::open(path, …)`, with the options that differ from their defaults.
[[nodiscard]] std::string open_code(const std::string& path, const feedline::open_options& how,
                                    bool names_image_size);

/// `feedline::open_hdf5(file, {…}, {.max_resident_bytes = …})`.
[[nodiscard]] std::string hdf5_code(const std::string& file, const std::vector<std::string>& fields,
                                    std::size_t whole, feedline::external_files external);

/// `feedline::open_hdf5_ragged(file, {…})`.
[[nodiscard]] std::string ragged_code(const std::string& file, const std::string& field,
                                      feedline::external_files external);

/// The same dataset, with its field `from` called `to`; empty: it keeps its name.
[[nodiscard]] std::string renamed_code(const std::string& opening, const std::string& from,
                                       const std::string& to);
/// The fields of all, side by side.
[[nodiscard]] std::string zipped_code(const std::vector<std::string>& openings);

/// A whole program that trains with the advice: what is recommended, to paste.
/// @param opening An expression that opens the dataset.
[[nodiscard]] std::string program_of(const std::string& opening, const findings& measured,
                                     const advice& given);

}  // namespace doctor
