#include "decoding/decoded_transfer.hpp"

#include "device/leak.hpp"

namespace feedline::detail {

decoded_transfer::~decoded_transfer() {
  const bool assembled = sync_before_freeing();
  if (decoding_->sync_before_freeing() && assembled) return;
  lose();
  decoding_->leak_memory();
}

void decoded_transfer::carry(staging_slot& from, device_slot& to, std::uint64_t samples) {
  carry_blocks(from);
  if (samples != 0) assembling_transfer::carry(from, to, samples);
}

void decoded_transfer::carry_blocks(staging_slot& from) {
  if (carried_blocks::of(*from.work.blocks).begins_pass) failed_ = nullptr;
  if (failed_) std::rethrow_exception(failed_);
  try {
    decoding_->take(from, copies_, copying(), last_assembled());
    device().record(from.copied.get(), copying());
  } catch (...) {
    failed_ = std::current_exception();
    const bool recovered = decoding_->recover(copying());
    if (!try_record_behind(device(), copying(), {from.copied.get()}) || !recovered)
      from.lost = true;
    throw;
  }
}

void decoded_transfer::before_assembly(const staging_slot& from, const std::byte* destination,
                                       std::uint64_t samples, stream_ref stream) {
  decoding_->check(from, destination, samples, stream);
}

bool decoded_transfer::is_idle() {
  return assembling_transfer::is_idle() && decoding_->is_idle();
}

}  // namespace feedline::detail
