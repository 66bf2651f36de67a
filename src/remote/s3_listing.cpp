#include "remote/s3_listing.hpp"

#include "remote/request/percent.hpp"

#include <charconv>
#include <new>
#include <stdexcept>

#include <pugixml.hpp>

namespace feedline::detail {
namespace {

// A page has 1,000 keys of up to 1,024 bytes, each of them three characters if it is encoded. The
// parsed document takes some twenty times the bytes of the worst text.
constexpr std::size_t max_bytes = std::size_t{8} << 20;

/// Whitespace is kept where an element has nothing else: it may name an object. A document type is
/// only looked for; pugixml defines no entity by it.
constexpr unsigned how_to_parse =
    pugi::parse_default | pugi::parse_ws_pcdata_single | pugi::parse_doctype;

std::string text_of(const pugi::xml_node& element) {
  std::string text;
  for (const pugi::xml_node part : element.children())
    if (part.type() == pugi::node_pcdata || part.type() == pugi::node_cdata) text += part.value();
  return text;
}

std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The list itself. @throws std::runtime_error if the document is something else.
pugi::xml_node root_of(const pugi::xml_document& document) {
  for (const pugi::xml_node each : document.children())
    if (each.type() == pugi::node_doctype)
      throw std::runtime_error{"the list has a document type, which S3's lists do not"};
  const pugi::xml_node root = document.document_element();
  if (std::string_view{root.name()} != "ListBucketResult")
    throw std::runtime_error{"the answer is not a list of objects"};
  for (pugi::xml_node more = root.next_sibling(); more; more = more.next_sibling())
    if (more.type() == pugi::node_element)
      throw std::runtime_error{"the list is not well-formed: something follows it"};
  return root;
}

}  // namespace

s3_page read_s3_page(std::string_view xml) {
  if (xml.size() > max_bytes) throw std::runtime_error{"the list is too long"};
  if (xml.find('\0') != std::string_view::npos)
    throw std::runtime_error{"the list is not well-formed: it has a byte of zero"};
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), how_to_parse, pugi::encoding_utf8);
  if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc{};
  if (!parsed)
    throw std::runtime_error{std::string{"the list is not well-formed: "} + parsed.description() +
                             ", at byte " + std::to_string(parsed.offset)};
  const pugi::xml_node root = root_of(document);

  s3_page page;
  for (const pugi::xml_node object : root.children("Contents")) {
    const pugi::xml_node key = object.child("Key");
    if (!key) throw std::runtime_error{"the list has an object without a key"};
    page.objects.push_back(text_of(key));
    page.bytes.push_back(number_of(text_of(object.child("Size"))));
  }
  for (const pugi::xml_node folder : root.children("CommonPrefixes"))
    for (const pugi::xml_node prefix : folder.children("Prefix"))
      page.folders.push_back(text_of(prefix));
  if (text_of(root.child("EncodingType")) == "url")
    for (auto* names : {&page.objects, &page.folders})
      for (std::string& name : *names) name = decoded(name);
  page.is_truncated = text_of(root.child("IsTruncated")) == "true";
  page.next = text_of(root.child("NextContinuationToken"));
  if (page.is_truncated && page.next.empty())
    throw std::runtime_error{"the list is truncated, and does not say how it continues"};
  return page;
}

}  // namespace feedline::detail
