#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/image/folder.hpp>

#include "dataset/label_type.hpp"
#include "detail/log.hpp"
#include "detail/sample_range.hpp"
#include "detail/text.hpp"
#include "io/whole_file.hpp"
#include "rows/scratch_pool.hpp"

#include <system_error>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <filesystem>
#include <map>
#include <utility>

namespace feedline {
namespace {

namespace fs = std::filesystem;

/// A link that leads back to a folder above it makes folders without end.
constexpr unsigned deepest = 32;

bool is_named_as_image(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string extension = detail::in_lower_case(name.substr(dot));
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

struct entry {
  std::string name;
  bool is_folder = false;
};

/// What a folder holds in order of name, hidden things left out; links count as what they lead to.
std::vector<entry> entries_of(const fs::path& folder) try {
  std::vector<entry> entries;
  for (const auto& each : fs::directory_iterator{folder}) {
    std::string name = each.path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code broken_link;
    entries.push_back({std::move(name), each.is_directory(broken_link)});
  }
  std::ranges::sort(entries, {}, &entry::name);
  return entries;
} catch (const fs::filesystem_error& error) {
  throw dataset_error{
      {.path = folder.string(), .field = {}},
      "cannot be listed: " + error.code().message() + "; check the path and its permissions"};
}

/// The images that were found. Names lie in one block of memory.
struct image_files {
  struct file {
    std::uint64_t name_end = 0;  ///< in `names`
    std::uint32_t folder = 0;
  };

  std::vector<std::string> folders = {};
  std::vector<file> files = {};
  std::string names = {};  ///< of all files, one behind the other

  /// Writes an image's path into `out`.
  void path_of(std::uint64_t image, std::string& out) const {
    const file& each = files[image];
    const std::uint64_t begin = image == 0 ? 0 : files[image - 1].name_end;
    out = folders[each.folder];
    out += '/';
    out.append(names, begin, each.name_end - begin);
  }
};

/// Finds classes and their images. What is told of the folder goes to `told`.
class image_lister {
 public:
  image_lister(fs::path root, image_folder& told) : root_{std::move(root)}, told_{told} {
    for (entry& each : entries_of(root_))
      each.is_folder ? told_.classes.push_back(std::move(each.name)) : leave_out(root_ / each.name);
    if (told_.classes.empty())
      throw dataset_error{{.path = root_.string(), .field = {}},
                          "holds no folder: there should be one for each class, with the images "
                          "of the class in it"};
  }

  void list_class(const std::string& name, image_files& into) {
    const fs::path folder = root_ / name;
    std::map<std::string, std::vector<std::string>> found;  // names, by folder
    list_folder(folder, 0, found);
    if (found.empty())
      throw dataset_error{{.path = folder.string(), .field = {}},
                          "the class has no image (.jpg, .jpeg, .png); give it some, or remove "
                          "its folder"};
    for (const auto& [path, names] : found) {
      for (const std::string& file : names) {
        into.names += file;
        into.files.push_back({into.names.size(), static_cast<std::uint32_t>(into.folders.size())});
      }
      into.folders.push_back(path);
    }
  }

 private:
  /// A folder, and those within.
  void list_folder(const fs::path& folder, unsigned depth,
                   std::map<std::string, std::vector<std::string>>& found) {
    if (depth > deepest)
      throw dataset_error{{.path = folder.string(), .field = {}},
                          "lies " + std::to_string(depth) +
                              " folders deep: does a link lead back to a folder above?"};
    for (entry& each : entries_of(folder)) {
      if (each.is_folder) {
        list_folder(folder / each.name, depth + 1, found);
      } else if (is_named_as_image(each.name)) {
        found[folder.string()].push_back(std::move(each.name));
      } else {
        leave_out(folder / each.name);
      }
    }
  }

  void leave_out(const fs::path& path) {
    constexpr std::size_t max_examples = 10;
    ++told_.skipped_files;
    if (told_.examples.size() < max_examples)
      told_.examples.push_back(path.lexically_relative(root_).string());
  }

  fs::path root_;
  image_folder& told_;
};

/// What one thread works with.
struct folder_worker {
  std::string path;
  std::vector<std::byte> file;
};

class image_files_dataset final : public dataset {
 public:
  image_files_dataset(image_files files, decoder_ptr decoder)
      : files_{std::move(files)}, decoder_{std::move(decoder)}, image_{decoder_->describe({})} {
    image_.name = "image";
  }

  std::uint64_t size() const override { return files_.files.size(); }
  std::vector<field> fields() const override { return {image_}; }

  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    detail::require_in_range(samples, size());
    const std::size_t bytes = sample_bytes(image_);
    assert(out[0].size() == samples.size() * bytes);
    const auto worker = workers_.take();
    for (std::size_t i = 0; i < samples.size(); ++i)
      read_image(samples[i].value, *worker, out[0].subspan(i * bytes, bytes));
  }

  bool wants_prefetch() const noexcept override {
    return hints_left_.load(std::memory_order_relaxed) > 0;
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    const auto worker = workers_.take();
    for (const sample_index sample : samples) {
      if (sample.value >= size()) continue;
      files_.path_of(sample.value, worker->path);
      detail::will_need_whole_file(worker->path);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  void read_image(std::uint64_t sample, folder_worker& worker, std::span<std::byte> out) const {
    files_.path_of(sample, worker.path);
    try {
      const auto file = detail::read_whole_file(worker.path, worker.file);
      note(file.was_in_memory);
      decoder_->decode(file.bytes, image_, out);
    } catch (const dataset_error& fault) {
      throw dataset_error{{.path = worker.path, .field = image_.name, .sample = sample},
                          fault.message()};
    }
  }

  /// A file that was waited for: hints are of use, until this many were there already.
  void note(bool was_in_memory) const noexcept {
    constexpr std::int64_t trial = 4096;
    if (!was_in_memory) {
      hints_left_.store(trial, std::memory_order_relaxed);
    } else if (hints_left_.load(std::memory_order_relaxed) > 0) {
      hints_left_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  image_files files_;
  decoder_ptr decoder_;
  field image_;
  mutable std::atomic<std::int64_t> hints_left_{0};
  mutable detail::scratch_pool<folder_worker> workers_{
      [] { return std::make_unique<folder_worker>(); }};
};

}  // namespace

image_folder open_image_folder(const std::string& root, const image_folder_options& options) {
  const std::uint64_t largest = detail::largest_label(options.label_type);
  decoder_ptr decoder =
      make_image_decoder(options.image);  // looks at options before a long listing
  image_folder result;
  image_lister lister{root, result};
  if (result.classes.size() - 1 > largest)
    throw dataset_error{{.path = root, .field = "label"},
                        "holds " + std::to_string(result.classes.size()) + " classes, but " +
                            std::string{to_string(options.label_type)} + " counts only " +
                            std::to_string(largest + 1) +
                            "; choose a larger image_folder_options::label_type"};
  image_files found;
  const std::size_t label_bytes = size_bytes(options.label_type);
  const auto labels = std::make_shared<std::vector<std::byte>>();
  for (std::size_t label = 0; label < result.classes.size(); ++label) {
    lister.list_class(result.classes[label], found);
    std::size_t at = labels->size();
    for (labels->resize(found.files.size() * label_bytes); at < labels->size(); at += label_bytes)
      detail::write_label(label, options.label_type, std::span{*labels}.subspan(at, label_bytes));
  }
  found.names.shrink_to_fit();
  found.files.shrink_to_fit();
  labels->shrink_to_fit();
  if (result.skipped_files != 0)
    detail::log()->warn(
        "image folder {}: {} files are not named as images (.jpg, .jpeg, .png) and are left "
        "out, such as {}",
        root, result.skipped_files, result.examples.front());
  result.dataset =
      zip({std::make_shared<const image_files_dataset>(std::move(found), std::move(decoder)),
           make_memory_dataset({{{"label", options.label_type, {}}, *labels, labels}})});
  return result;
}

}  // namespace feedline
