#include "tokenizer/sentencepiece/PieceFile.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::tokenizer {
namespace {

// One protobuf message, field by field, from bytes that may be hostile: every length is checked, nothing is copied.
class ProtobufReader {
 public:
  /// A view: `bytes` outlives it. `where` names file and message in errors.
  ProtobufReader(std::string_view bytes, std::string where) : rest_(bytes), where_(std::move(where)) {}

  /// Reads the next field; false at the end. Throws InputError for what is cut off or no field (groups included).
  bool next() {
    if (rest_.empty()) {
      return false;
    }
    const auto key = read_varint();
    number_ = key >> 3;
    wire_ = static_cast<Wire>(key & 7);
    if (wire_ == Wire::varint) {
      integer_ = read_varint();
      return true;
    }
    if (wire_ == Wire::bytes || wire_ == Wire::fixed64 || wire_ == Wire::fixed32) {
      bytes_ = take(wire_ == Wire::bytes ? read_varint() : wire_ == Wire::fixed64 ? 8 : 4);
      return true;
    }
    refuse("field " + std::to_string(number_) + " has wire type " + std::to_string(key & 7),
           "integers, bytes and fixed numbers are there to be read");
  }
  std::uint64_t number() const { return number_; }  ///< of the field
  /// The field's value. Throw InputError if it is of another wire type.
  std::uint64_t integer() const {
    expect(Wire::varint);
    return integer_;
  }
  bool flag() const { return integer() != 0; }
  float real() const {
    expect(Wire::fixed32);
    float value = 0;
    std::memcpy(&value, bytes_.data(), sizeof value);  // little-endian, as we are
    return value;
  }
  std::string_view bytes() const {
    expect(Wire::bytes);
    return bytes_;
  }

  [[noreturn]] void refuse(const std::string& problem, const std::string& why) const {
    base::refuse(where_ + ": " + problem, why);
  }

 private:
  enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint64_t read_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    refuse("an integer of more than ten bytes", "no protobuf message has one");
  }
  std::string_view take(std::uint64_t length) {
    if (length > rest_.size()) {
      refuse("the message is cut off: " + std::to_string(length) + " bytes needed, " + std::to_string(rest_.size()) +
                 " left",
             "a whole protobuf message is needed");
    }
    const auto taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }
  void expect(Wire wire) const {
    if (wire_ != wire) {
      refuse("field " + std::to_string(number_) + " has wire type " + std::to_string(static_cast<int>(wire_)),
             "type " + std::to_string(static_cast<int>(wire)) + " is needed");
    }
  }

  std::string_view rest_;
  std::string where_;
  std::uint64_t number_ = 0;
  Wire wire_ = Wire::varint;
  std::uint64_t integer_ = 0;
  std::string_view bytes_;
};

constexpr std::size_t max_pieces = std::size_t{1} << 22;  // the largest vocabularies have a quarter of a million

std::string read_text(const ProtobufReader& field) {
  const auto text = field.bytes();
  if (const auto bad = base::find_invalid_utf8(text)) {
    field.refuse("no valid UTF-8 at byte " + std::to_string(*bad) + " of field " + std::to_string(field.number()),
                 "a piece is text");
  }
  return std::string(text);
}

Piece read_piece(std::string_view bytes, const std::string& where) {
  ProtobufReader field(bytes, where);
  Piece piece;
  while (field.next()) {
    if (field.number() == 1) {
      piece.text = read_text(field);
    } else if (field.number() == 2) {
      piece.score = field.real();
      if (!std::isfinite(piece.score)) {
        field.refuse("the score is no finite number", "pieces are compared by it");
      }
    } else if (field.number() == 3) {
      const auto kind = field.integer();
      if (kind < 1 || kind > 6) {
        field.refuse("type " + std::to_string(kind), "types 1 to 6 are known");
      }
      piece.kind = static_cast<Piece::Kind>(kind);
    }
  }
  if (piece.text.empty()) {
    field.refuse("the piece is empty", "it would be found everywhere");
  }
  return piece;
}

