// a stream cannot be spelled nullptr
// expect: deleted (function|constructor).*stream_ref

#include <feedline/device/stream_ref.hpp>

feedline::stream_ref stream() {
#ifdef MISUSE
  return feedline::stream_ref{nullptr};
#else
  return feedline::stream_ref{};
#endif
}
