#pragma once

#include <feedline/dataset/image_layout.hpp>
#include <feedline/dataset/interpolation.hpp>
#include <feedline/dataset/read_concurrency.hpp>
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
#include <string_view>

namespace feedline::python {

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

}  // namespace feedline::python
