#ifdef FEEDLINE_HAS_JSON

#include "formats/zarr/attributes.hpp"
#include "formats/zarr/codec_config.hpp"
#include "formats/zarr/data_type.hpp"
#include "formats/zarr/metadata.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

/// An extension: a name, or an object of a name and a configuration.
class extension {
 public:
  extension(const zarr_json& value, const file_field& where, const std::string& what)
      : name_{name_of(value, where, what)},
        config_{config_of(value), where, what + " '" + name_ + '\''} {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const zarr_members& config() const noexcept { return config_; }

 private:
  static std::string name_of(const zarr_json& value, const file_field& where,
                             const std::string& what) {
    if (value.is_string()) return value.get<std::string>();
    return zarr_members{value, where, what}.text("name");
  }
  static const zarr_json& config_of(const zarr_json& value) {
    static const zarr_json empty = zarr_json::object();
    if (!value.is_object()) return empty;
    const auto found = value.find("configuration");
    return found == value.end() || found->is_null() ? empty : *found;
  }

  std::string name_;
  zarr_members config_;
};

bool read_endian(const extension& bytes, std::size_t part_bytes) {
  const zarr_json* const endian = bytes.config().find("endian");
  if (endian == nullptr || endian->is_null()) {
    if (part_bytes > 1) bytes.config().refuse("has no \"endian\"");
    return false;
  }
  const std::string order = bytes.config().text("endian");
  if (order != "little" && order != "big")
    bytes.config().refuse_member("endian", "\"little\" or \"big\"");
  return order == "big";
}

/// The codecs of an array, and the parts of the array that they say.
class codec_list {
 public:
  codec_list(zarr_array& array, const zarr_members& from) : array_{array}, from_{from} {}

  void read(const zarr_members& of, const char* name) {
    for (const extension& codec : list(of, name)) {
      if (codec.name() == "sharding_indexed" && !in_shard_)
        read_shards(codec);
      else
        read_one(codec);
    }
  }

  /// @throws dataset_error if no codec makes bytes of the array.
  void finish() {
    if (!has_bytes_) from_.refuse("has no codec 'bytes', so nothing says how numbers are stored");
    array_.codecs = zarr_codecs{std::move(codecs_)};
    finish_array(array_, is_big_endian_, from_);
  }

 private:
  [[nodiscard]] std::vector<extension> list(const zarr_members& of, const char* name) const {
    const zarr_json& value = of.at(name);
    if (!value.is_array()) of.refuse_member(name, "a list of codecs");
    if (value.size() > max_codecs)
      of.refuse("has " + std::to_string(value.size()) + " codecs, and " +
                std::to_string(max_codecs) + " are the most");
    std::vector<extension> all;
    for (const zarr_json& each : value) all.emplace_back(each, of.where(), "the codec");
    return all;
  }

  void read_one(const extension& codec) {
    if (array_.shards && !in_shard_)
      codec.config().refuse(
          "comes after the shards, which would have to be decoded whole; write the array with this "
          "codec within its shards");
    if (codec.name() == "transpose") return read_transpose(codec);
    if (codec.name() == "bytes" || codec.name() == "endian") {
      if (has_bytes_) codec.config().refuse("stands twice");
      has_bytes_ = true;
      is_big_endian_ = read_endian(codec, size_bytes(array_.type.type));
      const bool is_typed = !codecs_.empty();
      if (is_typed && is_big_endian_)
        codec.config().refuse(
            "stores big-endian numbers after '" + codecs_.back().name +
            "', which feedline does not undo; write the array with endian \"little\"");
      return;
    }
    const auto parsed = parse_codec(codec.name(), codec.config(), array_.type.bytes());
    const std::string& name = codec.name();
    const bool is_of_numbers = name.ends_with("delta") || name.ends_with("fixedscaleoffset") ||
                               name.ends_with("bitround") || name.ends_with("quantize");
    if (is_of_numbers == has_bytes_)
      codec.config().refuse(has_bytes_ ? "is for numbers, and comes after the codec 'bytes'"
                                       : "is for bytes, and comes before the codec 'bytes'");
    if (is_of_numbers && !array_.order.empty())
      codec.config().refuse(
          "comes with the codec 'transpose', which feedline does not undo together; write the "
          "array without one of them");
    if (parsed) codecs_.push_back(*parsed);
  }

  void read_transpose(const extension& codec) {
    if (has_bytes_) codec.config().refuse("comes after the codec 'bytes'");
    if (!codecs_.empty())
      codec.config().refuse("comes after '" + codecs_.back().name +
                            "', which feedline does not undo together; write the array without "
                            "one of them");
    const std::size_t rank = array_.shape.size();
    std::vector<std::size_t> order(rank);
    if (const zarr_json& named = codec.config().at("order"); named == "C" || named == "F") {
      for (std::size_t i = 0; i < rank; ++i) order[i] = named == "F" ? rank - 1 - i : i;
    } else {
      const auto given = codec.config().wholes("order");
      std::vector<bool> seen(rank, false);
      bool is_good = given.size() == rank;
      for (std::size_t i = 0; is_good && i < rank; ++i) {
        is_good = given[i] < rank && !seen[given[i]];
        if (is_good) seen[given[i]] = true;
      }
      if (!is_good)
        codec.config().refuse_member("order",
                                     "the array's " + std::to_string(rank) + " axes, each once");
      for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::size_t>(given[i]);
    }
    // Axis i of the result is axis order[i] of what was there before.
    if (!array_.order.empty())
      for (std::size_t& axis : order) axis = array_.order[axis];
    array_.order = std::move(order);
  }

