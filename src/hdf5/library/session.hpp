#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>

namespace feedline::detail {

/// The process-wide lock around every call of the HDF5 library, which is not safe, and at best not
/// faster, on several threads. While one lives the library prints no errors on this thread, whose
/// own setting, which every thread has where the library is built for threads, is restored after.
///
/// Functions that call the library take a session by reference, so that none can be called without.
/// Not recursive: a thread has one at a time.
class hdf5_session {
 public:
  hdf5_session();
  hdf5_session(const hdf5_session&) = delete;
  hdf5_session& operator=(const hdf5_session&) = delete;
  ~hdf5_session();

  /// What the library said of the session's last failed call: the innermost message of the error
  /// stack, which names the cause rather than the caller; of a version that the library does not
  /// know also what that means. Calls that succeed do not clear it.
  [[nodiscard]] std::string last_message() const;

  /// Words for why the call fails that this thread is in, better than the library's own: the first
  /// count. Empty: forgets them. Nothing happens outside of a session.
  static void explain(std::string words) noexcept;

 private:
  static herr_t record_failure(hid_t stack, void* session) noexcept;

  std::unique_lock<std::mutex> lock_;
  mutable std::string message_ = {};  ///< recorded while others hold the session as const
  std::string explanation_ = {};      ///< of the call that fails next
  H5E_auto2_t printer_ = nullptr;
#ifndef H5_NO_DEPRECATED_SYMBOLS
  H5E_auto1_t printer_v1_ = nullptr;  ///< of a user who set it by the library's older interface
#endif
  void* printer_data_ = nullptr;
};

}  // namespace feedline::detail
