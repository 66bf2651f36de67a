#include "hdf5/library/session.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

/// Not destroyed before datasets that live as long as the program: its destructor does nothing.
constinit std::mutex library_mutex;
constinit hdf5_session* current_session = nullptr;  // the session that holds the mutex
thread_local constinit bool is_held_here = false;

/// Keeps the innermost message, and the first one around it that names a file, if it names none:
/// HDF5 1.14 says only "can't open file" for a file of another storage.
herr_t keep_first(unsigned /*depth*/, const H5E_error2_t* entry, void* kept) noexcept {
  constexpr std::string_view naming = "name = '";
  auto& message = *static_cast<std::string*>(kept);
  try {
    if (entry->desc == nullptr) return 0;
    if (message.empty()) {
      message = entry->desc;
    } else if (message.find(naming) == std::string::npos &&
               std::string_view{entry->desc}.find(naming) != std::string_view::npos) {
      message += std::string{": "} + entry->desc;
    }
  } catch (...) {
    return -1;
  }
  return 0;
}

/// "bad version number for layout message", "wrong fixed array header version", …
bool is_about_unknown_version(const std::string& message) {
  constexpr std::array<std::string_view, 4> beginnings{"bad ", "wrong ", "unknown ", "incorrect "};
  return message.find("version") != std::string::npos &&
         std::ranges::any_of(beginnings, [&](auto begin) { return message.starts_with(begin); });
}

}  // namespace

// Called when a call fails, because closing an id afterwards is a call too, and clears the error
// stack.
herr_t hdf5_session::record_failure(hid_t stack, void* session) noexcept {
  auto& self = *static_cast<hdf5_session*>(session);
  auto& message = self.message_;
  message = std::exchange(self.explanation_, {});
  if (!message.empty()) return 0;
  return H5Ewalk2(stack, H5E_WALK_UPWARD, keep_first, &message);
}

void hdf5_session::explain(std::string words) noexcept {
  if (current_session != nullptr && (words.empty() || current_session->explanation_.empty()))
    current_session->explanation_ = std::move(words);
}

hdf5_session::hdf5_session() : lock_{library_mutex} {
  current_session = this;
  is_held_here = true;
#ifndef H5_NO_DEPRECATED_SYMBOLS
  unsigned is_v2 = 1;
  if (H5Eauto_is_v2(H5E_DEFAULT, &is_v2) >= 0 && is_v2 == 0)
    H5Eget_auto1(&printer_v1_, &printer_data_);
  else
#endif
    H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
  H5Eset_auto2(H5E_DEFAULT, record_failure, this);
}

bool hdf5_session::is_held() noexcept {
  return is_held_here;
}

hdf5_session::~hdf5_session() {
  is_held_here = false;
  current_session = nullptr;
  H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_);
#ifndef H5_NO_DEPRECATED_SYMBOLS
  if (printer_v1_ != nullptr) H5Eset_auto1(printer_v1_, printer_data_);
#endif
}

std::string hdf5_session::last_message() const {
  if (message_.empty()) return "the HDF5 library gives no reason";
  if (!is_about_unknown_version(message_)) return message_;
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return message_ + ", so it was written by a newer HDF5 than this build's (" +
         std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release) +
         "), or is damaged; 'h5repack OLD.h5 NEW.h5' of that newer HDF5 writes a file for older "
         "ones";
}

}  // namespace feedline::detail
