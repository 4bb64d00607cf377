#include "findings/Names.hpp"

#include "base/text/Text.hpp"

namespace stereosweep::findings {

std::string normalised(std::string_view name) {
  std::string out;
  for (char c : base::lower_ascii(name)) {
    c = c == '-' || c == '_' || c == '\t' ? ' ' : c;
    if (c != ' ' || (!out.empty() && out.back() != ' ')) {
      out += c;
    }
  }
  return std::string(base::trim(out));
}

NameIndex::NameIndex(const std::vector<std::string>& labels) {
  for (std::size_t place = 0; place < labels.size(); ++place) {
    add(labels[place], place);
  }
}

void NameIndex::add(std::string_view name, std::size_t place) { places_.emplace(normalised(name), place); }

std::optional<std::size_t> NameIndex::find(std::string_view name) const {
  const auto found = places_.find(normalised(name));
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace stereosweep::findings
