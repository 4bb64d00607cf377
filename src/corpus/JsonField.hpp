// One string of a JSON line, without building the document: strict (RFC 8259), and as fast as the line is read.
#pragma once

#include <string>
#include <string_view>

namespace stereosweep::corpus {

enum class JsonLine {
  found,
  broken,    ///< no JSON, deeper than 64, invalid escapes, the field twice or with half a surrogate pair
  no_field,  ///< no object, without the field, or it is no string
};

class JsonField {
 public:
  /// `field`: a key of the outermost object, or the path to one in objects within it: "data.text".
  explicit JsonField(std::string field) : field_(std::move(field)) {}
  /// The field's text in valid UTF-8 is `value()` then, until the next call.
  JsonLine find(std::string_view line);
  std::string_view value() const { return value_; }

 private:
  std::string field_;
  std::string value_;
};

}  // namespace stereosweep::corpus
