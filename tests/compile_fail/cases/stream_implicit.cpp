// a pointer does not become a stream unasked
// expect: (explicit|could not convert|no viable conversion).*stream_ref

#include <feedline/device/stream_ref.hpp>

struct CUstream_st;

feedline::stream_ref stream(CUstream_st* handle) {
#ifdef MISUSE
  return handle;
#else
  return feedline::stream_ref{handle};
#endif
}
