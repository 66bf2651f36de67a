#include "transfer/batch_stage.hpp"

#include "device/leak.hpp"
#include "transfer/slot_transfer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace feedline::detail {

batch_stage::batch_stage(const device_ptr& device, batch_transform function, slot_layout in,
                         slot_layout out)
    : transform_{std::move(function)},
      in_{std::move(in)},
      out_{std::move(out)},
      memory_{device, memory_kind::device, in_.slot_bytes()} {}

void batch_stage::run(std::byte* slot, const slot_work& work, std::uint64_t samples,
                      stream_ref stream) {
  std::uint64_t index = work.first_batch;
  const std::byte* from = memory_.data();
  for (std::uint64_t done = 0; done < samples; done += in_.batch_size()) {
    const std::uint64_t count = std::min(in_.batch_size(), samples - done);
    views_.clear();
    for (std::size_t place = 0; place < in_.fields().size(); ++place) {
      views_.emplace_back(in_.fields()[place], count, count * in_.row_bytes(place),
                          from + in_.field_offset(place));
    }
    spans_.clear();
    for (std::size_t place = 0; place < out_.fields().size(); ++place)
      spans_.emplace_back(slot + out_.field_offset(place), count * out_.row_bytes(place));
    try {
      transform_.run({.in = views_,
                      .out = spans_,
                      .epoch = work.run->epoch,
                      .index = index,
                      .samples = count,
                      .stream = stream});
    } catch (...) {
      throw batch_failure{done / in_.batch_size(), std::current_exception()};
    }
    from += in_.batch_bytes();
    slot += out_.batch_bytes();
    ++index;
  }
}

void batch_stage::leak_memory() noexcept {
  leak(memory_, "a batch transform's input");
}

}  // namespace feedline::detail
