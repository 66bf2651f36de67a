#include <feedline/error.hpp>
#include <feedline/ragged/decode.hpp>

#include "dataset/choose_fields.hpp"
#include "ragged/record_columns.hpp"

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

  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    dataset_location where = fault.where();
    if (where.field.empty()) where.field = name_;
    where.sample = sample;
    throw dataset_error{std::move(where), fault.message()};
  }

  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return of_->hints_ranges(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }
  unsigned reads_in_processes() const override { return of_->reads_in_processes(); }

 private:
  ragged_dataset_ptr of_;
  std::string name_;
};

/// @throws usage_error if they cannot be decoded at all.
detail::coded_values_ptr values_of(const char* who, ragged_dataset_ptr of, bool has_decoder) {
  const std::string begin{who};
  if (!of) throw usage_error{begin + ": the dataset is null"};
  if (!has_decoder) throw usage_error{begin + ": the decoder is null"};
  const field element = of->element();
  const bool is_byte = element.type == element_type::u8 || element.type == element_type::i8;
  if (!is_byte || !element.shape.empty())
    throw usage_error{begin + ": a sample's elements are " + to_string(element) +
                      ", but coded values are bytes: uint8, without a shape"};
  if (of->size() == 0) throw usage_error{begin + ": the dataset has no samples"};
  return std::make_shared<const ragged_values>(std::move(of));
}

}  // namespace

dataset_ptr decode(ragged_dataset_ptr of, decoder_ptr by) {
  const std::string name = of ? of->element().name : "";
  auto values = values_of("decode", std::move(of), by != nullptr);
  field decoded = detail::describe_first(*values, *by);
  decoded.name = name;
  (void)detail::checked_row_bytes("decode", {&decoded, 1});
  return detail::make_decoded_dataset(std::move(values), {std::move(by), std::move(decoded)});
}

dataset_ptr decode(ragged_dataset_ptr of, record_decoder_ptr by, const decode_options& options) {
  auto values = values_of("decode", std::move(of), by != nullptr);
  return detail::make_record_dataset("decode", std::move(values), std::move(by), options);
}

ragged_dataset_ptr decode_ragged(ragged_dataset_ptr of, record_decoder_ptr by,
                                 const std::string& field) {
  auto values = values_of("decode_ragged", std::move(of), by != nullptr);
  return detail::make_ragged_field(std::move(values), std::move(by), field);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
