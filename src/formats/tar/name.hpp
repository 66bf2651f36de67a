#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace feedline::detail {

struct refused_name {
  std::string why;
};

/// What is asked of an archive: all that the format demands, or only what tar itself needs to read it.
enum class tar_rules { strict, lenient };

/// A member's name without "./" before it (lenient: without leading slashes either), or why it is refused. feedline writes no member anywhere; but names
/// become keys, and keys file names, in other programs' hands.
[[nodiscard]] std::variant<std::string, refused_name> checked_tar_name(std::string_view name,
                                                                       tar_rules rules);

/// A name as a message shows it: within quotes, the middle of a long one left out, no control characters.
[[nodiscard]] std::string quoted_tar_name(std::string_view name);

/// A member's place in a sample, in WebDataset's manner: "train/n01/007.seg.png" is the member "seg.png" of
/// the sample "train/n01/007". Views into the name.
struct tar_sample_name {
  std::string_view key;
  std::string_view extension;  ///< behind the first dot of the name's last part; not in lower case
};

/// Both empty if the name is of no sample: without a dot, hidden (".DS_Store"), or with a part "__so__".
[[nodiscard]] tar_sample_name split_tar_name(std::string_view name) noexcept;

}  // namespace feedline::detail
