#pragma once

#include "formats/tar/scanner.hpp"
#include "io/byte_file.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// Members as numbers, to be kept. Also for tests.
[[nodiscard]] std::vector<std::uint64_t> numbers_of(const std::vector<tar_member>& members);
/// @param bytes Size of the file. @return Nothing: the numbers are not those of its members.
[[nodiscard]] std::optional<std::vector<tar_member>> members_of(
    std::span<const std::uint64_t> numbers, std::uint64_t bytes);

/// Members of a shard, from a walk that an earlier run kept. @return Nothing: none was kept of this
/// version of the file, by these rules.
[[nodiscard]] std::optional<std::vector<tar_member>> find_kept_members(const byte_file& of,
                                                                       tar_rules rules,
                                                                       const std::string& folder);
/// Keeps them for later runs. The log says if it cannot be done.
void keep_members(const byte_file& of, tar_rules rules, const std::string& folder,
                  const std::vector<tar_member>& members);

}  // namespace feedline::detail
