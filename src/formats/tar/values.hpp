#pragma once

#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>

#include "dataset/coded_values.hpp"
#include "formats/tar/shards.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace feedline::detail {

/// A field's decoder, and the field that it makes.
struct tar_column {
  field spec;
  decoder_ptr decoder;
  std::size_t row_bytes = 0;
  std::size_t place = 0;  ///< index of its member among those that the shards were indexed for
};

/// Throws the error of a decoder again with the member's location, or an error that the shard has
/// changed.
[[noreturn]] void refuse_member(const dataset_error& fault, const tar_shards& shards,
                                const tar_sample& sample, const tar_column& column,
                                std::uint64_t index);

/// The members of one field.
[[nodiscard]] coded_values_ptr make_tar_values(std::shared_ptr<const tar_shards> shards,
                                               tar_column column);

}  // namespace feedline::detail
