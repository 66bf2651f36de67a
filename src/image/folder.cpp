#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/image/folder.hpp>

#include "dataset/label_type.hpp"
#include "detail/log.hpp"
#include "detail/sample_range.hpp"
#include "image/file_blocks.hpp"
#include "image/image_files.hpp"
#include "io/whole_file.hpp"
#include "rows/scratch_pool.hpp"

#include <atomic>
#include <cassert>
#include <mutex>
#include <utility>

namespace feedline {
namespace {

/// What one thread works with.
struct folder_worker {
  std::string path;
  std::vector<std::byte> file;
};

class image_files_dataset final : public dataset {
 public:
  image_files_dataset(detail::image_files files, decoder_ptr decoder, const image_options& options)
      : files_{std::make_shared<const detail::image_files>(std::move(files))},
        decoder_{std::move(decoder)},
        options_{options},
        image_{decoder_->describe({})} {
    image_.name = "image";
  }

  std::uint64_t size() const override { return files_->files.size(); }
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

  std::shared_ptr<const encoded_blocks> encoded() const override {
    std::call_once(blocks_made_, [this] {
      blocks_ = detail::make_image_file_blocks(files_, decoder_, options_, image_);
    });
    return blocks_;
  }

  bool wants_prefetch() const noexcept override {
    return hints_left_.load(std::memory_order_relaxed) > 0;
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    const auto worker = workers_.take();
    for (const sample_index sample : samples) {
      if (sample.value >= size()) continue;
      files_->path_of(sample.value, worker->path);
      detail::will_need_whole_file(worker->path);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  void read_image(std::uint64_t sample, folder_worker& worker, std::span<std::byte> out) const {
    files_->path_of(sample, worker.path);
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

  std::shared_ptr<const detail::image_files> files_;
  decoder_ptr decoder_;
  image_options options_;
  field image_;
  mutable std::once_flag blocks_made_;
  mutable std::shared_ptr<const encoded_blocks> blocks_;
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
  detail::image_lister lister{root, result};
  if (result.classes.size() - 1 > largest)
    throw dataset_error{{.path = root, .field = "label"},
                        "holds " + std::to_string(result.classes.size()) + " classes, but " +
                            std::string{to_string(options.label_type)} + " counts only " +
                            std::to_string(largest + 1) +
                            "; choose a larger image_folder_options::label_type"};
  detail::image_files found;
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
      zip({std::make_shared<const image_files_dataset>(std::move(found), std::move(decoder),
                                                       options.image),
           make_memory_dataset({{{"label", options.label_type, {}}, *labels, labels}})});
  return result;
}

}  // namespace feedline
