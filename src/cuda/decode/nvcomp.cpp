#include "cuda/decode/nvcomp.hpp"

#include <feedline/error.hpp>

#include "detail/log.hpp"

#ifdef FEEDLINE_HAS_NVCOMP
#include <algorithm>

#include <dlfcn.h>
#include <nvcomp/deflate.h>
#include <nvcomp/zstd.h>
#endif

namespace feedline::detail {

const nvcomp& nvcomp::get() {
  static const nvcomp library;
  return library;
}

#ifdef FEEDLINE_HAS_NVCOMP

namespace {

#define FEEDLINE_TEXT_OF(value) #value
#define FEEDLINE_TEXT(value) FEEDLINE_TEXT_OF(value)
constexpr const char* file_name = "libnvcomp.so." FEEDLINE_TEXT(NVCOMP_VER_MAJOR);

/// What is called, once it is loaded.
struct entry_points {
  decltype(&nvcompGetProperties) properties = nullptr;
  decltype(&nvcompGetStatusString) status_text = nullptr;
  decltype(&nvcompBatchedDeflateDecompressGetTempSize) deflate_bytes = nullptr;
  decltype(&nvcompBatchedDeflateDecompressAsync) inflate = nullptr;
  decltype(&nvcompBatchedZstdDecompressGetTempSize) zstd_bytes = nullptr;
  decltype(&nvcompBatchedZstdDecompressAsync) decode_zstd = nullptr;
};
entry_points calls;  // NOLINT: written once, by nvcomp's constructor

nvcompBatchedDeflateDecompressOpts_t deflate_options() noexcept {
  auto options = nvcompBatchedDeflateDecompressDefaultOpts;
  options.backend = NVCOMP_DECOMPRESS_BACKEND_CUDA;
  return options;
}

nvcompBatchedZstdDecompressOpts_t zstd_options() noexcept {
  auto options = nvcompBatchedZstdDecompressDefaultOpts;
  options.backend = NVCOMP_DECOMPRESS_BACKEND_CUDA;
  return options;
}

void check(nvcompStatus_t status, const char* what) {
  if (status == nvcompSuccess) return;
  const char* const text = calls.status_text(status);
  throw device_error{std::string{"nvCOMP refuses "} + what + ": " +
                     (text != nullptr ? text : "status") + " (" +
                     std::to_string(static_cast<int>(status)) + ")"};
}

/// @return Why it cannot be used; or empty.
std::string load() {
  void* const library = ::dlopen(file_name, RTLD_NOW | RTLD_LOCAL);  // for good
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return std::string{"nvCOMP cannot be loaded ("} + (reason != nullptr ? reason : file_name) +
           "): install the wheel nvidia-libnvcomp-cu" + std::to_string(CUDART_VERSION / 1000) +
           ", and put its folder lib64 on LD_LIBRARY_PATH";
  }
  std::string missing;
  const auto take = [&]<class Call>(Call& call, const char* name) {
    call = reinterpret_cast<Call>(::dlsym(library, name));
    if (call == nullptr && missing.empty()) missing = name;
  };
  take(calls.properties, "nvcompGetProperties");
  take(calls.status_text, "nvcompGetStatusString");
  take(calls.deflate_bytes, "nvcompBatchedDeflateDecompressGetTempSize");
  take(calls.inflate, "nvcompBatchedDeflateDecompressAsync");
  take(calls.zstd_bytes, "nvcompBatchedZstdDecompressGetTempSize");
  take(calls.decode_zstd, "nvcompBatchedZstdDecompressAsync");
  nvcompProperties_t properties{};
  if (missing.empty() && calls.properties(&properties) != nvcompSuccess)
    missing = "nvcompGetProperties";
  if (!missing.empty())
    return std::string{file_name} + " has no " + missing + " that feedline could use: install " +
           "the nvCOMP that feedline was built with, " FEEDLINE_TEXT(NVCOMP_VER_MAJOR) "." +
           FEEDLINE_TEXT(NVCOMP_VER_MINOR);
  const auto version = properties.version;
  log()->info("nvCOMP {}.{}.{} ({}) decodes deflate and zstd on the GPU", version / 1000,
              version % 1000 / 100, version % 100, file_name);
  return {};
}

}  // namespace

nvcomp::nvcomp() : refusal_{load()} {}

std::size_t nvcomp::temporary_bytes(const codec_sizes& sizes, std::size_t max_loads) const {
  if (sizes.inflated + sizes.unzstd == 0) return 0;
  if (!refusal_.empty()) throw device_error{refusal_};
  std::size_t most = 0;
  std::size_t bytes = 0;
  if (sizes.inflated > 0) {
    check(calls.deflate_bytes(max_loads, sizes.inflated, deflate_options(), &bytes,
                              max_loads * sizes.inflated, nullptr),
          "to say how much memory deflate needs");
    most = std::max(most, bytes);
  }
  if (sizes.unzstd > 0) {
    check(calls.zstd_bytes(max_loads, sizes.unzstd, zstd_options(), &bytes,
                           max_loads * sizes.unzstd, nullptr),
          "to say how much memory zstd needs");
    most = std::max(most, bytes);
  }
  return most;
}

void nvcomp::decode(decode_operation step, const codec_batch& batch, std::uint32_t entries,
                    std::byte* temporary, std::size_t temporary_bytes, cudaStream_t stream) const {
  static_assert(sizeof(nvcompStatus_t) == sizeof(std::int32_t));
  auto* const status = reinterpret_cast<nvcompStatus_t*>(batch.status);
  if (step == decode_operation::inflate) {
    check(calls.inflate(batch.from, batch.from_bytes, batch.to_bytes, batch.decoded_bytes, entries,
                        temporary, temporary_bytes, batch.to, deflate_options(), status, stream),
          "to decode deflate");
  } else {
    check(calls.decode_zstd(batch.from, batch.from_bytes, batch.to_bytes, batch.decoded_bytes,
                            entries, temporary, temporary_bytes, batch.to, zstd_options(), status,
                            stream),
          "to decode zstd");
  }
}

#else

nvcomp::nvcomp()
    : refusal_{"feedline was built without nvCOMP: install the wheel nvidia-libnvcomp-cu" +
               std::to_string(CUDART_VERSION / 1000) +
               ", and build feedline with nvcomp_ROOT, its folder nvidia/libnvcomp"} {}

std::size_t nvcomp::temporary_bytes(const codec_sizes& sizes, std::size_t) const {
  if (sizes.inflated + sizes.unzstd == 0) return 0;
  throw device_error{refusal_};
}

void nvcomp::decode(decode_operation, const codec_batch&, std::uint32_t, std::byte*, std::size_t,
                    cudaStream_t) const {
  throw device_error{refusal_};
}

#endif

}  // namespace feedline::detail
