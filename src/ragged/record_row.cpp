#include "ragged/record_row.hpp"

#include <feedline/error.hpp>

#include "ragged/padding.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace feedline::detail {

record_row::record_row(described_fields fields)
    : rooms(fields->size()), fields_{std::move(fields)} {
  for (std::size_t i = 0; i < rooms.size(); ++i)
    rooms[i].element_bytes = sample_bytes((*fields_)[i].spec);
}

void record_row::decode(const record_decoder& by, std::span<const std::byte> stored,
                        const sample_context& context) {
  for (room& each : rooms) each.is_given = false;
  by.decode(stored, *this, context);
  for (std::size_t i = 0; i < rooms.size(); ++i)
    if (rooms[i].is_wanted && !rooms[i].is_given)
      throw dataset_error{{.path = {}, .field = (*fields_)[i].spec.name},
                          "the record has no value of this field"};
}

record_row::room& record_row::wanted(std::size_t field, bool is_ragged) {
  if (field >= rooms.size())
    throw usage_error{"record_output: there is no field " + std::to_string(field) +
                      ": the decoder describes " + std::to_string(rooms.size())};
  const described_field& described = (*fields_)[field];
  if (described.is_ragged != is_ragged)
    throw usage_error{"record_output: the decoder describes field '" + described.spec.name +
                      (is_ragged ? "' as fixed, so it is written to fixed()"
                                 : "' as ragged, so it is written to ragged()")};
  if (!rooms[field].is_wanted)
    throw usage_error{"record_output: field '" + described.spec.name +
                      "' is not wanted; the decoder must ask wants() or find() first"};
  rooms[field].is_given = true;
  return rooms[field];
}

std::span<std::byte> record_row::fixed(std::size_t field) {
  return wanted(field, false).memory;
}

std::span<std::byte> record_row::ragged(std::size_t field, std::uint64_t count) {
  room& to = wanted(field, true);
  if (count > to.limit && !to.truncates)
    throw dataset_error{{.path = {}, .field = (*fields_)[field].spec.name},
                        too_long(count, to.limit)};
  to.count = std::min(count, to.limit);
  const std::size_t fit = to.memory.size() / to.element_bytes;
  return to.memory.first(std::min<std::uint64_t>(to.count, fit) * to.element_bytes);
}

}  // namespace feedline::detail
