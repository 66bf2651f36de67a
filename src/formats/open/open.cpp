#include <feedline/dataset/concatenate.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/cifar.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/idx.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/tokens.hpp>
#include <feedline/image/folder.hpp>

#include "dataset/choose_fields.hpp"
#include "formats/open/open_whole.hpp"

#include <string>

namespace feedline {
namespace {

using paths = std::vector<std::filesystem::path>;

void require_no_fields(const open_options& options, std::string_view format) {
  if (!options.fields.empty())
    throw usage_error{"open: fields of a " + std::string{format} +
                      " have names of their own; leave open_options::fields empty"};
}

/// The name of a format's only field.
std::string only_name(const open_options& options, file_format format, const std::string& without) {
  if (options.fields.empty()) return without;
  if (options.fields.size() == 1) return options.fields.front();
  throw usage_error{"open: a file of the format " + std::string{to_string(format)} +
                    " becomes one field, but open_options::fields names " +
                    std::to_string(options.fields.size())};
}

dataset_ptr open_one_idx(const std::filesystem::path& path, const open_options& options) {
  const dataset_ptr images = open_idx_file(path, only_name(options, file_format::idx, "image"));
  if (!options.fields.empty() || !images->fields().front().shape.empty()) return images;
  return open_idx_file(path, "label");  // labels are soon read again
}

dataset_ptr open_one(const std::filesystem::path& path, file_format format,
                     const open_options& options) {
  switch (format) {
    case file_format::hdf5:
      return detail::open_whole_hdf5(path, options);
    case file_format::npy:
      return open_npy(path, only_name(options, format, path.stem().string()));
    case file_format::npz:
      return open_npz(path, options.fields);
    case file_format::idx:
      return open_one_idx(path, options);
    case file_format::image_folder:
      return detail::choose_fields(
          open_image_folder(path, {.image = options.image, .label_type = options.label_type})
              .dataset,
          options.fields);
    default:
      throw detail::unknown_format(path);
  }
}

dataset_ptr open_tokens_of(const paths& shards, const open_options& options) {
  require_no_fields(options, to_string(file_format::tokens));
  if (options.tokens_per_sample == 0)
    throw usage_error{"open: " + shards.front().string() +
                      " holds tokens, and open_options::tokens_per_sample is not given"};
  return open_tokens(shards, {.tokens_per_sample = options.tokens_per_sample});
}

}  // namespace

dataset_ptr open(const std::filesystem::path& path, const open_options& options) {
  return open(paths{path}, options);
}

dataset_ptr open(const paths& patterns, const open_options& options) {
  if (patterns.empty()) throw usage_error{"open: there is no path"};
  const paths files = expand_paths(patterns);
  const file_format format = identify(files.front());
  for (const std::filesystem::path& path : files) {
    const file_format other = identify(path);
    if (other == file_format::unknown) throw detail::unknown_format(path);
    if (other != format)
      throw dataset_error{{.path = path.string(), .field = {}},
                          "of the format " + std::string{to_string(other)} + ", but " +
                              files.front().string() + " is of the format " +
                              std::string{to_string(format)} +
                              "; files that are opened together are of one format"};
  }
  if (!options.like.empty() && (format != file_format::hdf5 || !options.fields.empty()))
    throw usage_error{
        "open: open_options::like chooses datasets of HDF5 files, instead of fields; " +
        (format == file_format::hdf5
             ? std::string{"give one of both"}
             : files.front().string() + " is of the format " + std::string{to_string(format)})};
  switch (format) {
    case file_format::tar:
      return detail::open_whole_tar(files, options);
    case file_format::tokens:
      return open_tokens_of(files, options);
    case file_format::cifar10:
      return detail::choose_fields(open_cifar10(files), options.fields);
    case file_format::cifar100:
      return detail::choose_fields(open_cifar100(files), options.fields);
    default:
      break;
  }
  if (files.size() == 1) return open_one(files.front(), format, options);
  std::vector<dataset_ptr> parts;
  open_options same_names = options;
  for (const std::filesystem::path& path : files) {
    parts.push_back(open_one(path, format, same_names));
    if (format == file_format::npy) same_names.fields = {parts.front()->fields().front().name};
  }
  return concatenate(std::move(parts));
}

}  // namespace feedline
