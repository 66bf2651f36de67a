#include "device/assemble_on_host.hpp"

#include "detail/arithmetic.hpp"
#include "device/transform_row.hpp"

#include <cstring>

namespace feedline::detail {
namespace {

/// Reads the words and chunks of arrived memory, as `assembly` describes them.
class destination_reader {
 public:
  explicit destination_reader(const assembly& work) noexcept : work_{work} {}

  std::uint64_t runs() const noexcept {
    const auto whole_batches = work_.samples / work_.batch_size;
    const auto rest = work_.samples % work_.batch_size;
    return whole_batches * work_.runs_per_batch + divide_up(rest, work_.run_samples);
  }
  std::uint32_t source(std::uint64_t sample) const noexcept {
    return word(work_.sources_at, sample);
  }
  std::uint32_t random_bits(std::uint64_t sample) const noexcept {
    return work_.varies ? word(work_.random_bits_at, sample) : 0;
  }

  std::uint32_t rows(std::uint64_t run) const noexcept { return directory(run, 0); }
  std::uint32_t keep_number(std::uint64_t run, std::uint32_t row) const noexcept {
    return word(directory(run, 1) * unit_bytes, row);
  }
  const std::byte* row(std::uint64_t run, std::size_t field, std::uint32_t row) const noexcept {
    const field_assembly& of = work_.fields[field];
    return work_.copy_destination + directory(run, 2 + of.rows_of(field)) * unit_bytes +
           row * of.row_bytes;
  }

 private:
  static constexpr std::size_t unit_bytes = 16;

  std::uint32_t word(std::size_t at, std::uint64_t place) const noexcept {
    std::uint32_t value = 0;
    std::memcpy(&value, work_.copy_destination + at + place * sizeof value, sizeof value);
    return value;
  }
  std::uint32_t directory(std::uint64_t run, std::size_t entry) const noexcept {
    return word(work_.directory_at, run * (2 + work_.fields.size()) + entry);
  }

  const assembly& work_;
};

void keep_rows(const assembly& work, const destination_reader& copy_destination) noexcept {
  const std::uint64_t runs = copy_destination.runs();
  for (std::uint64_t run = 0; run < runs; ++run)
    for (std::uint32_t row = 0; row < copy_destination.rows(run); ++row) {
      const std::uint32_t number = copy_destination.keep_number(run, row);
      if (number == assembly::not_cached) continue;
      for (std::size_t f = 0; f < work.fields.size(); ++f) {
        const field_assembly& field = work.fields[f];
        if (field.keep != nullptr)
          std::memcpy(field.keep + number * field.row_bytes, copy_destination.row(run, f, row),
                      field.row_bytes);
      }
    }
}

}  // namespace

void assemble_on_host(const assembly& work) noexcept {
  const destination_reader copy_destination{work};
  if (work.keeps) keep_rows(work, copy_destination);

  for (std::uint64_t sample = 0; sample < work.samples; ++sample) {
    const std::uint64_t batch = sample / work.batch_size;
    const std::uint64_t place = sample % work.batch_size;
    const std::uint64_t run = batch * work.runs_per_batch + place / work.run_samples;
    const std::uint32_t source = copy_destination.source(sample);
    const std::uint32_t number = source & ~assembly::arrived;
    for (std::size_t f = 0; f < work.fields.size(); ++f) {
      const field_assembly& field = work.fields[f];
      const std::byte* row = (source & assembly::arrived) != 0
                                 ? copy_destination.row(run, f, number)
                                 : field.cached_row(number);
      transform_row(
          field.conversion, row, field.row_bytes, copy_destination.random_bits(sample),
          work.slot + batch * work.batch_bytes + field.to_offset + place * field.to_row_bytes);
    }
  }
  if (work.mixing != nullptr) mix_on_host(work);
}

}  // namespace feedline::detail
