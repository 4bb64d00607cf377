#include "base/files/gguf/Gguf.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {
namespace {

constexpr std::uint64_t max_header_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t max_text_bytes = std::uint64_t{16} << 20;
constexpr std::uint64_t max_keys = 4096;
constexpr std::uint64_t max_tensors = 1U << 17;
constexpr std::uint64_t max_elements = std::uint64_t{1} << 24;  // of all lists together
constexpr std::uint32_t max_rank = 4;
constexpr std::uint64_t usual_alignment = 32;
constexpr std::uint64_t max_alignment = 1U << 20;

constexpr std::array<GgufType, 28> stored_types = {
    {{0, "F32", 1, 4},        {1, "F16", 1, 2},       {2, "Q4_0", 32, 18},     {3, "Q4_1", 32, 20},
     {6, "Q5_0", 32, 22},     {7, "Q5_1", 32, 24},    {8, "Q8_0", 32, 34},     {9, "Q8_1", 32, 0},
     {10, "Q2_K", 256, 84},   {11, "Q3_K", 256, 110}, {12, "Q4_K", 256, 144},  {13, "Q5_K", 256, 176},
     {14, "Q6_K", 256, 210},  {15, "Q8_K", 256, 0},   {16, "IQ2_XXS", 256, 0}, {17, "IQ2_XS", 256, 0},
     {18, "IQ3_XXS", 256, 0}, {19, "IQ1_S", 256, 0},  {20, "IQ4_NL", 32, 0},   {21, "IQ3_S", 256, 0},
     {22, "IQ2_S", 256, 0},   {23, "IQ4_XS", 256, 0}, {28, "F64", 1, 0},       {29, "IQ1_M", 256, 0},
     {30, "BF16", 1, 2},      {34, "TQ1_0", 256, 0},  {35, "TQ2_0", 256, 0},   {39, "MXFP4", 32, 0}}};

/// The header from its start to its end, through a window of the file.
class Reader {
 public:
  Reader(const SharedBytes& content, const std::string& name) : content_(content), name_(name) {}

  void refuse_if(bool is_wrong, const std::string& problem, const std::string& why) const {
    base::refuse_if(is_wrong, name_ + ": " + problem, why);
  }
  std::uint64_t position() const { return offset_; }

