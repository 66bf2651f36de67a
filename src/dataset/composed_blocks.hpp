#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/encoded_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

// The blocks of datasets that are made of others. Null where theirs do not make such.

namespace feedline::detail {

class window_blocks;

/// Whether a field is encoded: else the blocks are rows as they are.
[[nodiscard]] bool has_steps(const encoded_blocks& blocks, std::size_t fields);

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

}  // namespace feedline::detail
