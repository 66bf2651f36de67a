#include "formats/parquet/listing.hpp"

#include "formats/parquet/fields.hpp"

namespace feedline::detail {

std::vector<listed_field> list_parquet(const std::string& file, const parquet_options& options) {
  const auto table = open_parquet_table({file}, {});
  return list_described(table->size(), describe_columns(*table, options.image), table->left_out());
}

}  // namespace feedline::detail
