#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/image/joined.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "image/reader.hpp"
#include "image/sets/file_values.hpp"
#include "image/sets/named_paths.hpp"
#include "image/sets/sized_images.hpp"
#include "ragged/record_columns.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

namespace fs = std::filesystem;

bool is_cut_alike(const image_options& one, const image_options& other) {
  const auto is_same = [](const value_range& a, const value_range& b) {
    return a.low == b.low && a.high == b.high;
  };
  const auto& crop = one.resized_crop;
  const auto& other_crop = other.resized_crop;
  // The part that is cut out of the middle depends on the size.
  const bool is_same_size = one.height == other.height && one.width == other.width;
  const bool size_counts = one.shorter_side != 0 || one.fit != image_fit::stretch;
  return one.shorter_side == other.shorter_side && (!size_counts || is_same_size) &&
         one.fit == other.fit && one.sizes == other.sizes && one.flip == other.flip &&
         one.size_divisible == other.size_divisible && one.larger == other.larger &&
         one.follow_orientation == other.follow_orientation &&
         crop.has_value() == other_crop.has_value() &&
         (!crop ||
          (is_same(crop->scale, other_crop->scale) && is_same(crop->ratio, other_crop->ratio)));
}

/// @return The options of the first decoder.
const image_options& checked(const std::vector<joined_field>& fields) {
  if (fields.size() < 2)
    throw usage_error{"joined images: there are " + std::to_string(fields.size()) +
                      " fields, but at least two are joined; open_images opens one"};
  for (const joined_field& one : fields) {
    const std::string who = "joined images: field '" + one.name + "'";
    if (!one.decoder) throw usage_error{who + " has no decoder"};
    if (detail::sized_decoder::of(*one.decoder) == nullptr)
      throw usage_error{who +
                        " has a decoder of another kind, which cannot cut as the others do; "
                        "give make_image_decoder or make_mask_decoder, or zip() two datasets"};
  }
  const image_options& first = *detail::sized_decoder::of(*fields.front().decoder);
  for (const joined_field& one : fields)
    if (!is_cut_alike(*detail::sized_decoder::of(*one.decoder), first))
      throw usage_error{"joined images: fields '" + fields.front().name + "' and '" + one.name +
                        "' have decoders that differ in shorter_side, resized_crop, "
                        "follow_orientation, fit, sizes, size_divisible, larger or flip, or in "
                        "size with shorter_side or fit, so they would show different parts"};
  return first;
}

/// The files of one field by the name that they share with the other fields' files.
using named_files = std::map<std::string, std::string>;

void add_example(const std::string& path, joined_images& told) {
  constexpr std::size_t max_examples = 10;
  if (told.examples.size() < max_examples) told.examples.push_back(path);
}

named_files list_field(const joined_field& of, joined_images& told) {
  image_folder others;
  const detail::image_files files = detail::image_lister::list_all(of.root, {}, others);
  told.skipped_files += others.skipped_files;
  for (const std::string& path : others.examples) add_example(path, told);
  named_files named;
  for (std::uint64_t i = 0; i < files.files.size(); ++i) {
    const std::string path = files.path_of(i);
    std::string name = fs::path{path}.lexically_relative(of.root).replace_extension().string();
    if (!name.ends_with(of.suffix)) {
      ++told.skipped_files;
      add_example(path, told);
      continue;
    }
    name.resize(name.size() - of.suffix.size());
    const auto [other, is_new] = named.emplace(name, path);
    if (!is_new)
      throw dataset_error{{.path = path, .field = of.name},
                          "has the same name as " + other->second +
                              ", so it is not clear which of them is the sample's; remove one"};
  }
  return named;
}

/// Names that every field has a file for. Others are refused, or left out.
std::vector<std::string> common_names(const std::vector<joined_field>& fields,
                                      const std::vector<named_files>& named,
                                      const joined_images_options& options, joined_images& told) {
  std::vector<std::string> common;
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (const auto& [name, path] : named[i]) {
      const auto lacking = std::ranges::find_if(
          named, [&, &key = name](const named_files& each) { return !each.contains(key); });
      if (lacking == named.end()) {
        if (i == 0) common.push_back(name);
      } else if (options.skip_incomplete) {
        ++told.skipped_files;
        add_example(path, told);
      } else {
        const joined_field& other = fields[static_cast<std::size_t>(lacking - named.begin())];
        throw dataset_error{
            {.path = path, .field = fields[i].name},
            "there is no file for field '" + other.name +
                "': " + (fs::path{other.root} / (name + other.suffix)).string() +
                ".png or .jpg; add it, or set joined_images_options::skip_incomplete"};
      }
    }
  if (common.empty())
    throw dataset_error{{.path = fields.front().root, .field = {}},
                        "no image has files for all fields; files match by their paths below the "
                        "roots, without extension and suffix"};
  return common;
}

detail::image_files files_of(const named_files& named, const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(named.at(name));
  return detail::files_at(paths);
}

}  // namespace

joined_images open_joined_images(const std::vector<joined_field>& fields,
                                 const joined_images_options& options) {
  const image_options& cut = checked(fields);
  const bool turns = cut.follow_orientation;
  joined_images result;
  std::vector<named_files> named;
  for (const joined_field& one : fields) named.push_back(list_field(one, result));
  const std::vector<std::string> names = common_names(fields, named, options, result);
  if (result.skipped_files != 0)
    detail::log()->warn(
        "joined images: {} files are left out, such as {}: they are not named as images, lack the "
        "field's suffix, or have no partner",
        result.skipped_files, detail::printable(result.examples.front()));
  for (const std::string& name : names) result.paths.push_back(named.front().at(name));

  const auto extents = std::make_shared<detail::sample_extents>(names.size());
  // Paths of the first two fields, by which a file's partner is named.
  const auto first = std::make_shared<const detail::image_files>(files_of(named[0], names));
  const auto second = std::make_shared<const detail::image_files>(files_of(named[1], names));
  detail::known_extents known;
  batch_sizes_ptr sizes;
  if (cut.fit == image_fit::pad) {
    known = detail::read_extents(*first, turns);
    sizes = detail::padded_sizes(cut, known);
    for (std::uint64_t i = 0; i < known->size(); ++i) extents->set(i, (*known)[i]);
  }
  std::vector<dataset_ptr> parts;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto other = [of = i == 0 ? second : first,
                        name = fields[i == 0 ? 1 : 0].name](std::uint64_t sample) {
      return "'" + name + "' of the same sample, " + of->path_of(sample) + ", has";
    };
    field spec = fields[i].decoder->describe({});
    spec.name = fields[i].name;
    if (i != 0) spec.tie = image_tie{.image = fields.front().name};
    parts.push_back(detail::make_decoded_dataset(
        detail::make_file_values(files_of(named[i], names), fields[i].name,
                                 {.known = extents, .follows_orientation = turns, .other = other},
                                 sizes),
        {fields[i].decoder, std::move(spec)}));
  }
  if (known) parts.push_back(detail::make_size_field(fields.front().name, cut, known));
  result.dataset = zip(std::move(parts));
  return result;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
