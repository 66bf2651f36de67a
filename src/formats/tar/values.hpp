#pragma once

#include <feedline/error.hpp>

#include "formats/tar/shards.hpp"
#include "ragged/coded_values.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace feedline::detail {

/// The members of one `tar_field`.
struct tar_members {
  std::string name;       ///< the `tar_field`'s name
  std::size_t place = 0;  ///< index among those that the shards were indexed for
};

/// Throws the error of a decoder again with the member's location, or an error that the shard has
/// changed.
[[noreturn]] void refuse_member(const dataset_error& fault, const tar_shards& shards,
                                const tar_sample& sample, const tar_members& members,
                                std::uint64_t index);

[[nodiscard]] coded_values_ptr make_tar_values(std::shared_ptr<const tar_shards> shards,
                                               tar_members members);

}  // namespace feedline::detail
