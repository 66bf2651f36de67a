// a dataset that reads another one cannot forget the context
// expect: no matching (member )?function.*read

#include <feedline/feedline.hpp>

void forward(const feedline::dataset& other, const feedline::read_request& request) {
#ifdef MISUSE
  other.read({request.samples, request.out});
#else
  other.read({request.samples, request.out, request.context});
#endif
}
