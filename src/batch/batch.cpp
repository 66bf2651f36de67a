#include <feedline/batch/batch.hpp>
#include <feedline/batch/tensor_view.hpp>
#include <feedline/error.hpp>

#include "batch/device_ring.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

batch::batch(std::shared_ptr<detail::device_ring> ring, slot_index slot, const std::byte* data,
             std::uint64_t epoch, std::uint64_t index, std::uint64_t samples) noexcept
    : ring_{std::move(ring)},
      slot_{slot},
      data_{data},
      epoch_{epoch},
      index_{index},
      samples_{samples} {}

batch::batch(batch&& other) noexcept
    : ring_{std::move(other.ring_)},
      slot_{other.slot_},
      data_{other.data_},
      epoch_{std::exchange(other.epoch_, 0)},
      index_{std::exchange(other.index_, 0)},
      samples_{std::exchange(other.samples_, 0)} {
  if (ring_) ring_->users().touches();
}

batch& batch::operator=(batch&& other) noexcept {
  if (this == &other) return *this;
  release();
  ring_ = std::move(other.ring_);
  slot_ = other.slot_;
  data_ = other.data_;
  epoch_ = std::exchange(other.epoch_, 0);
  index_ = std::exchange(other.index_, 0);
  samples_ = std::exchange(other.samples_, 0);
  if (ring_) ring_->users().touches();
  return *this;
}

batch::~batch() {
  release();
}

void batch::release() noexcept {
  if (!ring_) return;  // moved from
  if (!ring_->format().process.is_this()) return detail::leak(std::move(ring_));
  ring_->end_lease(slot_);
  ring_.reset();
}

const detail::batch_format& batch::format() const {
  if (!ring_) throw usage_error{"a batch was used after it was moved from"};
  ring_->users().touches();
  return ring_->format();
}

tensor_view batch::operator[](std::string_view field) const& {
  const auto fields = format().layout.fields();
  for (std::size_t place = 0; place < fields.size(); ++place) {
    if (fields[place].name == field) return field_at(place);
  }
  std::string known;
  for (const auto& each : fields) known += (known.empty() ? "" : ", ") + each.name;
  throw usage_error{"a batch has no field '" + std::string{field} + "': it has " + known};
}

tensor_view batch::field_at(std::size_t place) const& {
  const auto& layout = format().layout;
  if (place >= layout.fields().size()) {
    throw usage_error{"a batch has no field number " + std::to_string(place) + ": it has " +
                      std::to_string(layout.fields().size())};
  }
  return {layout.fields()[place], samples_, samples_ * layout.row_bytes(place),
          data_ + layout.field_offset(place)};
}

std::size_t batch::field_count() const {
  return format().layout.fields().size();
}

std::vector<sample_index> batch::samples() const {
  const auto& known = format();
  std::vector<sample_index> samples(samples_);
  known.sampler.indices(known.dataset_samples, epoch_, position{index_ * known.layout.batch_size()},
                        samples);
  const detail::slot_content& content = (*ring_)[slot_].content;
  if (!content.repairs) return samples;
  const std::uint64_t first = (index_ - content.first_batch) * known.layout.batch_size();
  for (const auto& each : content.repairs->replacements) {
    if (each.place >= first && each.place - first < samples_) samples[each.place - first] = each.by;
  }
  return samples;
}

std::uint64_t batch::repeats() const {
  const auto& known = format();
  const std::uint64_t first = index_ * known.layout.batch_size();
  const auto& repairs = (*ring_)[slot_].content.repairs;
  const std::uint64_t first_repeat =
      repairs ? std::min(known.first_repeat, repairs->first_repeat) : known.first_repeat;
  const std::uint64_t distinct = first_repeat - std::min(first_repeat, first);
  return samples_ - std::min(samples_, distinct);
}

stream_ref batch::stream() const {
  (void)format();  // throws if moved from
  return (*ring_)[slot_].stream;
}

device_id batch::device() const {
  (void)format();  // throws if moved from
  return ring_->id();
}

std::vector<std::uint64_t> tensor_view::shape() const {
  std::vector<std::uint64_t> extents{samples_};
  extents.insert(extents.end(), spec_->shape.begin(), spec_->shape.end());
  return extents;
}

void tensor_view::throw_type_mismatch(element_type wanted) const {
  throw usage_error{"field '" + spec_->name + "' holds " + std::string{to_string(spec_->type)} +
                    ", not " + std::string{to_string(wanted)} +
                    ": ask for the type it holds, or for bytes()"};
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
