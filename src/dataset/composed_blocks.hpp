#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/encoded_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

// The blocks of datasets that are made of others. Null where theirs do not make such.

namespace feedline::detail {

class window_blocks;

/// Whether a field is encoded: else the blocks are rows as they are.
[[nodiscard]] bool has_steps(const encoded_blocks& blocks, std::size_t fields);
/// Whether a block of some field has this step.
[[nodiscard]] bool has_step(const encoded_blocks& blocks, std::size_t fields, block_filter filter);

/// The fields of all parts. What is stored in no blocks is read as rows.
/// @param parts All of equal size. Null: no part has blocks, those that are encoded differ in rows,
///              or samples vary by epoch.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_joined_blocks(
    const std::vector<std::shared_ptr<const dataset>>& parts);

/// Some of the fields. Null: none of them is encoded.
/// @param of May be null. @param places Indices of the fields, in the order wanted.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_chosen_blocks(
    std::shared_ptr<const encoded_blocks> of, std::vector<std::size_t> places);

/// Some of the samples. Null: a block has several.
/// @param of May be null. @param choose Maps a sample to one of `of`; does not throw.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_chosen_samples(
    std::shared_ptr<const encoded_blocks> of, std::function<std::uint64_t(std::uint64_t)> choose);

/// The samples of several parts, one part after another. Null: some part is null, a block has
/// several samples, or parts are not encoded in the same way.
/// @param ends End of each part, rising.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_blocks_in_line(
    std::vector<std::shared_ptr<const encoded_blocks>> parts, std::vector<std::uint64_t> ends,
    std::size_t fields);

/// A field of other blocks.
struct chosen_field {
  std::shared_ptr<const encoded_blocks> blocks;
  std::size_t field;
};

/// Fields of which some are cut out of chunks; arrays of the same blocks come once.
/// @param fields Their blocks have one row each. Null: none is cut out of chunks.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_chosen_windows(
    const std::vector<chosen_field>& fields);

/// Some of the samples. @param choose Maps a sample to one of `of`; does not throw.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_chosen_window_samples(
    std::shared_ptr<const window_blocks> of, std::function<std::uint64_t(std::uint64_t)> choose);

/// Blocks that other objects hold: for each field and block, tells which object, field and block it
/// is.
/// @tparam Interface `encoded_blocks`, or a class that is derived from it.
template <typename Interface>
class borrowed_blocks : public Interface {
 public:
  using stored_block = encoded_blocks::stored_block;

  std::uint64_t rows() const noexcept final { return source_of(0).blocks->rows(); }
  std::span<const block_step> steps(std::size_t field) const noexcept final {
    const source from = source_of(field);
    return from.blocks->steps(from.field);
  }
  std::size_t max_stored_bytes(std::size_t field) const noexcept override {
    const source from = source_of(field);
    return from.blocks->max_stored_bytes(from.field);
  }
  stored_block stored(std::size_t field, std::uint64_t block) const noexcept final {
    const source from = find(field, block);
    return from.blocks->stored(from.field, from.block);
  }
  stored_block read(std::size_t field, std::uint64_t block, std::span<std::byte> out,
                    const sample_context& context) const final {
    const source from = find(field, block);
    return from.blocks->read(from.field, from.block, out, context);
  }
  void decode(std::size_t field, std::span<const std::byte> bytes, const stored_block& stored,
              std::span<std::byte> out) const final {
    const source from = source_of(field);
    from.blocks->decode(from.field, bytes, stored, out);
  }
  std::string left_to_readers(std::size_t field, std::uint64_t block) const final {
    const source from = find(field, block);
    return from.blocks->left_to_readers(from.field, from.block);
  }

 protected:
  struct source {
    const encoded_blocks* blocks;
    std::size_t field;
    std::uint64_t block = 0;
  };

 private:
  /// The source of any block of the field: all of them are encoded in the same way.
  [[nodiscard]] virtual source source_of(std::size_t field) const noexcept = 0;
  [[nodiscard]] virtual source find(std::size_t field, std::uint64_t block) const noexcept {
    source from = source_of(field);
    from.block = block;
    return from;
  }
};

/// Fields of several blocks, side by side.
template <typename Interface>
class chosen_blocks : public borrowed_blocks<Interface> {
 public:
  explicit chosen_blocks(std::vector<chosen_field> fields) : fields_{std::move(fields)} {}

 protected:
  [[nodiscard]] const chosen_field& chosen(std::size_t field) const noexcept {
    return fields_[field];
  }

 private:
  using source = typename borrowed_blocks<Interface>::source;

  source source_of(std::size_t field) const noexcept final {
    return {fields_[field].blocks.get(), fields_[field].field};
  }

  std::vector<chosen_field> fields_;
};

/// Some of the samples of blocks that have one sample each.
template <typename Interface>
class chosen_samples : public borrowed_blocks<Interface> {
 public:
  /// @param choose Maps a sample to one of `of`; does not throw.
  chosen_samples(std::shared_ptr<const Interface> of,
                 std::function<std::uint64_t(std::uint64_t)> choose)
      : of_{std::move(of)}, choose_{std::move(choose)} {}

 protected:
  [[nodiscard]] const Interface& of() const noexcept { return *of_; }
  [[nodiscard]] std::uint64_t choose(std::uint64_t sample) const noexcept {
    return choose_(sample);
  }

 private:
  using source = typename borrowed_blocks<Interface>::source;

  source source_of(std::size_t field) const noexcept final { return {of_.get(), field}; }
  source find(std::size_t field, std::uint64_t block) const noexcept final {
    return {of_.get(), field, choose_(block)};
  }

  std::shared_ptr<const Interface> of_;
  std::function<std::uint64_t(std::uint64_t)> choose_;
};

}  // namespace feedline::detail
