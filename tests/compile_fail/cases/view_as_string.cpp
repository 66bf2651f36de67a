// a field cannot be read as a type that no element has
// expect: no matching (member )?function for call to .*data

#include <feedline/batch/tensor_view.hpp>

#include <string>

const void* first(const feedline::tensor_view& view) {
#ifdef MISUSE
  return view.data<std::string>();
#else
  return view.data<float>();
#endif
}
