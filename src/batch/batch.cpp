#include <feedline/batch/batch.hpp>
#include <feedline/batch/tensor_view.hpp>
#include <feedline/error.hpp>

#include "batch/device_ring.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

batch::batch(std::shared_ptr<detail::device_ring> ring, const detail::leased_batch& place) noexcept
    : lease_{std::move(ring), place} {}
batch::batch(batch&& other) noexcept = default;
batch& batch::operator=(batch&& other) noexcept = default;
batch::~batch() = default;

const detail::batch_format& batch::format() const {
  if (lease_.ring() == nullptr) throw usage_error{"a batch was used after it was moved from"};
  lease_.ring()->touched();
  return lease_.ring()->format();
}

tensor_view batch::operator[](std::string_view field) const& {
  return field_at(place_of(field));
}

tensor_view batch::on_host(std::string_view field) const& {
  const std::size_t place = place_of(field);
  const auto& known = format();
  if (known.host.find(place) != nullptr) return host_view(place);
  std::string names;
  for (const auto& each : known.host.columns())
    names += (names.empty() ? "" : ", ") + known.layout.fields()[each.place].name;
  throw usage_error{"field '" + std::string{field} +
                    "' is not kept on the host: name it in loader_options::keep_on_host" +
                    (names.empty() ? "" : ", which names " + names)};
}

tensor_view batch::host_view(std::size_t place) const {
  const auto& known = format();
  const detail::host_rows::column& kept = *known.host.find(place);
  const std::byte* const data = lease_->host == nullptr
                                    ? lease_->data + known.layout.field_offset(place)
                                    : lease_->host + kept.offset;
  return {known.layout.fields()[place],
          lease_->samples,
          lease_->samples * kept.row_bytes,
          data,
          {},
          true};
}

std::size_t batch::place_of(std::string_view field) const {
  const auto fields = format().layout.fields();
  for (std::size_t place = 0; place < fields.size(); ++place) {
    if (fields[place].name == field) return place;
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
  const detail::host_rows::column* const kept = format().host.find(place);
  if (kept != nullptr && !kept->on_device_too) return host_view(place);
  const detail::slot_content& content = (*lease_.ring())[lease_->slot].content;
  std::optional<image_size> size;
  if (content.sizes) size = content.sizes->of_batches[lease_->index - content.first_batch];
  return {layout.fields()[place], lease_->samples, lease_->samples * layout.row_bytes(place, size),
          lease_->data + layout.field_offset(place), size};
}

std::size_t batch::field_count() const {
  return format().layout.fields().size();
}

std::vector<sample_index> batch::samples() const {
  const auto& known = format();
  std::vector<sample_index> samples(lease_->samples);
  known.sampler.indices(known.dataset_samples, lease_->epoch,
                        position{lease_->index * known.layout.batch_size()}, samples);
  const detail::slot_content& content = (*lease_.ring())[lease_->slot].content;
  if (!content.repairs) return samples;
  const std::uint64_t first = (lease_->index - content.first_batch) * known.layout.batch_size();
  for (const auto& each : content.repairs->replacements) {
    if (each.place >= first && each.place - first < lease_->samples)
      samples[each.place - first] = each.by;
  }
  return samples;
}

std::uint64_t batch::repeats() const {
  const auto& known = format();
  const std::uint64_t first = lease_->index * known.layout.batch_size();
  const auto& repairs = (*lease_.ring())[lease_->slot].content.repairs;
  const std::uint64_t first_repeat =
      repairs ? std::min(known.first_repeat, repairs->first_repeat) : known.first_repeat;
  const std::uint64_t distinct = first_repeat - std::min(first_repeat, first);
  return lease_->samples - std::min(lease_->samples, distinct);
}

stream_ref batch::stream() const {
  (void)format();  // throws if moved from
  return (*lease_.ring())[lease_->slot].stream;
}

device_id batch::device() const {
  (void)format();  // throws if moved from
  return lease_.ring()->id();
}

std::vector<std::uint64_t> tensor_view::shape() const {
  std::vector<std::uint64_t> extents{samples_};
  const std::vector<std::uint64_t> shape = size_ ? shape_in(*spec_, *size_) : spec_->shape;
  extents.insert(extents.end(), shape.begin(), shape.end());
  return extents;
}

void tensor_view::throw_type_mismatch(element_type wanted) const {
  throw usage_error{"field '" + spec_->name + "' holds " + std::string{to_string(spec_->type)} +
                    ", not " + std::string{to_string(wanted)} +
                    ": ask for the type it holds, or for bytes()"};
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
