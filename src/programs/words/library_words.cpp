#include "programs/words/library_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <string>

namespace programs {
namespace {

/// The library's name of an option, and each program's name for it, empty if it has none.
struct option_names {
  std::string_view library;
  std::string_view convert;
  std::string_view doctor;
};

constexpr std::array options{
    option_names{"open_options::fields", "--fields", "--fields"},
    option_names{"open_options::like", "--like", ""},
    option_names{"open_options::tokens_per_sample", "--tokens-per-sample", "--tokens-per-sample"},
    option_names{"image_options::height", "--height", "--resize"},
    option_names{"image_options::width", "--width", "--resize"},
    option_names{"image_options::shorter_side", "--shorter-side", "--shorter-side"},
    option_names{"image_options::resized_crop", "", "--resized-crop"},
    option_names{"image_options::interpolation", "--interpolation", "--interpolation"},
    option_names{"image_options::follow_orientation", "--follow-orientation",
                 "--follow-orientation"},
    option_names{"image_options::max_pixels", "--max-pixels", ""},
    option_names{"image_folder_options::label_type", "--label-type", ""},
    option_names{"open_options::label_type", "--label-type", ""},
    option_names{"open_options::external", "--external", "--external"},
    option_names{"hdf5_options::external", "--external", "--external"},
    option_names{"pad_options::length", "", "--pad"},
    option_names{"hdf5_options::max_resident_bytes", "", "--read-whole"},
    option_names{"loader_options::batch_size", "", "--batch-size"},
    option_names{"loader_options::readers", "--readers", "--readers"},
    option_names{"automatic_readers", "-1", "-1"},
};

/// Types whose members and values the library's messages name, besides those that end in _options.
constexpr std::array<std::string_view, 14> types{
    "decode_on",     "element_type", "error_action",  "external_files",   "image_layout",
    "interpolation", "loader",       "loader_state",  "pad_longer",       "pack_longer",
    "partial_batch", "placement",    "tuning_budget", "value_conventions"};

constexpr std::array<std::string_view, 17> functions{
    "make_windows",  "open_hdf5_array",   "open_zarr_array", "load_into_memory", "map_files",
    "open_cifar10",  "open_cifar100",     "open_hdf5",       "open_hdf5_ragged", "open_idx",
    "open_idx_file", "open_image_folder", "open_npy",        "open_npz",         "open_records",
    "open_tar",      "open_tokens"};

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// The end of what could be a name of the library's: words joined by "::" and ".".
std::size_t end_of_name(std::string_view text, std::size_t at) {
  const auto word_at = [&](std::size_t i) { return i < text.size() && is_word(text[i]); };
  while (word_at(at)) {
    ++at;
    if (text.substr(at).starts_with("::") && word_at(at + 2)) at += 2;
    if (text.substr(at).starts_with('.') && word_at(at + 1)) ++at;
  }
  return at;
}

/// Whether the letters around a name can be those of a path or of a name in quotes.
bool is_part_of_path(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::string_view joints = "/-.'\"";
  const bool before = begin > 0 && joints.find(text[begin - 1]) != std::string_view::npos;
  const bool after = end < text.size() && (text[end] == '/' || text[end] == '-' ||
                                           text[end] == '\'' || text[end] == '"');
  return before || after;
}

/// A message's recommendation to shuffle within windows of chunks, as each program's option.
std::string with_windows_of(program speaker, std::string_view message) {
  static const std::regex windows{R"((shuffle\{\.within = chunks\((\d+)\)\}|\bchunks\((\d+)\)))"};
  return std::regex_replace(
      std::string{message}, windows,
      speaker == program::convert ? "--within-chunks $2$3" : "--order windows");
}

std::string said(program speaker, std::string_view name) {
  for (const option_names& each : options) {
    const std::string_view own = speaker == program::convert ? each.convert : each.doctor;
    if (name == each.library && !own.empty()) return std::string{own};
  }
  const auto colons = name.find("::");
  if (colons == std::string_view::npos) {
    const bool is_function = std::ranges::count(functions, name) != 0;
    return is_function ? "the library's " + std::string{name} : std::string{name};
  }
  const std::string type{name.substr(0, colons)};
  const std::string member{name.substr(colons + 2)};
  if (type.ends_with("_options"))
    return member + " (of the library's " + type + "; " + std::string{name_of(speaker)} +
           " has no option for it)";
  const bool is_known = std::ranges::count(types, std::string_view{type}) != 0;
  return is_known ? member + " (of the library's " + type + ")" : std::string{name};
}

}  // namespace

std::string_view name_of(program speaker) noexcept {
  return speaker == program::convert ? "feedline-convert" : "feedline-doctor";
}

std::string in_words_of(program speaker, std::string_view message) {
  const std::string from = with_windows_of(speaker, message);
  std::string text;
  for (std::size_t at = 0; at < from.size();) {
    const std::size_t end = end_of_name(from, at);
    if (end == at) {
      text += from[at++];
      continue;
    }
    const std::string name = from.substr(at, end - at);
    // A message begins with a path or the name of the function that reports it, then a colon.
    const bool is_prefix = from.compare(end, 2, ": ") == 0 && at == 0;
    if (is_prefix || is_part_of_path(from, at, end)) {
      text += name;
    } else {
      text += said(speaker, name);
    }
    at = end;
  }
  return text;
}

}  // namespace programs
