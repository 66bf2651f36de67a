// a pointer to numbers is no stream
// expect: no matching.*stream_ref

#include <feedline/device/stream_ref.hpp>

struct CUstream_st;

feedline::stream_ref stream(CUstream_st* handle, float* numbers) {
#ifdef MISUSE
  static_cast<void>(handle);
  return feedline::stream_ref{numbers};
#else
  static_cast<void>(numbers);
  return feedline::stream_ref{handle};
#endif
}
