// a stream cannot be spelled 0
// expect: deleted (function|constructor).*stream_ref

#include <feedline/device/stream_ref.hpp>

feedline::stream_ref zero_stream() {
#ifdef MISUSE
  return feedline::stream_ref{0};
#else
  return feedline::stream_ref{};
#endif
}
