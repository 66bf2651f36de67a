#include <feedline/error.hpp>
#include <feedline/packing/pack_together.hpp>

#include "detail/known_value.hpp"
#include "packing/planned_rows.hpp"
#include "ragged/padding.hpp"

#include <cstddef>
#include <limits>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// NAME_offsets has one entry more than a row has samples.
constexpr std::uint64_t max_capacity = std::numeric_limits<std::int32_t>::max() - 1;

std::vector<detail::packed_column> columns_of(const std::vector<ragged_dataset_ptr>& fields,
                                              const pack_together_options& options) {
  if (fields.empty()) throw usage_error{"pack_together: there is no field to pack"};
  const auto check_count = [&](const char* name, std::size_t count) {
    if (count != 1 && count != fields.size())
      throw usage_error{detail::pack_option(name) + " has " + std::to_string(count) +
                        " values for " + std::to_string(fields.size()) +
                        " fields: give one for each, or one for all"};
  };
  check_count("capacity", options.capacity.size());
  check_count("value", options.value.size());
  std::vector<detail::packed_column> columns;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i]) throw usage_error{"pack_together: field " + std::to_string(i) + " is null"};
    const std::uint64_t capacity = options.capacity[options.capacity.size() == 1 ? 0 : i];
    if (capacity == 0 || capacity > max_capacity)
      throw usage_error{detail::pack_option("capacity") + " is " + std::to_string(capacity) +
                        ", and can be 1 to " + std::to_string(max_capacity)};
    if (fields[i]->size() != fields.front()->size())
      throw usage_error{"pack_together: field 0 has " + std::to_string(fields.front()->size()) +
                        " samples, and field " + std::to_string(i) + " has " +
                        std::to_string(fields[i]->size()) + ": give fields of the same samples"};
    const field element = fields[i]->element();
    columns.push_back({fields[i], element, sample_bytes(element), capacity,
                       detail::padding{"pack_together", element,
                                       options.value[options.value.size() == 1 ? 0 : i]}});
  }
  return columns;
}

}  // namespace

std::shared_ptr<const packed_dataset> pack_together(const std::vector<ragged_dataset_ptr>& fields,
                                                    const pack_together_options& options) {
  detail::require_known(detail::pack_option("longer"), options.longer, {"error", "split"});
  detail::require_known(detail::pack_option("mask"), options.mask,
                        {"none", "elements", "followed"});
  if (options.window == 0 || options.window > max_capacity)
    throw usage_error{detail::pack_option("window") + " is " + std::to_string(options.window) +
                      ": say how many samples rows are filled from, 1 to " +
                      std::to_string(max_capacity)};
  if (options.max_samples > max_capacity)
    throw usage_error{detail::pack_option("max_samples") + " is " +
                      std::to_string(options.max_samples) + ", and can be 1 to " +
                      std::to_string(max_capacity) + ", or 0"};
  return detail::make_planned_rows(columns_of(fields, options), options);
}

std::vector<std::uint64_t> packing_costs(const packed_dataset& rows) {
  std::vector<std::uint64_t> costs(rows.size(), 0);
  for (std::uint64_t row = 0; row < costs.size(); ++row)
    for (const packed_part& part : rows.parts_of(sample_index{row}))
      costs[row] += part.count * part.count;
  return costs;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
