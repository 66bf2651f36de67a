#include "dataset/composed_blocks.hpp"
#include "dataset/window_blocks.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

/// Arrays of several window_blocks: an array is a field, and a chunk a block.
class joined_chunks final : public encoded_blocks {
 public:
  explicit joined_chunks(std::vector<chosen_field> arrays) : arrays_{std::move(arrays)} {}

  std::uint64_t rows() const noexcept override { return 1; }
  std::span<const block_step> steps(std::size_t array) const noexcept override {
    return arrays_[array].blocks->steps(arrays_[array].field);
  }
  stored_block stored(std::size_t array, std::uint64_t chunk) const noexcept override {
    return arrays_[array].blocks->stored(arrays_[array].field, chunk);
  }
  std::size_t max_stored_bytes(std::size_t array) const noexcept override {
    return arrays_[array].blocks->max_stored_bytes(arrays_[array].field);
  }
  stored_block read(std::size_t array, std::uint64_t chunk, std::span<std::byte> out,
                    const sample_context& context) const override {
    return arrays_[array].blocks->read(arrays_[array].field, chunk, out, context);
  }
  void decode(std::size_t array, std::span<const std::byte> bytes, const stored_block& stored,
              std::span<std::byte> out) const override {
    arrays_[array].blocks->decode(arrays_[array].field, bytes, stored, out);
  }

 private:
  std::vector<chosen_field> arrays_;
};

class chosen_windows final : public window_blocks {
 public:
  explicit chosen_windows(const std::vector<chosen_field>& fields) {
    std::vector<chosen_field> of_arrays;
    std::vector<std::pair<const encoded_blocks*, std::uint32_t>> first_arrays;
    for (const chosen_field& each : fields) {
      source made{each.blocks, std::dynamic_pointer_cast<const window_blocks>(each.blocks),
                  each.field};
      if (made.windows && !made.windows->is_window(each.field)) made.windows = nullptr;
      if (made.windows) {
        const auto known = std::ranges::find(first_arrays, each.blocks.get(),
                                             &decltype(first_arrays)::value_type::first);
        if (known != first_arrays.end()) {
          made.first_array = known->second;
        } else {
          made.first_array = static_cast<std::uint32_t>(arrays_.size());
          first_arrays.emplace_back(each.blocks.get(), made.first_array);
          const auto own = made.windows->arrays();
          for (std::size_t i = 0; i < own.size(); ++i) {
            arrays_.push_back(own[i]);
            of_arrays.push_back({made.windows->chunks(), i});
          }
        }
      }
      fields_.push_back(std::move(made));
    }
    chunks_ = std::make_shared<const joined_chunks>(std::move(of_arrays));
  }

  std::span<const block_step> steps(std::size_t field) const noexcept override {
    return fields_[field].blocks->steps(fields_[field].field);
  }
  stored_block stored(std::size_t field, std::uint64_t block) const noexcept override {
    return fields_[field].blocks->stored(fields_[field].field, block);
  }
  std::size_t max_stored_bytes(std::size_t field) const noexcept override {
    return fields_[field].blocks->max_stored_bytes(fields_[field].field);
  }
  stored_block read(std::size_t field, std::uint64_t block, std::span<std::byte> out,
                    const sample_context& context) const override {
    return fields_[field].blocks->read(fields_[field].field, block, out, context);
  }
  void decode(std::size_t field, std::span<const std::byte> bytes, const stored_block& stored,
              std::span<std::byte> out) const override {
    fields_[field].blocks->decode(fields_[field].field, bytes, stored, out);
  }

  bool is_window(std::size_t field) const noexcept override {
    return fields_[field].windows != nullptr;
  }
  std::span<const array> arrays() const noexcept override { return arrays_; }
  std::shared_ptr<const encoded_blocks> chunks() const override { return chunks_; }
  std::uint64_t max_pieces(std::size_t field) const noexcept override {
    return fields_[field].windows->max_pieces(fields_[field].field);
  }
  void cut(std::size_t field, sample_index sample, const sample_context& context,
           recipe& out) const override {
    const source& from = fields_[field];
    from.windows->cut(from.field, sample, context, out);
    for (piece& each : out.pieces) each.box.field += from.first_array;
  }

 private:
  struct source {
    std::shared_ptr<const encoded_blocks> blocks;
    std::shared_ptr<const window_blocks> windows;  ///< null: the field is not cut out of chunks
    std::size_t field;
    std::uint32_t first_array = 0;  ///< number here of its first array
  };

  std::vector<source> fields_ = {};
  std::vector<array> arrays_ = {};
  std::shared_ptr<const encoded_blocks> chunks_;
};

class chosen_window_samples final : public window_blocks {
 public:
  chosen_window_samples(std::shared_ptr<const window_blocks> of,
                        std::function<std::uint64_t(std::uint64_t)> choose)
      : of_{std::move(of)}, choose_{std::move(choose)} {}

  std::span<const block_step> steps(std::size_t field) const noexcept override {
    return of_->steps(field);
  }
  stored_block stored(std::size_t field, std::uint64_t block) const noexcept override {
    return of_->stored(field, choose_(block));
  }
  std::size_t max_stored_bytes(std::size_t field) const noexcept override {
    return of_->max_stored_bytes(field);
  }
  stored_block read(std::size_t field, std::uint64_t block, std::span<std::byte> out,
                    const sample_context& context) const override {
    return of_->read(field, choose_(block), out, context);
  }
  void decode(std::size_t field, std::span<const std::byte> bytes, const stored_block& stored,
              std::span<std::byte> out) const override {
    of_->decode(field, bytes, stored, out);
  }

  bool is_window(std::size_t field) const noexcept override { return of_->is_window(field); }
  std::span<const array> arrays() const noexcept override { return of_->arrays(); }
  std::shared_ptr<const encoded_blocks> chunks() const override { return of_->chunks(); }
  std::uint64_t max_pieces(std::size_t field) const noexcept override {
    return of_->max_pieces(field);
  }
  void cut(std::size_t field, sample_index sample, const sample_context& context,
           recipe& out) const override {
    of_->cut(field, sample_index{choose_(sample.value)}, context, out);
  }

 private:
  std::shared_ptr<const window_blocks> of_;
  std::function<std::uint64_t(std::uint64_t)> choose_;
};

}  // namespace

std::shared_ptr<const encoded_blocks> make_chosen_windows(const std::vector<chosen_field>& fields) {
  const bool any = std::ranges::any_of(fields, [](const chosen_field& each) {
    const auto* const windows = dynamic_cast<const window_blocks*>(each.blocks.get());
    return windows != nullptr && windows->is_window(each.field);
  });
  if (!any) return nullptr;
  return std::make_shared<const chosen_windows>(fields);
}

std::shared_ptr<const encoded_blocks> make_chosen_window_samples(
    std::shared_ptr<const window_blocks> of, std::function<std::uint64_t(std::uint64_t)> choose) {
  return std::make_shared<const chosen_window_samples>(std::move(of), std::move(choose));
}

}  // namespace feedline::detail
