#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/loader/loader_options.hpp>

#include "staging/host_rows.hpp"
#include "transform/field_conversions.hpp"

#include <vector>

namespace feedline::detail {

/// The fields that the host keeps, in the order of fields.
/// @param fields The dataset's.
/// @throws usage_error if there is no such field, one is named twice, none would be on the device,
/// one is transformed or mixed or has images whose size differs from batch to batch, or a
/// `batch_transform` makes batches.
[[nodiscard]] std::vector<kept_field> resolve_host_fields(const std::vector<field>& fields,
                                                          const converted_fields& conversions,
                                                          const loader_options& options);

/// For each field, whether its rows stay on the host; empty if none do.
[[nodiscard]] std::vector<bool> host_only(const std::vector<kept_field>& kept, std::size_t fields);

}  // namespace feedline::detail
