#include "cuda/decode/jpeg/nvjpeg.hpp"

#include <dlfcn.h>

namespace feedline::detail {
namespace {

constexpr int hardware_device_backend = 5;  // NVJPEG_BACKEND_HARDWARE_DEVICE
constexpr int interleaved_rgb = 5;          // NVJPEG_OUTPUT_RGBI

template <class Function>
bool find(void* library, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

bool load(nvjpeg_library& functions) noexcept {
  for (const char* name : {"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so"}) {
    void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    if (find(library, "nvjpegCreateEx", functions.create) &&
        find(library, "nvjpegDestroy", functions.destroy) &&
        find(library, "nvjpegJpegStateCreate", functions.create_state) &&
        find(library, "nvjpegJpegStateDestroy", functions.destroy_state) &&
        find(library, "nvjpegDecodeBatchedInitialize", functions.begin_batch) &&
        find(library, "nvjpegDecodeBatched", functions.decode_batch))
      return true;
    ::dlclose(library);
  }
  return false;
}

}  // namespace

const nvjpeg_library* nvjpeg_library::get() noexcept {
  static nvjpeg_library functions{};
  static const bool is_loaded = load(functions);
  return is_loaded ? &functions : nullptr;
}

jpeg_engines::jpeg_engines() noexcept : library_{nvjpeg_library::get()} {
  if (library_ == nullptr) {
    refusal_ = "this machine has no nvJPEG";
    return;
  }
  if (library_->create(hardware_device_backend, nullptr, nullptr, 0, &handle_) != 0) {
    handle_ = nullptr;
    refusal_ = "this GPU has no JPEG engine";
  } else if (library_->create_state(handle_, &state_) != 0) {
    state_ = nullptr;
    refusal_ = "nvJPEG makes no decoder";
  }
}

jpeg_engines::~jpeg_engines() {
  if (state_ != nullptr) (void)library_->destroy_state(state_);
  if (handle_ != nullptr) (void)library_->destroy(handle_);
}

bool jpeg_engines::decode(std::span<const unsigned char* const> files,
                          std::span<const std::size_t> bytes, std::span<nvjpeg_image> images,
                          cudaStream_t stream) noexcept {
  if (batch_ != files.size()) {
    batch_ = 0;
    if (library_->begin_batch(handle_, state_, static_cast<int>(files.size()), 1,
                              interleaved_rgb) != 0)
      return false;
    batch_ = files.size();
  }
  const bool done = library_->decode_batch(handle_, state_, files.data(), bytes.data(),
                                           images.data(), stream) == 0;
  if (!done) batch_ = 0;
  return done;
}

}  // namespace feedline::detail
