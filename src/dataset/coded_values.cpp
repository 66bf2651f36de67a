#include "dataset/coded_values.hpp"

#include "detail/sample_range.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// A larger value is decoded by readers: staging memory has room for the largest block.
constexpr std::uint64_t max_value_bytes = std::uint64_t{4} << 20;

/// Memory for values, of which each thread takes one. It grows to the largest value, and stays.
class value_memory {
 public:
  using lease = scratch_pool<std::vector<std::byte>>::lease;

  [[nodiscard]] lease take() const { return pool_.take(); }

  static std::span<std::byte> room(std::vector<std::byte>& memory, std::size_t bytes) {
    if (memory.size() < bytes) memory.resize(bytes);
    return std::span{memory}.first(bytes);
  }

 private:
  mutable scratch_pool<std::vector<std::byte>> pool_{
      [] { return std::make_unique<std::vector<std::byte>>(); }};
};

class value_blocks final : public encoded_blocks {
 public:
  value_blocks(coded_values_ptr of, decoder_ptr by, field decoded)
      : of_{std::move(of)},
        by_{std::move(by)},
        decoded_{std::move(decoded)},
        row_bytes_{sample_bytes(decoded_)},
        stored_bytes_(of_->size()) {}

  std::uint64_t rows() const noexcept override { return 1; }
  std::span<const block_step> steps(std::size_t) const noexcept override { return by_->steps(); }
  /// It may become a row.
  stored_block stored(std::size_t, std::uint64_t block) const noexcept override {
    ask_for_sizes();
    return {.bytes = std::max<std::size_t>(row_bytes_, stored_bytes_[block])};
  }
  std::size_t max_stored_bytes(std::size_t) const noexcept override {
    ask_for_sizes();
    return max_bytes_;
  }

  stored_block read(std::size_t, std::uint64_t block, std::span<std::byte> out) const override {
    const auto memory = memory_.take();
    auto value = of_->read(block, [&](std::size_t bytes) {
      return bytes <= out.size() ? out.first(bytes) : value_memory::room(*memory, bytes);
    });
    try {
      if (value.data() == out.data()) {
        if (const auto stored = by_->for_device(value)) return *stored;
        memory->assign(value.begin(), value.end());
        value = *memory;
      }
      by_->decode(value, decoded_, out.first(row_bytes_), {});
    } catch (const dataset_error& fault) {
      of_->refuse(fault, block);
    }
    return {.bytes = row_bytes_, .skipped = all_steps()};
  }

  void decode(std::size_t, std::span<const std::byte> stored, std::uint32_t skipped,
              std::span<std::byte> out) const override {
    if (skipped != all_steps()) return by_->decode(stored, decoded_, out, {});
    if (stored.size() != out.size())
      throw dataset_error{{.path = {}, .field = decoded_.name},
                          "a decoded value has " + std::to_string(stored.size()) +
                              " bytes, but is of " + std::to_string(out.size())};
    std::memcpy(out.data(), stored.data(), out.size());
  }

 private:
  /// Called once, and only if a device decodes: the system is asked about each file of a folder.
  void ask_for_sizes() const noexcept {
    std::call_once(asked_, [this] {
      max_bytes_ = row_bytes_;
      for (std::uint64_t value = 0; value < stored_bytes_.size(); ++value) {
        stored_bytes_[value] = size_of(value);
        max_bytes_ = std::max<std::size_t>(max_bytes_, stored_bytes_[value]);
      }
    });
  }
  [[nodiscard]] std::uint32_t size_of(std::uint64_t value) const noexcept try {
    const std::uint64_t bytes = of_->stored_bytes(value);
    return bytes > max_value_bytes ? 0 : static_cast<std::uint32_t>(bytes);
  } catch (...) {
    return 0;
  }

  [[nodiscard]] std::uint32_t all_steps() const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{1} << by_->steps().size()) - 1);
  }

  coded_values_ptr of_;
  decoder_ptr by_;
  field decoded_;
  std::size_t row_bytes_;
  mutable std::once_flag asked_;
  mutable std::size_t max_bytes_ = 0;
  mutable std::vector<std::uint32_t> stored_bytes_;  ///< 0: more than devices take, or unknown
  value_memory memory_;
};

class decoded_dataset final : public dataset {
 public:
  decoded_dataset(coded_values_ptr of, decoder_ptr by, field decoded)
      : of_{std::move(of)},
        by_{std::move(by)},
        decoded_{std::move(decoded)},
        row_bytes_{sample_bytes(decoded_)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return {decoded_}; }
  bool varies_by_epoch() const override { return by_->varies_by_epoch(); }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }

  std::shared_ptr<const encoded_blocks> encoded() const override {
    std::call_once(blocks_made_, [this] { blocks_ = make_value_blocks(of_, by_, decoded_); });
    return blocks_;
  }

 private:
  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size());
    assert(request.out[0].size() == request.samples.size() * row_bytes_);
    const auto memory = memory_.take();
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const auto value = of_->read(request.samples[i].value, [&](std::size_t bytes) {
        return value_memory::room(*memory, bytes);
      });
      try {
        by_->decode(value, decoded_, request.out[0].subspan(i * row_bytes_, row_bytes_),
                    request.context[i]);
      } catch (const dataset_error& fault) {
        of_->refuse(fault, request.samples[i].value);
      }
    }
  }

  coded_values_ptr of_;
  decoder_ptr by_;
  field decoded_;
  std::size_t row_bytes_;
  value_memory memory_;
  mutable std::once_flag blocks_made_;
  mutable std::shared_ptr<const encoded_blocks> blocks_;
};

}  // namespace

dataset_ptr make_decoded_dataset(coded_values_ptr of, decoder_ptr by, field decoded) {
  return std::make_shared<const decoded_dataset>(std::move(of), std::move(by), std::move(decoded));
}

std::shared_ptr<const encoded_blocks> make_value_blocks(coded_values_ptr of, decoder_ptr by,
                                                        field decoded) {
  if (by->steps().empty() || by->varies_by_epoch()) return nullptr;
  return std::make_shared<const value_blocks>(std::move(of), std::move(by), std::move(decoded));
}

}  // namespace feedline::detail
