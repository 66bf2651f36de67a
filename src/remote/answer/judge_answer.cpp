#include "remote/answer/judge_answer.hpp"

#include "detail/printable.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

constexpr std::string_view open_again =
    "; open it again, and keep objects unchanged while they are read";

answer_verdict of(remote_fault fault, std::string words) {
  return {fault, std::move(words)};
}

std::string element(std::string_view xml, std::string_view name) {
  const std::string open = "<" + std::string{name} + ">";
  const std::size_t begin = xml.find(open);
  if (begin == std::string_view::npos) return {};
  xml.remove_prefix(begin + open.size());
  return printable(xml.substr(0, std::min<std::size_t>(xml.find('<'), 200)));
}

/// Empty if the object is the one that was opened.
std::string change(const object_pin& pin, const http_answer& answer) {
  if (!pin.etag.empty() && answer.etag != pin.etag)
    return (answer.etag.empty() ? "has no ETag" : "has the ETag " + answer.etag) +
           " now, and had " + pin.etag + " when it was opened";
  if (pin.has_strong_tag()) return {};
  const bool has_weak_tag = !pin.etag.empty();
  const bool is_dated = !pin.last_modified.empty() && !answer.last_modified.empty();
  if (answer.last_modified != pin.last_modified && (is_dated || !has_weak_tag))
    return "is of " + (answer.last_modified.empty() ? "no date" : answer.last_modified) +
           " now, and was of " + (pin.last_modified.empty() ? "no date" : pin.last_modified) +
           " when it was opened";
  return {};
}

answer_verdict judge_status(const wanted_bytes& wanted, const http_answer& answer) {
  const bool opening = wanted.what != wanted_bytes::kind::range;
  const std::string said = "the server answers " + answer.words();
  switch (answer.status) {
    case 404:
    case 410:
      return opening
                 ? of(remote_fault::missing, said + ": there is no such object; check the address")
                 : of(remote_fault::changed, "was deleted since it was opened (" + answer.words() +
                                                 ")" + std::string{open_again});
    case 412:
      return of(remote_fault::changed,
                "was written again since it was opened (412)" + std::string{open_again});
    case 416:
      if (!opening)
        return of(remote_fault::changed,
                  "has fewer bytes than when it was opened (416)" + std::string{open_again});
      break;
    case 401:
    case 403:
      return of(remote_fault::refused,
                said +
                    ": it gives no access; check the address, the credentials, and whether "
                    "these have expired");
    case 408:
    case 500:
    case 502:
    case 504:
      return of(remote_fault::server_error, said);
    case 429:
    case 503:
      return of(remote_fault::throttled, said);
    case 0:
      return of(remote_fault::garbage, "the server's answer is no HTTP");
    default:
      break;
  }
  if (answer.status >= 300 && answer.status < 400) {
    const std::string to =
        answer.region.empty()
            ? ""
            : "; the bucket is in region " + printable(answer.region) + ": set AWS_REGION to that";
    return of(remote_fault::refused, said + ", a redirect that is not followed" + to);
  }
  return of(remote_fault::refused, said);
}

/// A body that is not the object's bytes as they are stored.
answer_verdict judge_part(const wanted_bytes& wanted, const http_answer& answer) {
  const std::uint64_t want_end = wanted.begin + wanted.bytes;
  const auto& range = *answer.range;
  if (wanted.what == wanted_bytes::kind::opening && !range.total)
    return of(remote_fault::refused,
              "the server does not tell the object's size (Content-Range ends in '*'); serve it "
              "from one that does");
  const std::uint64_t end = wanted.what == wanted_bytes::kind::opening
                                ? std::min(want_end, range.total.value_or(want_end))
                                : want_end;
  if (range.begin != wanted.begin || range.end != end)
    return of(remote_fault::garbage, "the server sends bytes " + std::to_string(range.begin) +
                                         " to " + std::to_string(range.end) + " where " +
                                         std::to_string(wanted.begin) + " to " +
                                         std::to_string(end) + " were asked for");
  if (answer.length && *answer.length != range.end - range.begin)
    return of(remote_fault::garbage, "the server's Content-Length is " +
                                         std::to_string(*answer.length) + " for a range of " +
                                         std::to_string(range.end - range.begin) + " bytes");
  if (wanted.what == wanted_bytes::kind::range && range.total && *range.total != wanted.pin.size)
    return of(remote_fault::changed, "has " + std::to_string(*range.total) +
                                         " bytes now, and had " + std::to_string(wanted.pin.size) +
                                         " when it was opened" + std::string{open_again});
  return {};
}

answer_verdict judge_whole(const wanted_bytes& wanted, const http_answer& answer) {
  const bool fits = answer.length && (wanted.what == wanted_bytes::kind::opening
                                          ? *answer.length <= wanted.bytes
                                          : wanted.begin == 0 && *answer.length == wanted.bytes &&
                                                *answer.length == wanted.pin.size);
  if (fits) return {};
  return of(remote_fault::ignored_range,
            "the server sends the whole object (status 200) where a range was asked for (206); "
            "serve it from one that serves ranges, as nginx, Apache and object stores do, or copy "
            "the file to a local disk");
}

}  // namespace

answer_verdict judge_answer(const wanted_bytes& wanted, const http_answer& answer) {
  if (!answer.garbled.empty())
    return of(remote_fault::garbage, "the server's " + answer.garbled + " makes no sense");
  if (wanted.what == wanted_bytes::kind::text)
    return answer.status == 200 ? answer_verdict{} : judge_status(wanted, answer);
  const bool is_empty = wanted.what == wanted_bytes::kind::opening && answer.status == 416 &&
                        answer.range && answer.range->is_unsatisfied && answer.range->total == 0;
  if (is_empty) return {};
  if (answer.status != 200 && answer.status != 206) return judge_status(wanted, answer);
  if (!answer.encoding.empty())
    return of(remote_fault::refused,
              "the object is sent encoded (Content-Encoding: " + printable(answer.encoding) +
                  "), so its ranges are not those of the file; store it without, or copy the file "
                  "to a local disk");
  if (answer.status == 206 && (!answer.range || answer.range->is_unsatisfied))
    return of(remote_fault::garbage, "the server's answer 206 has no Content-Range of bytes");
  if (wanted.what == wanted_bytes::kind::range)
    if (const std::string differs = change(wanted.pin, answer); !differs.empty())
      return of(remote_fault::changed, printable(differs) + std::string{open_again});
  return answer.status == 206 ? judge_part(wanted, answer) : judge_whole(wanted, answer);
}

std::optional<std::uint64_t> body_bytes(const http_answer& answer) noexcept {
  if (answer.status == 416) return 0;
  if (answer.status == 206 && answer.range) return answer.range->end - answer.range->begin;
  return answer.length;
}

bool has_whole_object(const http_answer& answer) noexcept {
  if (answer.status != 206) return answer.status == 200;
  return answer.range && answer.range->begin == 0 && answer.range->end == answer.range->total;
}

object_pin pin_of(const http_answer& answer) {
  std::uint64_t size = 0;  // with status 416
  if (answer.status == 200) size = answer.length.value_or(0);
  if (answer.status == 206 && answer.range) size = answer.range->total.value_or(0);
  return {size, answer.etag, answer.last_modified};
}

std::string store_words(std::string_view body) {
  const std::string code = element(body, "Code");
  if (code.empty()) return {};
  const std::string message = element(body, "Message");
  return code + (message.empty() ? "" : ": " + message);
}

bool says_empty(std::string_view body) {
  return element(body, "ActualObjectSize") == "0";
}

}  // namespace feedline::detail
