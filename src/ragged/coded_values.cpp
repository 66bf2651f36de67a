#include "ragged/coded_values.hpp"

#include "dataset/sized_fields.hpp"
#include "io/file_magic.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// A larger value is decoded by readers: staging memory has room for the largest block.
constexpr std::uint64_t max_value_bytes = std::uint64_t{8} << 20;

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
    return {.bytes = std::max<std::size_t>(row_bytes_, stored_bytes_[block]), .format = format_};
  }
  std::size_t max_stored_bytes(std::size_t) const noexcept override {
    ask_for_sizes();
    return max_bytes_;
  }

  stored_block read(std::size_t, std::uint64_t block, std::span<std::byte> out,
                    const sample_context& context) const override {
    scratch memory;  // taken if needed: few values need it
    const auto room = [&](std::size_t bytes) {
      if (bytes <= out.size()) return out.first(bytes);
      memory = memory_.take();
      return room_in(*memory, bytes);
    };
    const std::size_t known = stored_bytes_[block];
    auto value = known == 0 || known > out.size() ? of_->read(block, room)
                                                  : of_->read_expected(block, out, known, room);
    const std::size_t row_bytes = sample_bytes(decoded_, context.size);
    try {
      if (value.data() == out.data()) {
        if (const auto stored = by_->for_device(value, context)) return *stored;
        memory = memory_.take();
        memory->assign(value.begin(), value.end());
        value = *memory;
      }
      by_->decode(value, decoded_, out.first(row_bytes), context);
    } catch (const dataset_error& fault) {
      of_->refuse(fault, block);
    }
    return {.bytes = row_bytes, .skipped = all_steps()};
  }

  void decode(std::size_t, std::span<const std::byte> bytes, const stored_block& stored,
              std::span<std::byte> out) const override {
    if (stored.skipped != all_steps()) return by_->decode_described(bytes, stored, decoded_, out);
    copy_block_rows(decoded_, bytes, out);
  }

  std::string left_to_readers(std::size_t, std::uint64_t block) const override {
    const auto memory = memory_.take();
    const auto value = of_->read(block, [&](std::size_t bytes) { return room_in(*memory, bytes); });
    if (value.size() > max_value_bytes)
      return "a file of more than " + std::to_string(max_value_bytes >> 20U) + " MiB";
    return by_->left_to_readers(value);
  }

 private:
  using scratch = scratch_pool<std::vector<std::byte>>::lease;

  /// Called once, and only if a device decodes: the system is asked about each file of a folder,
  /// and three files are read.
  void ask_for_sizes() const noexcept {
    std::call_once(asked_, [this] {
      max_bytes_ = row_bytes_;
      for (std::uint64_t value = 0; value < stored_bytes_.size(); ++value) {
        stored_bytes_[value] = size_of(value);
        max_bytes_ = std::max<std::size_t>(max_bytes_, stored_bytes_[value]);
      }
      const std::uint64_t values = stored_bytes_.size();
      if (values != 0 && is_png_at(0) && is_png_at(values / 2) && is_png_at(values - 1))
        format_ = image_format::png;
    });
  }
  [[nodiscard]] std::uint32_t size_of(std::uint64_t value) const noexcept try {
    const std::uint64_t bytes = of_->stored_bytes(value);
    return bytes > max_value_bytes ? 0 : static_cast<std::uint32_t>(bytes);
  } catch (...) {
    return 0;
  }

  [[nodiscard]] bool is_png_at(std::uint64_t value) const noexcept try {
    const auto memory = memory_.take();
    return is_png(of_->read(value, [&](std::size_t bytes) { return room_in(*memory, bytes); }));
  } catch (...) {
    return false;
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
  mutable image_format format_ = image_format::jpeg;  ///< format of three values
  mutable std::vector<std::uint32_t> stored_bytes_;   ///< 0: more than devices take, or unknown
  mutable scratch_pool<std::vector<std::byte>> memory_{
      [] { return std::make_unique<std::vector<std::byte>>(); }};
};

}  // namespace

std::shared_ptr<const encoded_blocks> make_value_blocks(coded_values_ptr of, decoder_ptr by,
                                                        field decoded) {
  if (by->steps().empty()) return nullptr;
  return std::make_shared<const value_blocks>(std::move(of), std::move(by), std::move(decoded));
}

}  // namespace feedline::detail
