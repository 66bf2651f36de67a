#include "dataset/sized_fields.hpp"

#include <feedline/error.hpp>

#include "detail/sample_range.hpp"

#include <memory>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

class sizes_in_line final : public batch_sizes {
 public:
  sizes_in_line(std::vector<batch_sizes_ptr> parts, std::vector<std::uint64_t> ends)
      : parts_{std::move(parts)}, ends_{std::move(ends)} {}

  image_size largest() const override { return parts_.front()->largest(); }
  bool depends_on_samples() const override { return true; }

  image_size of(const sized_batch& batch) const override {
    std::vector<std::vector<sample_index>> local(parts_.size());
    for (const sample_index sample : batch.samples) {
      const std::size_t part = part_at(ends_, sample.value);
      local[part].push_back({sample.value - (part == 0 ? 0 : ends_[part - 1])});
    }
    image_size size;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (local[part].empty()) continue;
      sized_batch some = batch;
      some.samples = local[part];
      const image_size of_part = parts_[part]->of(some);
      size = {std::max(size.height, of_part.height), std::max(size.width, of_part.width)};
    }
    return size;
  }

 private:
  std::vector<batch_sizes_ptr> parts_;
  std::vector<std::uint64_t> ends_;
};

class sizes_of_chosen final : public batch_sizes {
 public:
  sizes_of_chosen(batch_sizes_ptr of, std::function<void(std::span<sample_index>)> choose)
      : of_{std::move(of)}, choose_{std::move(choose)} {}

  image_size largest() const override { return of_->largest(); }
  bool depends_on_samples() const override { return true; }

  image_size of(const sized_batch& batch) const override {
    std::vector<sample_index> chosen(batch.samples.begin(), batch.samples.end());
    choose_(chosen);
    sized_batch same = batch;
    same.samples = chosen;
    return of_->of(same);
  }

 private:
  batch_sizes_ptr of_;
  std::function<void(std::span<sample_index>)> choose_;
};

}  // namespace

void copy_block_rows(const field& of, std::span<const std::byte> rows, std::span<std::byte> out) {
  const bool fits = of.by_batch ? rows.size() <= out.size() : rows.size() == out.size();
  if (!fits)
    throw dataset_error{{.path = {}, .field = of.name},
                        "a block of rows has " + std::to_string(rows.size()) +
                            " bytes, but should have " + std::to_string(out.size())};
  std::ranges::copy(rows, out.begin());
}

batch_sizes_ptr checked_sizes(const dataset& of) {
  const std::vector<field> fields = of.fields();
  if (!any_by_batch(fields)) return nullptr;
  batch_sizes_ptr sizes = of.sizes();
  for (const field& each : fields) {
    if (!each.by_batch) continue;
    const std::string who = "field " + to_string(each);
    if (each.shape.size() != 2 && each.shape.size() != 3)
      throw usage_error{who +
                        ": height and width differ from batch to batch (field::by_batch), but "
                        "the shape has neither two extents nor three"};
    if (!sizes)
      throw usage_error{who +
                        ": the size differs from batch to batch (field::by_batch), but the "
                        "dataset does not know the sizes of batches (dataset::sizes). Images that "
                        "are padded to the largest of their batch come from folders and lists of "
                        "files: open_image_folder, open_images, open_image_list, "
                        "open_joined_images, open_coco, open_voc, make_annotated_dataset"};
    const image_size largest = sizes->largest();
    if (largest_size(each) != largest)
      throw usage_error{who + ": the largest batch has images of " +
                        std::to_string(largest.height) + " x " + std::to_string(largest.width) +
                        " (batch_sizes::largest), which the field's shape must have"};
  }
  if (!of.varies_by_epoch())
    throw usage_error{
        "the dataset has fields whose size differs from batch to batch, but "
        "varies_by_epoch() is false: return true, because such samples cannot be "
        "kept from epoch to epoch"};
  return sizes;
}

batch_sizes_ptr common_sizes(const char* who, const std::vector<batch_sizes_ptr>& parts) {
  batch_sizes_ptr common;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const batch_sizes_ptr& one = parts[part];
    if (!one || one == common) continue;
    if (!common) {
      common = one;
    } else if (!one->equals(*common)) {
      throw usage_error{std::string{who} + ": part " + std::to_string(part) +
                        " gives its batches other sizes (dataset::sizes) than a part before it, "
                        "but a batch has one size: use the same options for both"};
    }
  }
  return common;
}

batch_sizes_ptr concatenated_sizes(std::vector<batch_sizes_ptr> parts,
                                   std::vector<std::uint64_t> ends) {
  if (std::ranges::find(parts, nullptr) != parts.end()) return nullptr;
  return std::make_shared<const sizes_in_line>(std::move(parts), std::move(ends));
}

batch_sizes_ptr chosen_sizes(batch_sizes_ptr of,
                             std::function<void(std::span<sample_index>)> choose) {
  if (!of || !of->depends_on_samples()) return of;
  return std::make_shared<const sizes_of_chosen>(std::move(of), std::move(choose));
}

}  // namespace feedline::detail
