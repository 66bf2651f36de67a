#include <feedline/error.hpp>

#include "detail/printable.hpp"

#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

std::string describe(const dataset_location& where, std::string_view message) {
  std::string text;
  if (!where.path.empty()) text += detail::path_without_secrets(where.path) + ": ";
  std::string place;
  const auto append = [&place](const std::string& part) {
    if (!place.empty()) place += ", ";
    place += part;
  };
  if (!where.field.empty()) append("field '" + where.field + "'");
  if (where.sample) append("sample " + std::to_string(*where.sample));
  if (where.offset) append("byte " + std::to_string(*where.offset));
  if (!place.empty()) text += place + ": ";
  return detail::printable(text.append(message));  // names out of files are among it
}

dataset_location shown(dataset_location where) {
  where.path = detail::path_without_secrets(where.path);
  return where;
}

std::string message_of(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

std::string describe(const stage_location& where, const std::exception_ptr& cause) {
  std::string text = "the " + std::string{to_string(where.stage)} + " stage failed in epoch " +
                     std::to_string(where.epoch) + ", batch " + std::to_string(where.batch);
  return text + ": " + message_of(cause);
}

}  // namespace

std::string_view to_string(memory_kind kind) noexcept {
  return kind == memory_kind::staging ? "staging" : "device";
}

std::string_view to_string(stage stage) noexcept {
  switch (stage) {
    case stage::reader:
      return "reader";
    case stage::staging:
      return "staging";
    case stage::transfer:
      return "transfer";
    case stage::batch:
      return "batch";
    case stage::results:
      return "results";
  }
  return "unknown";
}

dataset_error::dataset_error(dataset_location where, std::string_view message)
    : error{describe(where, message)},
      where_{shown(std::move(where))},
      message_{detail::without_secrets(message)} {}

stage_error::stage_error(stage_location where, std::exception_ptr cause)
    : error{describe(where, cause)}, where_{std::move(where)}, cause_{std::move(cause)} {}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
