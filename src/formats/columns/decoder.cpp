#include "formats/columns/decoder.hpp"

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "detail/printable.hpp"
#include "formats/columns/arrays.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;

constexpr const char* way_out =
    "; the records that were looked at differ: say in shard_options::columns what all have";

dataset_error fault_of(const described_field& of, const std::string& message) {
  return {{.path = {}, .field = of.spec.name}, message};
}

/// Copies elements, the least byte first, into the machine's byte order.
void copy_elements(byte_span from, element_type type, std::span<std::byte> to) {
  if (to.empty()) return;
  std::memcpy(to.data(), from.data(), to.size());
  if constexpr (std::endian::native == std::endian::big) reverse_elements(to, size_bytes(type));
}

template <class Number>
void parse_number(const described_field& as, byte_span value, std::span<std::byte> out) {
  const std::string_view text{reinterpret_cast<const char*>(value.data()), value.size()};
  Number number{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size())
    throw fault_of(as, "'" + printable(text.substr(0, 40)) + "' is no number that " +
                           std::string{to_string(as.spec.type)} + " can hold");
  std::memcpy(out.data(), &number, sizeof number);
}

void write_value(const column_field& of, const stored_column& column, byte_span value,
                 record_output& out, std::size_t place, const sample_context& context) {
  const described_field& as = of.as;
  if (of.by) return of.by->decode(value, as.spec, out.fixed(place), context);
  if (column.kind == column_kind::digits) {
    if (as.spec.type == element_type::i64)
      return parse_number<std::int64_t>(as, value, out.fixed(place));
    return parse_number<double>(as, value, out.fixed(place));
  }
  stored_array found{.type = as.spec.type, .shape = {}, .elements = value};
  const std::uint64_t element = size_bytes(as.spec.type);
  const bool is_array = column.kind == column_kind::array;
  if (is_array) {
    found = column.read_array(column, value);
    if (found.type != as.spec.type)
      throw fault_of(as, "has elements of " + std::string{to_string(found.type)} + ", but is " +
                             to_string(as.spec) + way_out);
    require_all_elements(found);
  }
  const std::span<const std::uint64_t> inner = as.spec.shape;
  if (as.is_ragged) {
    const std::uint64_t row = count_elements_of(inner) * element;
    const bool has_rows =
        is_array
            ? !found.shape.empty() && std::ranges::equal(std::span{found.shape}.subspan(1), inner)
            : found.elements.size() % row == 0;
    if (!has_rows) throw fault_of(as, "has another shape than " + to_string(as.spec) + way_out);
    const auto to = out.ragged(place, is_array ? found.shape.front() : found.elements.size() / row);
    return copy_elements(found.elements, as.spec.type, to);
  }
  const auto to = out.fixed(place);
  if (found.elements.size() != to.size() || (is_array && !std::ranges::equal(found.shape, inner)))
    throw fault_of(as, "has " + std::to_string(found.elements.size()) + " bytes" +
                           (is_array ? " of another shape" : "") + ", but " + to_string(as.spec) +
                           " takes " + std::to_string(to.size()) + way_out);
  copy_elements(found.elements, as.spec.type, to);
}

class columns_decoder final : public record_decoder {
 public:
  columns_decoder(record_layout layout, std::vector<column_field> fields)
      : layout_{std::move(layout)}, fields_{std::move(fields)} {}

  std::vector<described_field> describe(byte_span) const override {
    std::vector<described_field> described;
    for (const column_field& each : fields_) described.push_back(each.as);
    return described;
  }

  void decode(byte_span stored, record_output& out, const sample_context& context) const override {
    record_values values;
    split_record(layout_, stored, values);
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!out.wants(i)) continue;
      const column_field& of = fields_[i];
      try {
        write_value(of, layout_.columns[of.column], values[of.column], out, i, context);
      } catch (const dataset_error& fault) {
        if (!fault.field().empty()) throw;
        throw fault_of(of.as, fault.message());
      }
    }
  }

  bool varies_by_epoch() const override {
    return std::ranges::any_of(
        fields_, [](const column_field& each) { return each.by && each.by->varies_by_epoch(); });
  }

  decoder_ptr coded_by(std::size_t field) const override { return fields_[field].by; }

  byte_span coded_value(byte_span stored, std::size_t field) const override {
    record_values values;
    split_record(layout_, stored, values);
    return values[fields_[field].column];
  }

 private:
  record_layout layout_;
  std::vector<column_field> fields_;
};

}  // namespace

record_decoder_ptr make_columns_decoder(record_layout layout, std::vector<column_field> fields) {
  return std::make_shared<const columns_decoder>(std::move(layout), std::move(fields));
}

}  // namespace feedline::detail
