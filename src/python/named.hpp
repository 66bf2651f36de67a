// Over 250 lines: the same few lines for the values of each enumeration.

#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/image_layout.hpp>
#include <feedline/dataset/interpolation.hpp>
#include <feedline/dataset/read_concurrency.hpp>
#include <feedline/error.hpp>
#include <feedline/error_policy.hpp>
#include <feedline/formats/tokens.hpp>
#include <feedline/image/annotations.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/io/external_files.hpp>
#include <feedline/loader/decode_on.hpp>
#include <feedline/loader/on_held.hpp>
#include <feedline/loader/placement.hpp>
#include <feedline/packing/pack_together.hpp>
#include <feedline/ragged/pack.hpp>
#include <feedline/ragged/pad.hpp>
#include <feedline/sampler/partial_batch.hpp>
#include <feedline/sampler/scheduled_mixture.hpp>
#include <feedline/sampler/take.hpp>
#include <feedline/transform/augmentation.hpp>
#include <feedline/transform/mixing.hpp>

#include <bit>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace feedline::python {

namespace nb = nanobind;

/// An enumeration's name in Python, the names of its values, and its text for stubs.
template <class Enum>
struct names;
template <class Enum>
struct named_value {
  std::string_view name;
  Enum value;
};

template <>
struct names<feedline::placement> {
  static constexpr std::string_view what = "placement";
  static constexpr named_value<feedline::placement> all[] = {{"automatic", placement::automatic},
                                                             {"stream", placement::stream},
                                                             {"gather", placement::gather},
                                                             {"resident", placement::resident},
                                                             {"cached", placement::cached}};
};
template <>
struct names<feedline::decode_on> {
  static constexpr std::string_view what = "decode_on";
  static constexpr named_value<feedline::decode_on> all[] = {
      {"cpu", decode_on::cpu}, {"device", decode_on::device}, {"automatic", decode_on::automatic}};
};
template <>
struct names<feedline::on_held> {
  static constexpr std::string_view what = "on_held";
  static constexpr named_value<feedline::on_held> all[] = {{"error", on_held::error},
                                                           {"allocate", on_held::allocate}};
};
template <>
struct names<feedline::partial_batch> {
  static constexpr std::string_view what = "partial_batch";
  static constexpr named_value<feedline::partial_batch> all[] = {{"keep", partial_batch::keep},
                                                                 {"drop", partial_batch::drop},
                                                                 {"error", partial_batch::error},
                                                                 {"fill", partial_batch::fill}};
};
template <>
struct names<mixing_draws> {
  static constexpr std::string_view what = "kind of draws";
  static constexpr named_value<mixing_draws> all[] = {{"batch", mixing_draws::batch},
                                                      {"pair", mixing_draws::pair},
                                                      {"sample", mixing_draws::sample}};
};
template <>
struct names<error_action> {
  static constexpr std::string_view what = "action of an error policy";
  static constexpr named_value<error_action> all[] = {{"fail", error_action::fail},
                                                      {"skip", error_action::skip},
                                                      {"substitute", error_action::substitute}};
};
template <>
struct names<feedline::image_fit> {
  static constexpr std::string_view what = "fit";
  static constexpr named_value<feedline::image_fit> all[] = {{"stretch", image_fit::stretch},
                                                             {"letterbox", image_fit::letterbox},
                                                             {"pad", image_fit::pad}};
};

template <>
struct names<feedline::larger_image> {
  static constexpr std::string_view what = "larger";
  static constexpr named_value<feedline::larger_image> all[] = {{"shrink", larger_image::shrink},
                                                                {"error", larger_image::error}};
};

