#pragma once

#include <nvtx3/nvToolsExt.h>

namespace feedline::detail {

/// Named ranges of threads in Nsight Systems, in the domain "feedline", by NVTX (headers only).
/// Ranges of a domain do not mix with those of the user's program.
///
/// Without a profiler there is no domain, and a range costs one comparison.
class profiler_ranges {
 public:
  profiler_ranges() noexcept : domain_{nvtxDomainCreateA("feedline")} {}
  profiler_ranges(const profiler_ranges&) = delete;
  profiler_ranges& operator=(const profiler_ranges&) = delete;
  ~profiler_ranges() {
    if (domain_ != nullptr) nvtxDomainDestroy(domain_);
  }

  void begin(const char* name) const noexcept {
    if (domain_ == nullptr) return;
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    (void)nvtxDomainRangePushEx(domain_, &attributes);
  }
  void end() const noexcept {
    if (domain_ != nullptr) (void)nvtxDomainRangePop(domain_);
  }

 private:
  nvtxDomainHandle_t domain_;
};

}  // namespace feedline::detail
