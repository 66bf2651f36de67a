#include "gpu/assembly/assembly_case.hpp"

#include "device/assemble_on_host.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>
#include <utility>

namespace feedline::test {
namespace {

constexpr std::size_t alignment = 256;

std::size_t round_up(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) {
  return random() % bound;
}
std::uint32_t between(std::mt19937_64& random, std::uint32_t least, std::uint32_t most) {
  return least + static_cast<std::uint32_t>(below(random, most - least + 1));
}
bool chance(std::mt19937_64& random, std::uint64_t one_in) {
  return below(random, one_in) == 0;
}

/// Integers are any; half of the floating-point rows are any bits (infinities, NaNs and subnormals
/// among them), half are numbers of the size that data have.
void fill(std::vector<std::byte>& bytes, const case_field& field, std::mt19937_64& random) {
  for (auto& each : bytes) each = static_cast<std::byte>(random());
  const auto set = [&](auto value, std::size_t i) {
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  };
  const element_type type = field.conversion.from;
  const std::size_t count = bytes.size() / size_bytes(type);
  const bool any_bits = chance(random, 2);
  const bool is_class = field.conversion.what == field_conversion::operation::one_hot;
  for (std::size_t i = 0; i < count; ++i) {
    const double number = static_cast<double>(below(random, 1'000'000)) / 1000.0 - 400.0;
    if (type == element_type::boolean) set(static_cast<std::uint8_t>(random() & 1U), i);
    if (type == element_type::f32 && !any_bits) set(static_cast<float>(number), i);
    if (type == element_type::f64 && !any_bits) set(number, i);
    if (is_class && type != element_type::boolean && !chance(random, 8)) {
      std::memset(bytes.data() + i * size_bytes(type), 0, size_bytes(type));
      // Little-endian: the lowest byte. Some are no class.
      bytes[i * size_bytes(type)] =
          static_cast<std::byte>(below(random, std::min(field.conversion.classes + 3U, 255U)));
    }
  }
}

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

assembly_case::assembly_case(const case_options& options, std::vector<case_field> fields,
                             std::mt19937_64& random)
    : fields_{std::move(fields)}, options_{options} {
  format_.batch_size = options.batch_size;
  format_.run_samples = options.run_samples;
  format_.runs_per_batch = divide_up(options.batch_size, options.run_samples);
  format_.keeps = options.keeps;
  format_.varies = options.mixing.has_value();
  for (case_field& field : fields_) {
    field.to_offset = batch_bytes_;
    batch_bytes_ += round_up(field.to_row_bytes * options.batch_size);
    format_.row_bytes.push_back(field.row_bytes);
    format_.varies |= field.conversion.is_random();
    field.cached.resize(device_row_cache * field.row_bytes);
    field.arriving.resize(rows * field.row_bytes);
    fill(field.cached, field, random);
    fill(field.arriving, field, random);
  }
  slot_bytes_ = batch_bytes_ * divide_up(options.samples, options.batch_size);

  // Each row to be cached has one slot of its own, whichever sample asks for it.
  std::array<std::uint32_t, rows> cache_as{};
  for (std::uint32_t i = 0; i < rows; ++i)
    cache_as[i] = chance(random, 3) ? assembly::not_cached : static_cast<std::uint32_t>(rows) + i;
  std::vector<sample_source> samples(options.samples);
  for (sample_source& sample : samples) {
    sample.arrives = options.from == rows_from::copy_destination ||
                     (options.from == rows_from::both && chance(random, 2));
    sample.row = below(random, rows);
    if (sample.arrives && options.keeps) sample.cache_as = cache_as[sample.row];
    sample.random_bits = static_cast<std::uint32_t>(random());
  }
  copy_destination_ =
      build_copy_destination(format_, samples, [&](std::size_t field, std::uint64_t row) {
        const case_field& of = fields_[field];
        return std::span{of.arriving}.subspan(row * of.row_bytes, of.row_bytes);
      });
}

field_assembly assembly_case::field(std::size_t place, const std::byte* cached,
                                    std::byte* keep) const {
  const case_field& of = fields_[place];
  field_assembly result;
  result.cached = cached;
  result.keep = keep;
  result.row_bytes = of.row_bytes;
  result.to_offset = of.to_offset;
  result.to_row_bytes = of.to_row_bytes;
  result.conversion = of.conversion;
  return result;
}

assembly assembly_case::work(std::byte* slot, const std::byte* copy_destination,
                             std::span<const field_assembly> fields) const {
  assembly result;
  copy_destination_.describe(result, format_);
  result.slot = slot;
  result.batch_bytes = batch_bytes_;
  result.samples = options_.samples;
  result.copy_destination = copy_destination;
  result.fields = fields;
  result.mixing = options_.mixing ? &*options_.mixing : nullptr;
  result.epoch_bits = 0x9A3C'51E7;
  result.first_batch = 4'000'000'000;  // beyond the signed numbers
  return result;
}

std::vector<std::vector<std::byte>> assembly_case::reference() const {
  std::vector<std::vector<std::byte>> result{std::vector(slot_bytes_, untouched)};
  for (const case_field& each : fields_) result.push_back(each.cached);
  std::vector<field_assembly> all;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    std::byte* const cached = result[i + 1].data();
    all.push_back(field(i, cached, options_.keeps ? cached : nullptr));
  }
  detail::assemble_on_host(work(result[0].data(), copy_destination_.bytes.data(), all));
  return result;
}

case_field copied(std::size_t row_bytes) {
  case_field field;
  field.row_bytes = row_bytes;
  field.to_row_bytes = row_bytes;
  return field;
}

case_field one_hot(element_type from, element_type to, std::uint32_t classes) {
  case_field field;
  field.conversion.what = field_conversion::operation::one_hot;
  field.conversion.from = from;
  field.conversion.to = to;
  field.conversion.classes = classes;
  field.row_bytes = size_bytes(from);
  field.to_row_bytes = classes * size_bytes(to);
  return field;
}

case_field converted(element_type from, element_type to, std::mt19937_64& random) {
  case_field field;
  field_conversion& conversion = field.conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.from = from;
  conversion.to = to;
  conversion.channels_last = chance(random, 2);
  conversion.to_channels_last = chance(random, 2);
  conversion.channels = chance(random, 8) ? between(random, 5, 32) : between(random, 1, 4);
  conversion.height = between(random, 1, 33);
  conversion.width = chance(random, 2) ? 4 * between(random, 1, 8) : between(random, 1, 33);
  conversion.to_height = conversion.height;
  conversion.to_width = conversion.width;
  if (chance(random, 2)) {
    conversion.padding = between(random, 0, 4);
    conversion.to_height = between(random, 1, conversion.height + 2 * conversion.padding);
    conversion.to_width = between(random, 1, conversion.width + 2 * conversion.padding);
    conversion.random_window = chance(random, 2);
  }
  constexpr std::uint64_t always = std::uint64_t{1} << 32;
  if (chance(random, 2)) conversion.flip_below = chance(random, 4) ? always : always / 2;
  conversion.per_channel = chance(random, 2);
  for (std::size_t i = 0; i < field_conversion::max_channels; ++i) {
    conversion.scale[i] = static_cast<float>(between(random, 1, 2000)) / 255.0F;
    conversion.offset[i] = static_cast<float>(between(random, 0, 2000)) / 700.0F - 1.4F;
  }
  field.row_bytes =
      std::size_t{conversion.channels} * conversion.height * conversion.width * size_bytes(from);
  field.to_row_bytes = std::size_t{conversion.channels} * conversion.to_height *
                       conversion.to_width * size_bytes(to);
  return field;
}

case_field any_field(std::mt19937_64& random) {
  constexpr std::array targets{element_type::f32, element_type::f16, element_type::bf16};
  const element_type to = targets[below(random, targets.size())];
  const auto from = static_cast<element_type>(below(random, 13));
  switch (below(random, 4)) {
    case 0:
      return copied(std::size_t{1} << below(random, 10));
    case 1:
      return copied(1 + below(random, 300));
    case 2:
      return one_hot(static_cast<element_type>(below(random, 8)), to, between(random, 1, 20));
    default:
      return converted(from, to, random);
  }
}

std::string describe(const case_field& field) {
  const field_conversion& conversion = field.conversion;
  std::ostringstream text;
  if (conversion.what == field_conversion::operation::copy) {
    text << "copy of " << field.row_bytes << " bytes";
    return text.str();
  }
  text << to_string(conversion.from) << " to " << to_string(conversion.to);
  if (conversion.what == field_conversion::operation::one_hot) {
    text << ", " << conversion.classes << " classes";
    return text.str();
  }
  text << ", " << conversion.channels << " channels" << (conversion.channels_last ? " (last)" : "")
       << " of " << conversion.height << " x " << conversion.width << " padded by "
       << conversion.padding << " to " << conversion.to_height << " x " << conversion.to_width
       << (conversion.to_channels_last ? " (channels last)" : "")
       << (conversion.random_window ? ", random crop" : "") << ", flip below "
       << conversion.flip_below << (conversion.per_channel ? ", per channel" : "");
  return text.str();
}

}  // namespace feedline::test
