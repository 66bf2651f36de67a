#include <feedline/error.hpp>
#include <feedline/ragged/decode.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/coded_values.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// The samples of a ragged dataset of bytes.
class ragged_values final : public detail::coded_values {
 public:
  explicit ragged_values(ragged_dataset_ptr of) : of_{std::move(of)}, name_{of_->element().name} {}

  std::uint64_t size() const override { return of_->size(); }
  std::uint64_t stored_bytes(std::uint64_t sample) const override { return of_->length({sample}); }

  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override {
    const auto count = static_cast<std::size_t>(of_->length({sample}));
    const element_run run{{sample}, 0, memory(count)};
    if (count != 0) of_->read({&run, 1});
    return run.out;
  }

  /// A decoder knows neither file nor sample.
  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    dataset_location where = fault.where();
    where.field = name_;
    where.sample = sample;
    throw dataset_error{std::move(where), fault.message()};
  }

  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }

 private:
  ragged_dataset_ptr of_;
  std::string name_;
};

field describe_first(const ragged_values& of, const decoder& by, const std::string& name) {
  std::vector<std::byte> memory;
  const auto first = of.read(0, [&](std::size_t bytes) {
    memory.resize(bytes);
    return std::span{memory};
  });
  try {
    field described = by.describe(first);
    described.name = name;
    return described;
  } catch (const dataset_error& fault) {
    of.refuse(fault, 0);
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
                      ", but coded values are bytes: uint8, without a shape"};
  if (of->size() == 0) throw usage_error{"decode: the dataset has no samples"};
  auto values = std::make_shared<const ragged_values>(std::move(of));
  field decoded = describe_first(*values, *by, element.name);
  (void)detail::checked_row_bytes("decode", {&decoded, 1});
  return detail::make_decoded_dataset(std::move(values), std::move(by), std::move(decoded));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