template <>
struct names<feedline::interpolation> {
  static constexpr std::string_view what = "interpolation";
  static constexpr named_value<feedline::interpolation> all[] = {
      {"bilinear", interpolation::bilinear},
      {"bicubic", interpolation::bicubic},
      {"nearest", interpolation::nearest}};
};
template <>
struct names<image_layout> {
  static constexpr std::string_view what = "layout of images";
  static constexpr named_value<image_layout> all[] = {{"hwc", image_layout::hwc},
                                                      {"chw", image_layout::chw}};
};
template <>
struct names<auto_augment_policy> {
  static constexpr std::string_view what = "policy of AutoAugment";
  static constexpr named_value<auto_augment_policy> all[] = {
      {"imagenet", auto_augment_policy::imagenet},
      {"cifar10", auto_augment_policy::cifar10},
      {"svhn", auto_augment_policy::svhn}};
};
template <>
struct names<read_concurrency> {
  static constexpr std::string_view what = "concurrency";
  static constexpr named_value<read_concurrency> all[] = {
      {"parallel", read_concurrency::parallel}, {"serialized", read_concurrency::serialized}};
};
template <>
struct names<take_from> {
  static constexpr std::string_view what = "begin of an epoch";
  static constexpr named_value<take_from> all[] = {{"last_end", take_from::last_end},
                                                   {"epoch_begin", take_from::epoch_begin}};
};
template <>
struct names<mixture_unit> {
  static constexpr std::string_view what = "unit of a schedule";
  static constexpr named_value<mixture_unit> all[] = {{"positions", mixture_unit::positions},
                                                      {"epochs", mixture_unit::epochs}};
};
template <>
struct names<mixture_change> {
  static constexpr std::string_view what = "change of weights";
  static constexpr named_value<mixture_change> all[] = {{"linear", mixture_change::linear},
                                                        {"steps", mixture_change::steps}};
};
template <>
struct names<token_header> {
  static constexpr std::string_view what = "header of tokens";
  static constexpr named_value<token_header> all[] = {{"automatic", token_header::automatic},
                                                      {"none", token_header::none}};
};
template <>
struct names<std::endian> {
  static constexpr std::string_view what = "byte order";
  static constexpr named_value<std::endian> all[] = {{"little", std::endian::little},
                                                     {"big", std::endian::big}};
};
template <>
struct names<external_files> {
  static constexpr std::string_view what = "external files";
  static constexpr named_value<external_files> all[] = {
      {"refuse", external_files::refuse},
      {"same_folder", external_files::same_folder},
      {"allow", external_files::allow}};
};
template <>
struct names<box_format> {
  static constexpr std::string_view what = "format of boxes";
  static constexpr named_value<box_format> all[] = {
      {"xyxy", box_format::xyxy}, {"xywh", box_format::xywh}, {"cxcywh", box_format::cxcywh}};
};
template <>
struct names<pad_longer> {
  static constexpr std::string_view what = "handling of longer samples";
  static constexpr named_value<pad_longer> all[] = {{"error", pad_longer::error},
                                                    {"truncate", pad_longer::truncate}};
};
template <>
struct names<pack_longer> {
  static constexpr std::string_view what = "handling of longer samples";
  static constexpr named_value<pack_longer> all[] = {{"error", pack_longer::error},
                                                     {"split", pack_longer::split}};
};

template <>
struct names<packed_mask> {
  static constexpr std::string_view what = "mask";
  static constexpr named_value<packed_mask> all[] = {{"none", packed_mask::none},
                                                     {"elements", packed_mask::elements},
                                                     {"followed", packed_mask::followed}};
};

/// An enumeration's type in stubs: typing.Literal['keep', 'drop'].
template <class Enum>
constexpr auto literal_of() {
  constexpr std::string_view begin = "typing.Literal[";
  constexpr std::size_t length = [&] {
    std::size_t sum = begin.size() + 1;
    for (const auto& each : names<Enum>::all) sum += each.name.size() + 4;
    return sum - 2;
  }();
  nb::detail::descr<length> text;
  std::size_t at = 0;
  const auto put = [&](std::string_view part) {
    for (const char letter : part) text.text[at++] = letter;
  };
  put(begin);
  for (const auto& each : names<Enum>::all) {
    if (text.text[at - 1] != '[') put(", ");
    put("'");
    put(each.name);
    put("'");
  }
  put("]");
  return text;
}