  template <class Number>
  Number number() {
    Number value{};
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));  // little-endian, as we are
    return value;
  }

  std::string text(const std::string& what) {
    const auto size = number<std::uint64_t>();
    refuse_if(size > max_text_bytes, what + " has " + std::to_string(size) + " bytes",
              "at most " + std::to_string(max_text_bytes) + " are read");
    std::string value(take(size));
    const auto bad = find_invalid_utf8(value);
    refuse_if(bad.has_value(), what + " is no valid UTF-8", "it is text");
    return value;
  }

  Json value(const std::string& key) {
    const auto type = number<std::uint32_t>();
    if (type != list_type) {
      return scalar(type, key);
    }
    const auto inner = number<std::uint32_t>();
    const auto count = number<std::uint64_t>();
    refuse_if(inner == list_type, key + " is a list of lists", "lists hold numbers, flags or texts");
    elements_ += std::min(count, max_elements + 1);
    refuse_if(elements_ > max_elements, key + " has " + std::to_string(count) + " elements",
              "lists of at most " + std::to_string(max_elements) + " in all are read");
    Json list = Json::array();
    for (std::uint64_t i = 0; i < count; ++i) {
      list.push_back(scalar(inner, key));
    }
    return list;
  }

 private:
  static constexpr std::uint32_t list_type = 9;

  template <class Number>
  Json plain(const std::string& key) {
    const auto value = number<Number>();
    refuse_if(!std::isfinite(static_cast<double>(value)), key + " is NaN or infinite", "a number is needed");
    return value;
  }
  Json flag(const std::string&) { return number<std::uint8_t>() != 0; }
  Json words(const std::string& key) { return text(key); }

  Json scalar(std::uint32_t type, const std::string& key) {
    using Read = Json (Reader::*)(const std::string&);
    constexpr std::array<Read, 13> by_type = {&Reader::plain<std::uint8_t>,
                                              &Reader::plain<std::int8_t>,
                                              &Reader::plain<std::uint16_t>,
                                              &Reader::plain<std::int16_t>,
                                              &Reader::plain<std::uint32_t>,
                                              &Reader::plain<std::int32_t>,
                                              &Reader::plain<float>,
                                              &Reader::flag,
                                              &Reader::words,
                                              nullptr /* a list */,
                                              &Reader::plain<std::uint64_t>,
                                              &Reader::plain<std::int64_t>,
                                              &Reader::plain<double>};
    refuse_if(type >= by_type.size() || by_type[type] == nullptr, key + " has a value of type " + std::to_string(type),
              "the format has types 0 to 12");
    return (this->*by_type[type])(key);
  }

  std::string_view take(std::uint64_t size) {
    refuse_if(size > content_.size() - offset_, "the header is cut short at byte " + std::to_string(offset_),
              "the file has " + std::to_string(content_.size()) + " bytes; is it still being copied?");
    refuse_if(offset_ + size > max_header_bytes,
              "the header has more than " + std::to_string(max_header_bytes) + " bytes", "so much is read at most");
    if (offset_ + size > window_begin_ + window_.size()) {
      window_begin_ = offset_;
      window_.resize(std::min(content_.size() - offset_, std::max<std::uint64_t>(size, 1U << 20)));
      content_.read(offset_, std::as_writable_bytes(std::span(window_)));
    }
    const auto part = std::string_view(window_).substr(offset_ - window_begin_, size);
    offset_ += size;
    return part;
  }

  const SharedBytes& content_;
  const std::string& name_;
  std::uint64_t offset_ = 0;
  std::uint64_t elements_ = 0;
  std::string window_;
  std::uint64_t window_begin_ = 0;
};

/// The offset is counted from the start of the data.
GgufTensor read_tensor(Reader& reader, const std::string& whose) {
  const auto rank = reader.number<std::uint32_t>();
  reader.refuse_if(rank == 0 || rank > max_rank, whose + " has " + std::to_string(rank) + " dimensions",
                   "1 to " + std::to_string(max_rank) + " are known");
  std::vector<std::uint64_t> sizes(rank);
  for (auto& size : sizes) {
    size = reader.number<std::uint64_t>();
  }
  const auto id = reader.number<std::uint32_t>();
  const auto* type = std::ranges::find(stored_types, id, &GgufType::id);
  const auto known = type != stored_types.end();
  reader.refuse_if(!known || type->bytes == 0,
                   whose + " is stored as " + (known ? type->name : "type " + std::to_string(id)),
                   "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1 and Q2_K to Q6_K are read");
  GgufTensor tensor{*type, {}, reader.number<std::uint64_t>(), type->bytes};
  std::uint64_t numbers = 1;
  bool overflows = false;
  for (const auto size : sizes) {
    overflows = overflows || size == 0 || size > INT64_MAX || __builtin_mul_overflow(numbers, size, &numbers);
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(size));
  }
  const auto row = sizes.front();
  reader.refuse_if(overflows || __builtin_mul_overflow(numbers / type->numbers, type->bytes, &tensor.num_bytes),
                   whose + ": the shape is empty or overflows", "its bytes do not fit 64 bits");
  reader.refuse_if(row % type->numbers != 0, whose + " has rows of " + std::to_string(row) + " numbers",
                   std::string(type->name) + " stores blocks of " + std::to_string(type->numbers));
  return tensor;
}

