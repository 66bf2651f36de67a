#include "formats/parquet/listing.hpp"

#include "formats/parquet/fields.hpp"

namespace feedline::detail {

std::vector<listed_field> list_parquet(const std::string& file, const parquet_options& options) {
  const auto table = open_parquet_table({file}, {});
  std::vector<listed_field> listed;
  for (const described_column& each : describe_columns(*table, options.image))
    listed.push_back({.name = each.as.spec.name,
                      .samples = table->size(),
                      .spec = each.as.spec,
                      .is_ragged = each.as.is_ragged,
                      .classes = each.as.spec.classes.get()});
  for (const parquet_left_out& each : table->left_out())
    listed.push_back({.name = each.name, .left_out = each.reason});
  return listed;
}

}  // namespace feedline::detail
