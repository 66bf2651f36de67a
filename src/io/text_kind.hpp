#pragma once

#include <cstddef>
#include <span>

// Kinds of text, as far as a file's first bytes show them. All but `is_text` are asked of text.

namespace feedline::detail {

/// UTF-8 without control characters, of 24 bytes or more, so that numbers are not taken for it.
[[nodiscard]] bool is_text(std::span<const std::byte> head) noexcept;

/// A page of a web server, as a download saves it that was answered by a login or an error.
[[nodiscard]] bool is_html(std::span<const std::byte> head) noexcept;
/// An object or array.
[[nodiscard]] bool is_json(std::span<const std::byte> head) noexcept;
/// An object of JSON on each line.
[[nodiscard]] bool is_json_lines(std::span<const std::byte> head) noexcept;
/// COCO's annotations: an object with "images" and "annotations".
[[nodiscard]] bool is_coco(std::span<const std::byte> head) noexcept;
/// VOC's annotations of an image.
[[nodiscard]] bool is_voc(std::span<const std::byte> head) noexcept;
/// Lines "class x y width height" with fractions of the image's size.
[[nodiscard]] bool is_yolo(std::span<const std::byte> head) noexcept;
/// Two records or more with the same number of commas, tabs, semicolons or bars, aside from
/// those that are quoted.
[[nodiscard]] bool is_table(std::span<const std::byte> head) noexcept;

}  // namespace feedline::detail
