#pragma once

#include <feedline/dataset/record_decoder.hpp>

#include "ragged/coded_values.hpp"
#include "ragged/record_reads.hpp"

#include <cstddef>
#include <string>

namespace feedline::detail {

/// One coded field of each record, as `record_decoder::coded_value` finds it.
/// @param field One that has `coded_by`. @param name The field's, for errors.
[[nodiscard]] coded_values_ptr make_part_values(record_reads_ptr records, record_decoder_ptr by,
                                                std::size_t field, std::string name);

}  // namespace feedline::detail
