#include <feedline/error.hpp>
#include <feedline/sampler/explicit_order.hpp>

#include "sampler/field_values.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// @throws usage_error if one is negative.
std::vector<std::uint64_t> indices_of(const std::string& field_name,
                                      const std::vector<std::int64_t>& values) {
  const auto bad =
      std::find_if(values.begin(), values.end(), [](std::int64_t value) { return value < 0; });
  if (bad != values.end())
    throw usage_error{"explicit_order: index " + std::to_string(bad - values.begin()) +
                      " of field \"" + field_name + "\" is " + std::to_string(*bad) +
                      "; samples are numbered from 0"};
  return {values.begin(), values.end()};
}

template <class Index>
std::uint64_t row_size(std::span<const Index> indices, std::uint64_t rows) {
  if (indices.empty()) throw usage_error{"explicit_order: there are no indices; give it some"};
  if (rows == 0 || indices.size() % rows != 0)
    throw usage_error{"explicit_order: " + std::to_string(indices.size()) + " indices should be " +
                      std::to_string(rows) +
                      " epochs' orders; give each epoch as many as any other"};
  return indices.size() / rows;
}

/// The number of epochs, from the field's shape.
std::uint64_t rows_of(const detail::field_values<std::int64_t>& field) {
  return field.shape.empty() ? 1 : field.values.size() / field.shape.front();
}

}  // namespace

explicit_order::explicit_order(std::span<const std::uint64_t> indices, std::uint64_t rows)
    : row_size_{row_size(indices, rows)},
      rows_{rows},
      largest_{*std::max_element(indices.begin(), indices.end())} {
  if (largest_ > UINT32_MAX) {
    table_ =
        std::make_shared<const table>(std::vector<std::uint64_t>(indices.begin(), indices.end()));
    return;
  }
  std::vector<std::uint32_t> narrow(indices.size());
  std::transform(indices.begin(), indices.end(), narrow.begin(),
                 [](std::uint64_t index) { return static_cast<std::uint32_t>(index); });
  table_ = std::make_shared<const table>(std::move(narrow));
}

explicit_order::explicit_order(std::span<const std::uint32_t> indices, std::uint64_t rows)
    : table_{std::make_shared<const table>(
          std::vector<std::uint32_t>(indices.begin(), indices.end()))},
      row_size_{row_size(indices, rows)},
      rows_{rows},
      largest_{*std::max_element(indices.begin(), indices.end())} {}

explicit_order::explicit_order(const dataset_ptr& of, const std::string& field_name) {
  const auto field = detail::read_field<std::int64_t>("explicit_order", of, field_name, 1);
  const auto indices = indices_of(field_name, field.values);
  *this =
      explicit_order{std::span<const std::uint64_t>{indices}, indices.empty() ? 1 : rows_of(field)};
}

void explicit_order::refuse_outside(std::uint64_t samples) const {
  const auto [place, index] = std::visit(
      [samples](const auto& indices) {
        const auto bad = std::find_if(indices.begin(), indices.end(),
                                      [samples](std::uint64_t one) { return one >= samples; });
        return std::pair<std::uint64_t, std::uint64_t>(bad - indices.begin(), *bad);
      },
      *table_);
  throw usage_error{
      "explicit_order: index " + std::to_string(index) + " at position " +
      std::to_string(place % row_size_) +
      (rows_ == 1 ? std::string{} : " of row " + std::to_string(place / row_size_)) +
      " is not one of the dataset's " + std::to_string(samples) +
      " samples, which are numbered from 0; correct the order, or use it with the dataset that it "
      "was made for"};
}

std::uint64_t explicit_order::size(std::uint64_t samples) const {
  if (largest_ >= samples) refuse_outside(samples);
  return row_size_;
}

void explicit_order::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                             std::span<sample_index> out) const {
  (void)size(samples);
  const std::uint64_t begin = epoch % rows_ * row_size_ + first.value;
  std::visit(
      [&](const auto& indices) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = {indices[begin + i]};
      },
      *table_);
}

std::size_t explicit_order::table_bytes() const noexcept {
  const bool narrow = table_->index() == 0;
  return row_size_ * rows_ * (narrow ? sizeof(std::uint32_t) : sizeof(std::uint64_t));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