std::uint64_t aligned(std::uint64_t size, std::uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

/// In the order in which the file lists them they follow on each other, each at a multiple of the alignment.
void place_tensors(Gguf& file, const std::vector<std::string>& order, const Reader& reader, std::uint64_t file_bytes) {
  const auto alignment = static_cast<std::uint64_t>(file["general.alignment"].size_or(usual_alignment, 0));
  reader.refuse_if(alignment == 0 || alignment > max_alignment || (alignment & (alignment - 1)) != 0,
                   "general.alignment is " + std::to_string(alignment), "a power of two up to 2^20 is needed");
  const auto begin = aligned(reader.position(), alignment);
  std::uint64_t reached = 0;
  for (const auto& name : order) {
    auto& tensor = file.tensors.at(name);
    const auto whose = "tensor " + json_quote(name);
    reader.refuse_if(
        tensor.offset != reached,
        whose + " begins at " + std::to_string(tensor.offset) + " of the data, expected at " + std::to_string(reached),
        "tensors may neither overlap nor leave holes");
    reader.refuse_if(
        begin > file_bytes || reached > file_bytes - begin || tensor.num_bytes > file_bytes - begin - reached,
        whose + " ends behind the end of the file", "is it cut short?");
    tensor.offset += begin;
    reached = aligned(reached + tensor.num_bytes, alignment);
  }
  reader.refuse_if(file_bytes > begin + reached,
                   std::to_string(file_bytes - begin - reached) + " bytes after the last tensor",
                   "they belong to no tensor");
}

}  // namespace

std::string Gguf::types() const {
  std::map<std::string, std::size_t> counts;
  for (const auto& [tensor, stored] : tensors) {
    ++counts[stored.type.name];
  }
  std::vector<std::pair<std::string, std::size_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& row) { return row.second; });
  return join(mapped(rows, [](const auto& row) { return std::to_string(row.second) + " " + row.first; }), ", ");
}

Gguf read_gguf(const SharedBytes& content, const std::string& name) {
  Reader reader(content, name);
  constexpr std::uint32_t magic = 0x46554747;  // "GGUF"
  reader.refuse_if(content.size() < 24 || reader.number<std::uint32_t>() != magic, "is no GGUF file",
                   "it does not begin with the letters GGUF");
  const auto version = reader.number<std::uint32_t>();
  reader.refuse_if(version != 2 && version != 3, "version " + std::to_string(version), "versions 2 and 3 are read");
  const auto num_tensors = reader.number<std::uint64_t>();
  const auto num_keys = reader.number<std::uint64_t>();
  reader.refuse_if(num_tensors > max_tensors || num_keys > max_keys,
                   std::to_string(num_tensors) + " tensors and " + std::to_string(num_keys) + " keys are announced",
                   "at most " + std::to_string(max_tensors) + " and " + std::to_string(max_keys) + " are read");
  Gguf file{{name}, {}};
  std::map<std::string, Json> keys;
  for (std::uint64_t i = 0; i < num_keys; ++i) {
    const auto key = reader.text("a key");
    reader.refuse_if(!keys.emplace(key, reader.value(key)).second, "the key " + json_quote(key) + " is there twice",
                     "one of them would be ignored");
  }
  for (auto& [key, value] : keys) {
    file.metadata.root[key] = std::move(value);
  }
  const auto parts = file["split.count"].size_or(1, 0);
  reader.refuse_if(parts > 1, "one of " + std::to_string(parts) + " parts of a model",
                   "merge them first: llama-gguf-split --merge FIRST_PART MERGED");
  std::vector<std::string> order;
  for (std::uint64_t i = 0; i < num_tensors; ++i) {
    order.push_back(reader.text("the name of a tensor"));
    const auto whose = "tensor " + json_quote(order.back());
    reader.refuse_if(!file.tensors.emplace(order.back(), read_tensor(reader, whose)).second, whose + " is there twice",
                     "one of them would be ignored");
  }
  place_tensors(file, order, reader, content.size());
  return file;
}

}  // namespace stereosweep::base
