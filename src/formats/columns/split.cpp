#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "formats/columns/column.hpp"

namespace feedline::detail {

void split_record(const record_layout& layout, std::span<const std::byte> record,
                  record_values& values) {
  values.clear();
  values.reserve(layout.columns.size());
  if (!layout.has_sizes) return values.push_back(record);
  constexpr std::size_t size_bytes = 4;
  std::size_t head = 0;
  for (const stored_column& each : layout.columns) head += each.stored_bytes == 0 ? size_bytes : 0;
  if (record.size() < head)
    throw dataset_error{{},
                        "the record is cut short: " + std::to_string(record.size()) +
                            " bytes, but the sizes of its values take " + std::to_string(head)};
  std::span<const std::byte> sizes = record.first(head);
  std::span<const std::byte> left = record.subspan(head);
  for (const stored_column& each : layout.columns) {
    std::uint64_t bytes = each.stored_bytes;
    if (bytes == 0) {
      bytes = little_endian(sizes.first(size_bytes));
      sizes = sizes.subspan(size_bytes);
    }
    if (bytes > left.size())
      throw dataset_error{{.path = {}, .field = each.name},
                          "the record is damaged: a value of " + std::to_string(bytes) +
                              " bytes begins " + std::to_string(left.size()) +
                              " bytes before its end; get the file again"};
    values.push_back(left.first(static_cast<std::size_t>(bytes)));
    left = left.subspan(static_cast<std::size_t>(bytes));
  }
  if (!left.empty())
    throw dataset_error{{},
                        "the record is damaged: " + std::to_string(left.size()) +
                            " bytes are left after its last value; get the file again"};
}

}  // namespace feedline::detail
