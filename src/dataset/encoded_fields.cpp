#include "dataset/encoded_fields.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

class encoded_fields final : public encoded_blocks {
 public:
  /// @param fields Those with `encoded` have blocks of this many rows. @param rows Rows of a block.
  encoded_fields(std::vector<rows_field> fields, std::uint64_t rows)
      : fields_{std::move(fields)}, rows_{rows} {}

  std::uint64_t rows() const noexcept override { return rows_; }
  std::span<const block_step> steps(std::size_t field) const noexcept override {
    const rows_field& one = fields_[field];
    return one.encoded ? one.encoded->steps() : std::span<const block_step>{};
  }
  stored_block stored(std::size_t field, std::uint64_t block) const noexcept override {
    const rows_field& one = fields_[field];
    return one.encoded ? one.encoded->stored(block) : stored_block{.bytes = block_bytes(one)};
  }
  std::size_t max_stored_bytes(std::size_t field) const noexcept override {
    const rows_field& one = fields_[field];
    return one.encoded ? one.encoded->max_stored_bytes() : block_bytes(one);
  }

  stored_block read(std::size_t field, std::uint64_t block, std::span<std::byte> out,
                    const sample_context&) const override {
    const rows_field& one = fields_[field];
    if (one.encoded)
      one.encoded->read(block, out);
    else
      read_rows(*one.rows, block * rows_, out);
    return stored(field, block);
  }

  void decode(std::size_t field, std::span<const std::byte> bytes, const stored_block& stored,
              std::span<std::byte> out) const override {
    const rows_field& one = fields_[field];
    if (one.encoded) return one.encoded->decode(bytes, stored.skipped, out);
    if (bytes.size() != out.size())
      throw dataset_error{{.path = {}, .field = one.spec.name},
                          "a block of rows has " + std::to_string(bytes.size()) +
                              " bytes, but should have " + std::to_string(out.size())};
    std::memcpy(out.data(), bytes.data(), out.size());
  }

 private:
  [[nodiscard]] std::size_t block_bytes(const rows_field& one) const noexcept {
    return static_cast<std::size_t>(rows_) * one.rows->row_bytes();
  }

  void read_rows(const field_rows& rows, std::uint64_t first, std::span<std::byte> out) const {
    std::vector<sample_index> samples(
        static_cast<std::size_t>(std::min(rows_, rows.size() - first)));
    for (sample_index& sample : samples) sample.value = first++;
    rows.read(samples, out.data());
    std::ranges::fill(out.subspan(samples.size() * rows.row_bytes()), std::byte{0});
    if (const byte_file_ptr& file = rows.extent().file) file->require_unchanged();
  }

  const std::vector<rows_field> fields_;
  const std::uint64_t rows_;
};

}  // namespace

std::shared_ptr<const encoded_blocks> make_encoded_fields(std::vector<rows_field> fields) {
  std::uint64_t rows = 0;
  std::uint64_t max_bytes = 0;
  for (const rows_field& one : fields) {
    if (!one.encoded) continue;
    const std::uint64_t bytes = one.encoded->rows_per_block() * one.rows->row_bytes();
    if (bytes <= max_bytes) continue;
    max_bytes = bytes;
    rows = one.encoded->rows_per_block();
  }
  if (rows == 0) return nullptr;
  for (rows_field& one : fields) {
    if (one.encoded && one.encoded->rows_per_block() != rows) one.encoded = nullptr;
    const auto bytes = checked_multiply<std::uint64_t>(rows, one.rows->row_bytes());
    if (!bytes || *bytes > std::numeric_limits<std::uint32_t>::max()) return nullptr;
  }
  return std::make_shared<const encoded_fields>(std::move(fields), rows);
}

}  // namespace feedline::detail
