/// The controls of a scripted device that a test uses, and its answers.

#include "support/devices/scripted_device.hpp"

namespace feedline::test {

void scripted_device::hold_copies() {
  const std::scoped_lock lock{mutex_};
  copy_permits_ = 0;
}

void scripted_device::allow_copies(std::uint64_t count) {
  const std::scoped_lock lock{mutex_};
  if (copy_permits_) *copy_permits_ += count;
  changed_.notify_all();
}

void scripted_device::allow_all_copies() {
  const std::scoped_lock lock{mutex_};
  copy_permits_.reset();
  changed_.notify_all();
}

void scripted_device::hold_copies_back() {
  const std::scoped_lock lock{mutex_};
  back_permits_ = 0;
}

void scripted_device::allow_copies_back(std::uint64_t count) {
  const std::scoped_lock lock{mutex_};
  if (back_permits_) *back_permits_ += count;
  changed_.notify_all();
}

void scripted_device::allow_all_copies_back() {
  const std::scoped_lock lock{mutex_};
  back_permits_.reset();
  changed_.notify_all();
}

void scripted_device::hold_assemblies() {
  const std::scoped_lock lock{mutex_};
  assembly_permits_ = 0;
}

void scripted_device::allow_assemblies(std::uint64_t count) {
  const std::scoped_lock lock{mutex_};
  if (assembly_permits_) *assembly_permits_ += count;
  changed_.notify_all();
}

void scripted_device::allow_all_assemblies() {
  const std::scoped_lock lock{mutex_};
  assembly_permits_.reset();
  changed_.notify_all();
}

void scripted_device::hold_decodes() {
  const std::scoped_lock lock{mutex_};
  decode_permits_ = 0;
}

void scripted_device::allow_decodes(std::uint64_t count) {
  const std::scoped_lock lock{mutex_};
  if (decode_permits_) *decode_permits_ += count;
  changed_.notify_all();
}

void scripted_device::allow_all_decodes() {
  const std::scoped_lock lock{mutex_};
  decode_permits_.reset();
  changed_.notify_all();
}

void scripted_device::hold_work() {
  const std::scoped_lock lock{mutex_};
  work_permits_ = 0;
}

void scripted_device::allow_all_work() {
  const std::scoped_lock lock{mutex_};
  work_permits_.reset();
  changed_.notify_all();
}

std::uint64_t scripted_device::completed_copies_back() const {
  const std::scoped_lock lock{mutex_};
  return completed_copies_back_;
}

std::uint64_t scripted_device::issued_assemblies() const {
  const std::scoped_lock lock{mutex_};
  return issued_assemblies_;
}

std::vector<std::uint32_t> scripted_device::issued_decodes() const {
  const std::scoped_lock lock{mutex_};
  return issued_decodes_;
}

std::uint64_t scripted_device::issued_copies() const {
  const std::scoped_lock lock{mutex_};
  return issued_copies_;
}

std::uint64_t scripted_device::started_copies() const {
  const std::scoped_lock lock{mutex_};
  return started_copies_;
}

std::uint64_t scripted_device::copied_bytes() const {
  const std::scoped_lock lock{mutex_};
  return copied_bytes_;
}

std::size_t scripted_device::mappings() const {
  const std::scoped_lock lock{mutex_};
  return mappings_;
}

std::uint64_t scripted_device::frees_that_wait() const {
  const std::scoped_lock lock{mutex_};
  return frees_that_wait_;
}

std::uint64_t scripted_device::freed_in_use() const {
  const std::scoped_lock lock{mutex_};
  return freed_in_use_;
}

std::size_t scripted_device::allocated_bytes(memory_kind kind) const {
  const std::scoped_lock lock{mutex_};
  const auto found = allocated_.find(kind);
  return found == allocated_.end() ? 0 : found->second;
}

std::uint64_t scripted_device::allocations() const {
  const std::scoped_lock lock{mutex_};
  return allocations_;
}

}  // namespace feedline::test
