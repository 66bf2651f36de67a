#include <feedline/dataset/contextual_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/ragged/decode.hpp>

#include "dataset/choose_fields.hpp"
#include "detail/sample_range.hpp"
#include "rows/scratch_pool.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline {
namespace {

using bytes = std::vector<std::byte>;

/// A sample's value as it is stored. @param memory Grows to hold it.
std::span<const std::byte> stored_value(const ragged_dataset& of, sample_index sample,
                                        bytes& memory) {
  const auto count = static_cast<std::size_t>(of.length(sample));
  if (memory.size() < count) memory.resize(count);
  const element_run run{sample, 0, std::span{memory}.first(count)};
  if (count != 0) of.read_in_turn({&run, 1});
  return run.out;
}

/// A decoder knows neither file nor sample.
[[noreturn]] void fail(const dataset_error& fault, const std::string& field, sample_index sample) {
  dataset_location where = fault.where();
  where.field = field;
  where.sample = sample.value;
  throw dataset_error{std::move(where), fault.message()};
}

class decoded_dataset final : public contextual_dataset {
 public:
  decoded_dataset(ragged_dataset_ptr of, decoder_ptr by, field decoded)
      : of_{std::move(of)},
        by_{std::move(by)},
        decoded_{std::move(decoded)},
        row_bytes_{detail::checked_row_bytes("decode", {&decoded_, 1})[0]} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return {decoded_}; }
  bool varies_by_epoch() const override { return by_->varies_by_epoch(); }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }

  void read_for(std::span<const sample_index> samples, std::span<const std::span<std::byte>> out,
                const read_context& context) const override {
    detail::require_in_range(samples, size());
    const auto memory = memory_.take();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto stored = stored_value(*of_, samples[i], *memory);
      try {
        by_->decode_for(stored, decoded_, out[0].subspan(i * row_bytes_, row_bytes_), context[i]);
      } catch (const dataset_error& fault) {
        fail(fault, decoded_.name, samples[i]);
      }
    }
  }

 private:
  ragged_dataset_ptr of_;
  decoder_ptr by_;
  field decoded_;
  std::size_t row_bytes_;
  mutable detail::scratch_pool<bytes> memory_{[] { return std::make_unique<bytes>(); }};
};

field describe_first(const ragged_dataset& of, const decoder& by, const std::string& name) {
  bytes memory;
  const auto first = stored_value(of, sample_index{0}, memory);
  try {
    field described = by.describe(first);
    described.name = name;
    return described;
  } catch (const dataset_error& fault) {
    fail(fault, name, sample_index{0});
  }
}

}  // namespace

dataset_ptr decode(ragged_dataset_ptr of, decoder_ptr by) {
  if (!of) throw usage_error{"decode: the dataset is null"};
  if (!by) throw usage_error{"decode: the decoder is null"};
  const field element = of->element();
  const bool is_byte = element.type == element_type::u8 || element.type == element_type::i8;
  if (!is_byte || !element.shape.empty())
    throw usage_error{"decode: a sample's elements are " + to_string(element) +
                      ", and what is coded is bytes: uint8, without a shape"};
  if (of->size() == 0) throw usage_error{"decode: the dataset has no samples"};
  field decoded = describe_first(*of, *by, element.name);
  return std::make_shared<const decoded_dataset>(std::move(of), std::move(by), std::move(decoded));
}

}  // namespace feedline
