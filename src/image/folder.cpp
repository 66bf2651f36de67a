#include <feedline/error.hpp>
#include <feedline/image/folder.hpp>

#include "dataset/label_type.hpp"
#include "detail/log.hpp"
#include "detail/sample_range.hpp"
#include "image/listing.hpp"
#include "io/whole_file.hpp"
#include "rows/scratch_pool.hpp"

#include <atomic>
#include <cassert>
#include <utility>

namespace feedline {
namespace {

/// What one thread works with.
struct folder_worker {
  std::string path;
  std::vector<std::byte> file;
};

class image_folder_dataset final : public dataset {
 public:
  /// @param places Of the fields that it has: 0 the image, 1 the label.
  image_folder_dataset(std::shared_ptr<const detail::image_listing> listing, decoder_ptr decoder,
                       element_type label_type, std::vector<std::size_t> places)
      : listing_{std::move(listing)},
        decoder_{std::move(decoder)},
        image_{decoder_->describe({})},
        label_{"label", label_type, {}},
        places_{std::move(places)} {
    image_.name = "image";
  }

  std::uint64_t size() const override { return listing_->size(); }
  std::vector<field> fields() const override {
    std::vector<field> fields;
    for (const std::size_t place : places_) fields.push_back(place == 0 ? image_ : label_);
    return fields;
  }
  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<std::size_t> inner;
    for (const std::size_t place : places) inner.push_back(places_[place]);
    return std::make_shared<const image_folder_dataset>(listing_, decoder_, label_.type,
                                                        std::move(inner));
  }

  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    detail::require_in_range(samples, size());
    const std::size_t image_bytes = sample_bytes(image_);
    const std::size_t label_bytes = size_bytes(label_.type);
    const auto worker = workers_.take();
    for (std::size_t f = 0; f < places_.size(); ++f) {
      assert(out[f].size() == samples.size() * (places_[f] == 0 ? image_bytes : label_bytes));
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::uint64_t sample = samples[i].value;
        if (places_[f] == 0) {
          listing_->path_of(sample, worker->path);
          read_image(sample, *worker, out[f].subspan(i * image_bytes, image_bytes));
        } else {
          detail::write_label(listing_->class_of(sample), label_.type,
                              out[f].subspan(i * label_bytes, label_bytes));
        }
      }
    }
  }

  bool wants_prefetch() const noexcept override {
    return hints_left_.load(std::memory_order_relaxed) > 0;  // never, where no file is read
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    const auto worker = workers_.take();
    for (const sample_index sample : samples) {
      if (sample.value >= size()) continue;
      listing_->path_of(sample.value, worker->path);
      detail::will_need_whole_file(worker->path);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  void read_image(std::uint64_t sample, folder_worker& worker, std::span<std::byte> out) const {
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

  std::shared_ptr<const detail::image_listing> listing_;
  decoder_ptr decoder_;
  field image_;
  field label_;
  std::vector<std::size_t> places_;
  mutable std::atomic<std::int64_t> hints_left_{0};
  mutable detail::scratch_pool<folder_worker> workers_{
      [] { return std::make_unique<folder_worker>(); }};
};

}  // namespace

image_folder open_image_folder(const std::string& root, const image_folder_options& options) {
  const std::uint64_t largest = detail::largest_label(options.label_type);
  decoder_ptr decoder =
      make_image_decoder(options.image);  // looks at options before a long listing
  const auto listing = std::make_shared<const detail::image_listing>(root);
  if (listing->classes().size() - 1 > largest)
    throw dataset_error{{.path = root, .field = "label"},
                        "holds " + std::to_string(listing->classes().size()) + " classes, but " +
                            std::string{to_string(options.label_type)} + " counts only " +
                            std::to_string(largest + 1) +
                            "; choose a larger image_folder_options::label_type"};
  if (listing->skipped_files() != 0)
    detail::log()->warn(
        "image folder {}: {} files are not named as images (.jpg, .jpeg, .png) and are left "
        "out, such as {}",
        root, listing->skipped_files(), listing->examples().front());
  image_folder result;
  result.classes = listing->classes();
  result.skipped_files = listing->skipped_files();
  result.examples = listing->examples();
  result.dataset = std::make_shared<const image_folder_dataset>(
      listing, std::move(decoder), options.label_type, std::vector<std::size_t>{0, 1});
  return result;
}

}  // namespace feedline
