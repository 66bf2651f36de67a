// a dataset that reads another one cannot forget its turn
// expect: do_read.*private

#include <feedline/feedline.hpp>

void read_next(const feedline::dataset& other, const feedline::read_request& request) {
#ifdef MISUSE
  other.do_read(request);
#else
  other.read(request);
#endif
}
