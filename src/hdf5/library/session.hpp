#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>

namespace feedline::detail {

/// The process-wide lock around every call of the HDF5 library, which is not safe, and at best not
/// faster, on several threads. While a session exists, the library prints no errors on this thread;
/// afterwards the thread's own setting is restored. (If the library is built for threads, each
/// thread has its own.)
///
/// Functions that call the library take a session by reference, so that they cannot be called
/// without one. Not recursive: a thread has one at a time.
class hdf5_session {
 public:
  hdf5_session();
  hdf5_session(const hdf5_session&) = delete;
  hdf5_session& operator=(const hdf5_session&) = delete;
  ~hdf5_session();

  /// The library's message about the session's last failed call: the innermost one of the error
  /// stack, which names the cause rather than the caller. If it is about a version that the library
  /// does not know, the text also says what that means. Calls that succeed do not clear it.
  [[nodiscard]] std::string last_message() const;

  /// Sets a better reason than the library's own for the failure of the call that this thread is
  /// in; the first one is kept. Empty: clears it. Does nothing outside of a session.
  static void explain(std::string words) noexcept;

  /// Whether the calling thread has one.
  [[nodiscard]] static bool is_held() noexcept;

 private:
  static herr_t record_failure(hid_t stack, void* session) noexcept;

  std::unique_lock<std::mutex> lock_;
  mutable std::string message_ = {};  ///< set while others hold the session as const
  std::string explanation_ = {};      ///< reason for the call that fails next
  H5E_auto2_t printer_ = nullptr;
#ifndef H5_NO_DEPRECATED_SYMBOLS
  H5E_auto1_t printer_v1_ = nullptr;  ///< setting of a user of the library's older interface
#endif
  void* printer_data_ = nullptr;
};

}  // namespace feedline::detail
