#include "programs/words/failure.hpp"

#include <feedline/error.hpp>

#include <exception>
#include <new>

namespace programs {
namespace {

struct told {
  int code;
  std::string what;
};

told tell(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const feedline::stage_error& error) {
    return {failed, tell(error.cause()).what};
  } catch (const feedline::usage_error& error) {
    return {wrong_usage, error.what()};
  } catch (const std::bad_alloc&) {
    return {failed, "there is no memory left"};
  } catch (const std::exception& error) {
    return {failed, error.what()};
  } catch (...) {
    return {failed, "an exception that is no std::exception"};
  }
}

}  // namespace

failure current_failure(program speaker) {
  const told why = tell(std::current_exception());
  return {why.code, std::string{name_of(speaker)} + ": " + in_words_of(speaker, why.what)};
}

}  // namespace programs
