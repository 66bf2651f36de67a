// a pointer to an object that is no stream becomes none
// expect: no matching.*stream_ref

#include <feedline/device/stream_ref.hpp>

struct model {
  int layers = 0;
};
struct other_stream;  // stream of a backend that declares it

template <>
inline constexpr bool feedline::is_stream<other_stream> = true;

feedline::stream_ref stream(model* net, other_stream* handle) {
#ifdef MISUSE
  static_cast<void>(handle);
  return feedline::stream_ref{net};
#else
  static_cast<void>(net);
  return feedline::stream_ref{handle};
#endif
}
