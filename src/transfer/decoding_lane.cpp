#include "transfer/decoding_lane.hpp"

namespace feedline::detail {

decoding_lane::decoding_lane(const device_ptr& device, const block_plan& plan,
                             const block_store& store, std::size_t table_at)
    : arrivals_{device, plan, table_at},
      on_{device},
      decoder_{device->capabilities().decodes->make(store)} {}

void decoding_lane::leak_memory() noexcept {
  arrivals_.leak_memory();
  (void)decoder_.release();
}

}  // namespace feedline::detail
