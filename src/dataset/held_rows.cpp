#include "dataset/held_rows.hpp"

#include <feedline/error.hpp>

#include "rows/gather.hpp"

#include <string>

namespace feedline::detail {

held_rows::held_rows(const dataset& dataset) {
  if (dataset.varies_by_epoch()) return;
  fields_ = dataset.rows();
  if (fields_.empty()) return;
  const std::vector<field> fields = dataset.fields();
  if (fields_.size() != fields.size()) {
    throw usage_error{"the dataset's rows() has " + std::to_string(fields_.size()) +
                      " spans, but fields() has " + std::to_string(fields.size()) +
                      ": it must have one for each field"};
  }
  for (std::size_t place = 0; place < fields.size(); ++place) {
    row_bytes_.push_back(sample_bytes(fields[place]));
    const std::size_t wanted = dataset.size() * row_bytes_[place];
    if (fields_[place].size() == wanted) continue;
    throw usage_error{"the dataset's rows() has " + std::to_string(fields_[place].size()) +
                      " bytes for " + to_string(fields[place]) + ", but its " +
                      std::to_string(dataset.size()) + " samples take " + std::to_string(wanted)};
  }
}

void held_rows::copy(std::size_t field, std::span<const sample_index> samples, std::byte* out,
                     std::uint64_t batch_size, std::size_t batch_bytes,
                     std::uint64_t begin) const noexcept {
  gather_into_batches(fields_[field].data(), row_bytes_[field], samples,
                      {out, batch_size, batch_bytes}, begin);
}

}  // namespace feedline::detail
