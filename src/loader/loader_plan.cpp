#include <feedline/loader/loader_plan.hpp>

#include <cstdio>

namespace feedline {
namespace {

std::string mebibytes(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

}  // namespace

std::string to_string(const loader_plan& plan) {
  std::string text = std::to_string(plan.batches_per_epoch) + " batches of " +
                     std::to_string(plan.batch_size) + " an epoch, " +
                     (plan.slots_grow ? "1 to " : "") + std::to_string(plan.batches_per_slot) +
                     " a slot; staging " + std::to_string(plan.staging_slots) + " × " +
                     mebibytes(plan.slot_bytes) + " = " + mebibytes(plan.staging_bytes);
  if (plan.device_slots == 0) {
    text += ", read in place";
  } else {
    text +=
        ", device " + std::to_string(plan.device_slots) + " × " + mebibytes(plan.device_slot_bytes);
    if (plan.landing_bytes != 0) text += " + passing " + mebibytes(plan.landing_bytes);
    if (plan.cache_bytes != 0) text += " + cached rows " + mebibytes(plan.cache_bytes);
    text += " = " + mebibytes(plan.device_bytes);
  }
  if (plan.placement != placement::stream) {
    text += "; " + std::string{to_string(plan.placement)} + ", " +
            std::to_string(plan.cached_samples) + " samples kept";
  }
  return text + "; " + std::to_string(plan.readers) + (plan.readers == 1 ? " reader" : " readers");
}

}  // namespace feedline
