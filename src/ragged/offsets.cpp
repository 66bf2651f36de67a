#include "ragged/offsets.hpp"

#include <feedline/error.hpp>

#include "dataset/label_type.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::size_t piece_offsets = 8192;

bool is_whole_number(element_type type) noexcept {
  return type <= element_type::i64;  // their values are stable, and these come first
}

bool is_signed(element_type type) {
  return with_integer(type, [](auto zero) { return std::is_signed_v<decltype(zero)>; });
}

/// One number as 64 bits; a negative one as its two's complement.
std::uint64_t widened(element_type type, const std::byte* from) {
  return with_integer(type, [from](auto value) {
    std::memcpy(&value, from, sizeof value);
    return static_cast<std::uint64_t>(value);
  });
}

field only_field_of(const dataset& offsets) {
  std::vector<field> fields = offsets.fields();
  if (fields.size() != 1)
    throw usage_error{"make_ragged_dataset: the dataset of offsets has " +
                      std::to_string(fields.size()) + " fields, and must have one"};
  if (!is_whole_number(fields[0].type) || sample_bytes(fields[0]) != size_bytes(fields[0].type))
    throw usage_error{"make_ragged_dataset: offsets are one whole number a row, and not " +
                      to_string(fields[0])};
  return std::move(fields[0]);
}

/// Where the numbers lie, if they can be used there.
std::span<const std::uint64_t> in_place(const dataset& from, element_type type) {
  const auto rows = from.rows();
  if (rows.empty() || size_bytes(type) != sizeof(std::uint64_t)) return {};
  const std::byte* const first = rows[0].data();
  if (reinterpret_cast<std::uintptr_t>(first) % alignof(std::uint64_t) != 0) return {};
  return {reinterpret_cast<const std::uint64_t*>(first), static_cast<std::size_t>(from.size())};
}

std::vector<std::uint64_t> read_all(const dataset& from, const field& spec) {
  std::vector<std::uint64_t> all;
  try {
    all.reserve(from.size());
  } catch (const std::exception&) {  // std::bad_alloc, std::length_error
    throw dataset_error{{.path = {}, .field = spec.name},
                        "claims " + std::to_string(from.size()) +
                            " offsets, for which there is no memory, at 8 bytes each"};
  }
  const std::size_t bytes = size_bytes(spec.type);
  std::vector<sample_index> rows;
  std::vector<std::byte> piece;
  while (all.size() < from.size()) {
    const std::uint64_t count = std::min<std::uint64_t>(piece_offsets, from.size() - all.size());
    rows.clear();
    for (std::uint64_t i = 0; i < count; ++i) rows.push_back({all.size() + i});
    piece.resize(count * bytes);
    const std::span<std::byte> out{piece};
    from.read(rows, {&out, 1});
    for (std::uint64_t i = 0; i < count; ++i)
      all.push_back(widened(spec.type, piece.data() + i * bytes));
  }
  return all;
}

void require_offsets(std::span<const std::uint64_t> all, const field& spec, std::uint64_t values) {
  const auto wrong = [&](std::size_t at, const std::string& what) {
    return dataset_error{{.path = {}, .field = spec.name, .sample = at}, what};
  };
  if (all.empty())
    throw dataset_error{{.path = {}, .field = spec.name},
                        "holds no offset; n samples take n + 1, the first of them 0"};
  const bool may_be_negative = is_signed(spec.type);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (may_be_negative && static_cast<std::int64_t>(all[i]) < 0)
      throw wrong(i, "the offset is " + std::to_string(static_cast<std::int64_t>(all[i])) +
                         ", but it counts values from 0");
    if (i == 0 && all[i] != 0)
      throw wrong(i, "the first offset is " + std::to_string(all[i]) + ", but must be 0");
    if (i != 0 && all[i] < all[i - 1])
      throw wrong(i, "the offset is " + std::to_string(all[i]) + ", less than the one before, " +
                         std::to_string(all[i - 1]));
  }
  if (all.back() != values)
    throw wrong(all.size() - 1, "the last offset is " + std::to_string(all.back()) +
                                    ", but the number of values is " + std::to_string(values) +
                                    "; they do not belong together");
}

}  // namespace

ragged_offsets::ragged_offsets(dataset_ptr from, std::uint64_t values) {
  const field spec = only_field_of(*from);
  all_ = in_place(*from, spec.type);
  if (!all_.empty()) {
    owner_ = std::move(from);
  } else {
    auto read = std::make_shared<const std::vector<std::uint64_t>>(read_all(*from, spec));
    all_ = *read;
    owner_ = std::move(read);
  }
  require_offsets(all_, spec, values);
}

}  // namespace feedline::detail