void read_training(std::string_view bytes, const std::string& file, PieceFile& out) {
  constexpr std::array<const char*, 5> names = {"", "unigram", "bpe", "word", "char"};
  ProtobufReader field(bytes, file + ":trainer_spec");
  while (field.next()) {
    if (field.number() == 3) {
      const auto type = field.integer();
      if (type != 1 && type != 2) {
        field.refuse("model_type " + (type < names.size() ? names[type] : std::to_string(type)) + " is not supported",
                     "supported here: unigram, bpe");
      }
      out.algorithm = static_cast<PieceFile::Algorithm>(type);
    } else if (field.number() == 24) {
      out.marks = field.flag() ? PieceFile::Marks::behind : PieceFile::Marks::before;
    } else if (field.number() == 35) {
      out.byte_fallback = field.flag();
    } else if (field.number() == 46) {
      out.begin = read_text(field);
    } else if (field.number() == 47) {
      out.end = read_text(field);
    }
  }
}

void read_normalization(std::string_view bytes, const std::string& file, PieceFile& out) {
  ProtobufReader field(bytes, file + ":normalizer_spec");
  while (field.next()) {
    if (field.number() == 2) {
      out.character_map = field.bytes();
    } else if (field.number() == 3) {
      out.adds_mark = field.flag();
    } else if (field.number() == 4) {
      out.removes_extra_spaces = field.flag();
    } else if (field.number() == 5) {
      out.escapes_spaces = field.flag();
    }
  }
}

void refuse_denormalization(std::string_view bytes, const std::string& file) {
  ProtobufReader field(bytes, file + ":denormalizer_spec");
  while (field.next()) {
    if (field.number() == 2 && !field.bytes().empty()) {
      field.refuse("a character map for the way back", "it is not supported");
    }
  }
}

void check(PieceFile& out, const std::string& file) {
  std::set<std::string_view> seen;
  std::optional<std::size_t> unknown;
  std::size_t num_bytes = 0;
  for (std::size_t id = 0; id < out.pieces.size(); ++id) {
    const auto& piece = out.pieces[id];
    if (!seen.insert(piece.text).second) {
      base::refuse(file + ": piece " + base::json_quote(piece.text) + " is there twice", "a piece has one id");
    }
    if (piece.kind == Piece::Kind::user_defined && out.algorithm == PieceFile::Algorithm::unigram) {
      base::refuse(file + ": user-defined piece " + base::json_quote(piece.text),
                   "they are supported in bpe models only");
    }
    if (piece.kind == Piece::Kind::unknown) {
      if (unknown) {
        base::refuse(file + ": two unknown pieces, ids " + std::to_string(*unknown) + " and " + std::to_string(id),
                     "what cannot be spelled needs one id");
      }
      unknown = id;
    }
    num_bytes += piece.kind == Piece::Kind::byte ? 1 : 0;
  }
  base::refuse_if(!unknown, file + ": no unknown piece", "what cannot be spelled needs an id");
  out.unknown = *unknown;
  base::refuse_if(num_bytes != (out.byte_fallback ? 256U : 0U),
                  file + ": " + std::to_string(num_bytes) + " byte pieces",
                  out.byte_fallback ? "byte_fallback needs all 256" : "byte_fallback is off");
}

}  // namespace

std::vector<std::string> PieceFile::texts() const { return base::mapped(pieces, &Piece::text); }

PieceFile read_piece_file(std::string_view content, const std::string& file) {
  PieceFile out;
  ProtobufReader field(content, file);
  while (field.next()) {
    if (field.number() == 1) {
      if (out.pieces.size() == max_pieces) {
        field.refuse("more than " + std::to_string(max_pieces) + " pieces", "no vocabulary is that large");
      }
      out.pieces.push_back(read_piece(field.bytes(), file + ":pieces[" + std::to_string(out.pieces.size()) + "]"));
    } else if (field.number() == 2) {
      read_training(field.bytes(), file, out);
    } else if (field.number() == 3) {
      read_normalization(field.bytes(), file, out);
    } else if (field.number() == 5) {
      refuse_denormalization(field.bytes(), file);
    }
  }
  check(out, file);
  return out;
}

}  // namespace stereosweep::tokenizer
