// a pointer to numbers is no stream
// expect: no matching.*stream_ref

#include <feedline/device/stream_ref.hpp>

struct opaque_stream;

feedline::stream_ref stream(opaque_stream* handle, float* numbers) {
#ifdef MISUSE
  static_cast<void>(handle);
  return feedline::stream_ref{numbers};
#else
  static_cast<void>(numbers);
  return feedline::stream_ref{handle};
#endif
}
