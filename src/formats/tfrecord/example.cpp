#include "formats/tfrecord/example.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;

/// The message in a field that should be one.
byte_span message_in(const wire_field& of, std::string_view what) {
  if (of.type != wire_type::bytes)
    throw dataset_error{{}, "is no tf.train.Example: " + std::string{what} + " is a number"};
  return of.bytes;
}

/// Calls `use` with the value of each field 1 of a message; other fields are unknown.
template <class Use>
void for_each_item(byte_span message, std::string_view what, const Use& use) {
  for (wire_reader items{message}; !items.at_end();)
    if (const wire_field item = items.next(); item.number == 1) use(message_in(item, what));
}

/// Calls `use` for each entry of a map<string, message>.
template <class Use>
void for_each_entry(byte_span map, const Use& use) {
  for_each_item(map, "an entry of a map", [&](byte_span entry) {
    std::string_view key;
    byte_span value;
    for (wire_reader parts{entry}; !parts.at_end();) {
      const wire_field part = parts.next();
      if (part.number == 1) key = text_in(message_in(part, "a feature's name"));
      if (part.number == 2) value = message_in(part, "a feature");
    }
    use(key, value);
  });
}

dataset_error wrong_list(feature_kind kind) {
  return {{},
          "is no tf.train.Example: a list of " + std::string{name_of(kind)} +
              " has a value of another kind"};
}

std::uint64_t count_packed(feature_kind kind, byte_span packed) {
  if (kind == feature_kind::floats) {
    if (packed.size() % sizeof(float) != 0) throw wrong_list(kind);
    return packed.size() / sizeof(float);
  }
  // The last byte of a number is below 128.
  if (!packed.empty() && std::to_integer<unsigned>(packed.back()) >= 128)
    throw dataset_error{{}, "the protocol buffer is cut short: it ends within a number"};
  return static_cast<std::uint64_t>(std::ranges::count_if(
      packed, [](std::byte each) { return std::to_integer<unsigned>(each) < 128; }));
}

/// Writes numbers one after the other, until the memory is full.
class number_writer {
 public:
  explicit number_writer(std::span<std::byte> out) noexcept : out_{out} {}

  [[nodiscard]] bool is_full() const noexcept { return out_.empty(); }

  void write_integer(std::uint64_t value) noexcept {
    std::memcpy(out_.data(), &value, sizeof value);
    out_ = out_.subspan(sizeof value);
  }

  void write_floats(byte_span values) noexcept {
    const std::size_t bytes = std::min(values.size(), out_.size());
    if (bytes == 0) return;
    std::memcpy(out_.data(), values.data(), bytes);
    if constexpr (std::endian::native == std::endian::big)
      reverse_elements(out_.first(bytes), sizeof(float));
    out_ = out_.subspan(bytes);
  }

 private:
  std::span<std::byte> out_;
};

}  // namespace

std::string_view name_of(feature_kind kind) noexcept {
  switch (kind) {
    case feature_kind::bytes:
      return "bytes";
    case feature_kind::floats:
      return "float";
    case feature_kind::integers:
      return "int64";
    default:
      return "no values";
  }
}

feature_view read_feature(byte_span message) {
  feature_view found;
  for (wire_reader parts{message}; !parts.at_end();) {
    const wire_field part = parts.next();
    if (part.number < 1 || part.number > 3) continue;
    const auto kind = static_cast<feature_kind>(part.number);
    if (kind == found.kind)
      throw dataset_error{{}, "a feature has two lists of " + std::string{name_of(kind)}};
    found = {kind, message_in(part, "a list of values")};  // the last one counts
  }
  return found;
}

std::uint64_t count_values(const feature_view& of) {
  std::uint64_t count = 0;
  for (wire_reader values{of.list}; !values.at_end();) {
    const wire_field value = values.next();
    if (value.number != 1) continue;
    const bool is_bytes = value.type == wire_type::bytes;
    if (of.kind == feature_kind::bytes) {
      if (!is_bytes) throw wrong_list(of.kind);
      ++count;
    } else if (is_bytes) {
      count += count_packed(of.kind, value.bytes);
    } else {
      const bool is_float = of.kind == feature_kind::floats;
      if (value.type != (is_float ? wire_type::fixed32 : wire_type::varint))
        throw wrong_list(of.kind);
      ++count;
    }
  }
  return count;
}

void write_values(const feature_view& of, std::span<std::byte> out) {
  number_writer to{out};
  for (wire_reader values{of.list}; !values.at_end() && !to.is_full();) {
    const wire_field value = values.next();
    if (value.number != 1) continue;
    if (of.kind == feature_kind::floats)
      to.write_floats(value.bytes);
    else if (value.type == wire_type::varint)
      to.write_integer(value.value);
    else
      for (wire_reader packed{value.bytes}; !packed.at_end() && !to.is_full();)
        to.write_integer(packed.varint());
  }
}

byte_span first_bytes(const feature_view& of) {
  for (wire_reader values{of.list}; !values.at_end();) {
    const wire_field value = values.next();
    if (value.number == 1 && value.type == wire_type::bytes) return value.bytes;
  }
  return {};
}

void for_each_step(byte_span list, const std::function<void(const feature_view&)>& use) {
  for_each_item(list, "a step", [&](byte_span step) { use(read_feature(step)); });
}

void for_each_feature(byte_span record, const std::function<void(const named_feature&)>& use) {
  for (wire_reader parts{record}; !parts.at_end();) {
    const wire_field part = parts.next();
    if (part.number != 1 && part.number != 2) continue;
    const bool is_sequence = part.number == 2;
    for_each_entry(message_in(part, "the map of features"),
                   [&](std::string_view name, byte_span message) {
                     use({name, is_sequence, message});
                   });
  }
}

}  // namespace feedline::detail