  void read_shards(const extension& codec) {
    const zarr_members& config = codec.config();
    if (array_.shards || has_bytes_ || !array_.order.empty() || !codecs_.empty())
      config.refuse("is not the array's first codec, as feedline needs it");
    zarr_shards shards{.shape = std::move(array_.chunk)};
    array_.chunk = config.extents("chunk_shape");
    bool fits = array_.chunk.size() == shards.shape.size();
    for (std::size_t i = 0; fits && i < shards.shape.size(); ++i)
      fits = shards.shape[i] % array_.chunk[i] == 0;
    if (!fits) config.refuse_member("chunk_shape", "extents that divide the shard's");
    if (const zarr_json* const place = config.find("index_location"); place != nullptr) {
      if (*place != "start" && *place != "end")
        config.refuse_member("index_location", "\"start\" or \"end\"");
      shards.index_at_end = *place == "end";
    }
    shards.index_has_crc32c = false;
    bool has_bytes = false;
    for (const extension& each : list(config, "index_codecs")) {
      if (each.name() == "bytes" && !has_bytes) {
        shards.index_big_endian = read_endian(each, 8);
        has_bytes = true;
      } else if (each.name() == "crc32c" && has_bytes && !shards.index_has_crc32c) {
        shards.index_has_crc32c = true;
      } else {
        each.config().refuse(
            "is in the codecs of a shard's index, where feedline knows 'bytes' and 'crc32c', in "
            "this order; write the array with these, which are the default");
      }
    }
    if (!has_bytes) config.refuse_member("index_codecs", "the codec 'bytes'");
    array_.shards = std::move(shards);
    in_shard_ = true;
    read(config, "codecs");
    in_shard_ = false;
  }

  zarr_array& array_;
  const zarr_members& from_;
  std::vector<zarr_codec> codecs_ = {};
  bool has_bytes_ = false;
  bool is_big_endian_ = false;
  bool in_shard_ = false;
};

/// @throws dataset_error if there is a member that readers must understand, and feedline does not.
void require_known_members(const zarr_members& from) {
  constexpr std::array<std::string_view, 11> known{
      "zarr_format",        "node_type",  "shape",  "data_type",  "chunk_grid",
      "chunk_key_encoding", "fill_value", "codecs", "attributes", "storage_transformers",
      "dimension_names"};
  for (const auto& [name, value] : from.object().items()) {
    if (std::ranges::find(known, name) != known.end() || name == "consolidated_metadata") continue;
    const bool may_ignore =
        value.is_object() && value.value("must_understand", zarr_json(true)) == zarr_json(false);
    if (!may_ignore)
      from.refuse_member(name.c_str(),
                         "no member of this name: feedline does not know it; write "
                         "the array without this extension");
  }
  if (const zarr_json* const transformers = from.find("storage_transformers");
      transformers != nullptr && !(transformers->is_array() && transformers->empty()))
    from.refuse_member("storage_transformers", "none: feedline knows none");
}

}  // namespace

zarr_array parse_v3_array(const zarr_json& document, std::string path, const file_field& where) {
  const zarr_members from{document, where, "the array's metadata"};
  if (from.whole("zarr_format") != 3) from.refuse_member("zarr_format", "3");
  require_known_members(from);
  zarr_array array;
  array.path = std::move(path);
  array.shape = from.wholes("shape");
  array.type = parse_v3_type(from.at("data_type"), from);
  array.fill = parse_fill(from.at("fill_value"), array.type, from);
  const extension grid{from.at("chunk_grid"), where, "the chunk grid"};
  if (grid.name() != "regular")
    grid.config().refuse(
        "is not 'regular', the only one that feedline knows; write the array "
        "with chunks of one shape");
  array.chunk = grid.config().extents("chunk_shape");
  const extension keys{from.at("chunk_key_encoding"), where, "the chunk key encoding"};
  if (keys.name() != "default" && keys.name() != "v2")
    keys.config().refuse("is neither 'default' nor 'v2', which feedline knows");
  std::string separator = keys.name() == "default" ? "/" : ".";
  if (keys.config().find("separator") != nullptr) separator = keys.config().text("separator");
  if (separator != "." && separator != "/")
    keys.config().refuse_member("separator", "\".\" or \"/\"");
  array.keys = {.separator = separator.front(), .has_prefix = keys.name() == "default"};
  array.dimension_names = dimension_names(from.find("dimension_names"), array.shape.size());
  codec_list codecs{array, from};
  codecs.read(from, "codecs");
  codecs.finish();
  array.packing = packing_attributes(from.find("attributes"), array, false);
  array.units = units_attribute(from.find("attributes"));
  return array;
}

}  // namespace feedline::detail

#endif
