#include "support/datasets/encoded_dataset.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace feedline::test {
namespace {

constexpr std::uint64_t every_so_many = 5;  ///< block skips the encoding

/// The form: the block's number, some filling, and the rows' bytes, each changed.
class blocks final : public encoded_blocks {
 public:
  blocks(dataset_ptr of, std::uint64_t rows, std::shared_ptr<encoded_script> script)
      : of_{std::move(of)}, samples_{of_->size()}, rows_{rows}, script_{std::move(script)} {
    for (const field& field : of_->fields()) row_bytes_.push_back(sample_bytes(field));
    steps_.push_back({.filter = script_->filter});
  }

  std::uint64_t rows() const noexcept override { return rows_; }
  std::span<const block_step> steps(std::size_t field) const noexcept override {
    if (row_bytes_.size() > 1 && field + 1 == row_bytes_.size()) return {};
    return steps_;
  }
  stored_block stored(std::size_t field, std::uint64_t block) const noexcept override {
    const std::size_t bytes = rows_ * row_bytes_[field];
    if (steps(field).empty()) return {bytes, 0};
    if (block % every_so_many == 3)
      return {.bytes = bytes, .skipped = 1, .format = script_->format};
    return {.bytes = 8 + filling(block) + bytes, .format = script_->format};
  }
  std::size_t max_stored_bytes(std::size_t field) const noexcept override {
    return rows_ * row_bytes_[field] + 8 + filling(5);  // the most
  }

  stored_block read(std::size_t field, std::uint64_t block, std::span<std::byte> out,
                    const sample_context&) const override {
    script_->block_reads.fetch_add(1);
    if (script_->unreadable.contains(block))
      throw dataset_error{{.path = {}, .field = {}, .sample = block * rows_, .offset = {}},
                          "the disk is gone"};
    const stored_block as = stored(field, block);
    if (out.size() != as.bytes) throw std::logic_error{"a block was read to a place of other size"};
    const std::size_t bytes = rows_ * row_bytes_[field];
    const auto rows = out.last(bytes);
    read_rows(field, block, rows);
    if (as.bytes == bytes) return as;
    std::memcpy(out.data(), &block, sizeof block);
    std::fill_n(out.data() + 8, filling(block), std::byte{0xEE});
    for (std::byte& each : rows) each ^= key(block, field);
    if (script_->damaged.contains(block)) out[0] ^= std::byte{0xFF};
    return as;
  }
  void decode(std::size_t field, std::span<const std::byte> stored, const stored_block& as,
              std::span<std::byte> out) const override {
    if (out.size() != rows_ * row_bytes_[field]) throw std::logic_error{"a block of other size"};
    if (steps(field).empty() || as.skipped != 0) {
      if (stored.size() != out.size()) throw std::runtime_error{"of another length"};
      std::copy(stored.begin(), stored.end(), out.begin());
      return;
    }
    std::uint64_t block = 0;
    if (stored.size() < 8) throw std::runtime_error{"too short"};
    std::memcpy(&block, stored.data(), sizeof block);
    if (block > samples_ || stored.size() != 8 + filling(block) + out.size())
      throw std::runtime_error{"no block's form"};
    const auto rows = stored.last(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = rows[i] ^ key(block, field);
  }

 private:
  static std::size_t filling(std::uint64_t block) noexcept { return block * 3 % 16; }
  static std::byte key(std::uint64_t block, std::size_t field) noexcept {
    return static_cast<std::byte>(block * 31 + field + 1);
  }
  void read_rows(std::size_t wanted, std::uint64_t block, std::span<std::byte> out) const {
    const std::uint64_t first = block * rows_;
    std::vector<sample_index> samples;
    for (std::uint64_t at = first; at < std::min(first + rows_, samples_); ++at)
      samples.push_back(sample_index{at});
    std::vector<std::vector<std::byte>> all;
    std::vector<std::span<std::byte>> spans;
    for (const std::size_t bytes : row_bytes_) all.emplace_back(samples.size() * bytes);
    for (auto& each : all) spans.emplace_back(each);
    of_->read(samples, spans);
    std::copy(all[wanted].begin(), all[wanted].end(), out.begin());
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(all[wanted].size()), out.end(),
              std::byte{0xAA});
  }

  dataset_ptr of_;
  std::uint64_t samples_;
  std::uint64_t rows_;
  std::shared_ptr<encoded_script> script_;
  std::vector<std::size_t> row_bytes_;
  std::vector<block_step> steps_;
};

class encoded_dataset final : public dataset {
 public:
  encoded_dataset(dataset_ptr of, std::uint64_t rows, std::shared_ptr<encoded_script> script)
      : of_{of},
        rows_{rows},
        script_{script},
        blocks_{std::make_shared<blocks>(of, rows, script)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return of_->fields(); }
  chunking chunks() const override {
    std::size_t bytes = 0;
    for (const field& field : of_->fields()) bytes += rows_ * sample_bytes(field);
    return {.samples = rows_, .bytes = bytes, .kept = 1'000'000};
  }
  std::shared_ptr<const encoded_blocks> encoded() const override { return blocks_; }
  void do_read(const read_request& request) const override {
    script_->sample_reads.fetch_add(request.samples.size());
    for (const sample_index sample : request.samples) {
      if (script_->samples_are_whole) break;
      const std::uint64_t block = sample.value / rows_;
      const bool skips = blocks_->stored(0, block).skipped != 0;
      const bool lost = script_->unreadable.contains(block);
      if (lost || (script_->damaged.contains(block) && !skips))
        throw dataset_error{
            {.path = {}, .field = {}, .sample = block * rows_, .offset = {}},
            lost ? "the disk is gone" : "block " + std::to_string(block) + " is damaged"};
    }
    of_->read(request);
  }

 private:
  dataset_ptr of_;
  std::uint64_t rows_;
  std::shared_ptr<encoded_script> script_;
  std::shared_ptr<const blocks> blocks_;
};

}  // namespace

dataset_ptr make_encoded(dataset_ptr of, std::uint64_t rows,
                         std::shared_ptr<encoded_script> script) {
  return std::make_shared<const encoded_dataset>(std::move(of), rows, std::move(script));
}

}  // namespace feedline::test