/// A value of an enumeration as Python spells it: a string.
template <class Enum>
struct named {
  std::string text;

  named() = default;
  named(Enum value) {  // NOLINT(google-explicit-constructor): a default is one of C++'s values
    for (const auto& [name, named_value] : names<Enum>::all)
      if (named_value == value) text = name;
  }

  /// @throws usage_error if there is no such value, naming those there are.
  operator Enum() const {  // NOLINT(google-explicit-constructor): functions take the enumeration
    std::string known;
    for (const auto& [name, value] : names<Enum>::all) {
      if (name == text) return value;
      known += (known.empty() ? "'" : ", '") + std::string{name} + "'";
    }
    throw usage_error{"no " + std::string{names<Enum>::what} + " is called '" + text +
                      "'; there are " + known};
  }
};

/// The type given by Python: feedline's or NumPy's name, or any argument of numpy.dtype.
/// @throws usage_error if there is no such type, or numpy.dtype refuses it.
[[nodiscard]] element_type parse_dtype(nb::handle spelled);
/// A text in UTF-8, of any length and with any character; other bytes, as in paths, are escaped as
/// Python does (surrogateescape).
[[nodiscard]] nb::str text(std::string_view words);
/// The name that Python has for a type.
[[nodiscard]] nb::str name_of(element_type type);

/// A name or a path from a file, or from Python: any bytes, which Python has as `text`.
struct any_name {
  std::string bytes;

  any_name() = default;
  any_name(std::string name)  // NOLINT(google-explicit-constructor): names are C++'s strings
      : bytes{std::move(name)} {}
  operator std::string() const { return bytes; }  // NOLINT(google-explicit-constructor): the same
};
[[nodiscard]] inline std::vector<any_name> any_names(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

/// An argument that is an element type.
struct dtype_argument {
  nb::object spelled;

  dtype_argument() = default;
  dtype_argument(element_type type)  // NOLINT(google-explicit-constructor): defaults are C++'s
      : spelled{name_of(type)} {}
  operator element_type() const {  // NOLINT(google-explicit-constructor): functions take the type
    return parse_dtype(spelled);
  }
};

}  // namespace feedline::python

namespace nanobind::detail {

template <class Enum>
struct type_caster<feedline::python::named<Enum>> {
  NB_TYPE_CASTER(feedline::python::named<Enum>, feedline::python::literal_of<Enum>())
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::string> text;
    if (!text.from_python(source, flags, cleanup)) return false;
    value.text = std::move(text.value);
    return true;
  }
  static handle from_cpp(const feedline::python::named<Enum>& value, rv_policy policy,
                         cleanup_list* cleanup) noexcept {
    return make_caster<std::string>::from_cpp(value.text, policy, cleanup);
  }
};

template <>
struct type_caster<feedline::python::any_name> {
  NB_TYPE_CASTER(feedline::python::any_name, const_name("str"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    const object bytes = steal(PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape"));
    if (!bytes.is_valid()) {
      PyErr_Clear();
      return false;
    }
    value.bytes.assign(PyBytes_AsString(bytes.ptr()),
                       static_cast<std::size_t>(PyBytes_Size(bytes.ptr())));
    return true;
  }
  static handle from_cpp(const feedline::python::any_name& value, rv_policy,
                         cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(value.bytes.data(), static_cast<Py_ssize_t>(value.bytes.size()),
                                "surrogateescape");
  }
};

template <>
struct type_caster<feedline::python::dtype_argument> {
  NB_TYPE_CASTER(feedline::python::dtype_argument, io_name("typing.Any", "str"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    value.spelled = borrow(source);
    return true;
  }
  static handle from_cpp(const feedline::python::dtype_argument& value, rv_policy,
                         cleanup_list*) noexcept {
    return value.spelled.inc_ref();
  }
};

}  // namespace nanobind::detail
