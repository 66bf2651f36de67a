#pragma once

#include <feedline/formats/open.hpp>
#include <feedline/image/decode.hpp>

#include "programs/doctor/advice.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace doctor {

/// A literal of C++: quoted, whatever bytes the text has.
[[nodiscard]] std::string quoted(const std::string& text);

/// `feedline::open(path, …)`, with the options that are not as they are by default.
[[nodiscard]] std::string open_code(const std::string& path, const feedline::open_options& how,
                                    bool names_image_size);

/// `feedline::open_hdf5(file, {…}, {.max_resident_bytes = …})`.
[[nodiscard]] std::string hdf5_code(const std::string& file, const std::vector<std::string>& fields,
                                    std::size_t whole, feedline::external_files external = {});

/// `{.height = 224, .width = 224}`.
[[nodiscard]] std::string image_code(const feedline::image_options& image);

/// Values of varying length, decoded by an image decoder with these options ...
[[nodiscard]] std::string ragged_code(const std::string& file, const std::string& field,
                                      const std::string& image,
                                      feedline::external_files external = {});
/// ... or padded.
[[nodiscard]] std::string ragged_code(const std::string& file, const std::string& field,
                                      std::uint64_t length, feedline::external_files external = {});

/// The same dataset, of which the field `from` is called `to`; empty: it keeps its name.
[[nodiscard]] std::string renamed_code(const std::string& opening, const std::string& from,
                                       const std::string& to);
/// The fields of all, side by side.
[[nodiscard]] std::string zipped_code(const std::vector<std::string>& openings);

/// A whole program that trains with the advice: what is recommended, to paste.
/// @param opening An expression that opens the dataset.
[[nodiscard]] std::string program_of(const std::string& opening, const findings& measured,
                                     const advice& given);

}  // namespace doctor
